"""What a statement is about: its words that carry meaning, as stems, and how much two statements share of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from reverie.deep.vocabulary import long_forms, plain, small_words
from reverie.language.embedding import embed
from reverie.language.tokens import STEMMED, tokens_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_][\w'’-]*(?:[./:@][\w-]+)*|[\u3040-\u30ff\u4e00-\u9fff]+", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+")
_PIECES = re.compile(r"[^\W_]+")
_PARTICIPLE = re.compile(r"^ge(\w{3,}?)t$")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)+")
_NETWORK = re.compile(r"^\d+\.\d+(?=(?:\.\d+){2})")
_SUFFIXED = re.compile(
    r"^([a-z]{4,}(?=(?:db|mq|js|ci)$)|\w{3,}(?:dag|tag|woch)(?=(?:avond|ochtend|morgen|middag|nacht|abend|mittag|vormittag"
    r"|nachmittag)$))"
)
_LIGHT = frozenset("我你他她的了是在有和就都也吗呢吧很们这那个はがをにのでもとです")
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")  # two things that happened on one day have nothing else in common
ALIKE_BY_MEANING = 0.62
# The median nearness of two sentences about different things, of some hundred conversations.
_BY_LETTERS = {
    "de": 0.22, "fr": 0.22, "sv": 0.25, "no": 0.25, "da": 0.25, "es": 0.27, "pt": 0.29, "it": 0.3, "nl": 0.3,
    "pl": 0.47, "cs": 0.47, "tr": 0.47, "zh": 0.6, "ja": 0.6,
}  # fmt: skip
_TOGETHER = 256  # texts multiplied at once: many times as fast as one by one
REMEMBERED = 32_768  # texts: more than the largest night compares, so that none is read twice for want of room


@lru_cache(maxsize=REMEMBERED)
def about(text: str, language: str = "en") -> frozenset[str]:
    """The stems a text is about. Identifiers count whole and in parts; scripts without spaces in pairs."""
    found: set[str] = set()
    for run in _CJK.findall(text):
        found |= {run[at : at + 2] for at in range(len(run) - 1) if not set(run[at : at + 2]) <= _LIGHT}
    words = [word for word in _WORD.findall(_CJK.sub(" ", plain(text))) if word not in small_words(language)]
    for word in words:
        # "17.4" and "10.0.4.17" have nothing in common, "10.0.4.17" and "10.0.9.3" a network
        parts = [word, *_NETWORK.findall(word)] if _NUMBER.fullmatch(word) else _PIECES.findall(word)
        pieces = [piece for piece in parts if len(piece) > 1 or piece.isdigit()]
        pieces += [part for part in word.split("/") if "/" in word and "-" in part]  # "kiln-a" in "/srv/kiln-a/logs"
        pieces += _SUFFIXED.findall(word)  # "influx" in "InfluxDB", "woensdag" in "woensdagavond"
        found.update(_stems([*pieces, word] if len(pieces) > 1 else pieces, language))
    return frozenset(found)


def first(text: str, language: str = "en") -> str:
    """The first stem a text is about, which is mostly its subject."""
    for word in _WORD.findall(plain(text)):
        if found := sorted(about(word, language)):
            return found[0]
    return ""


def _stems(words: list[str], language: str) -> list[str]:
    known = [long_forms().get(word, word) for word in words if word not in small_words(language)]
    stems = [stem for stem in tokens_of(known, language if language in STEMMED else "en") if stem]
    return [_PARTICIPLE.sub(r"\1", stem) for stem in stems] if language in ("de", "nl") else stems


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the smaller subject the other one speaks of."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def nearness(one: str, other: str) -> float:
    """The cosine of two texts, never below zero."""
    return max(0.0, float(_vector(one) @ _vector(other)))


@lru_cache(maxsize=REMEMBERED)
def _vector(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = embed([text])[0]
    return vector


def near_ones(texts: Sequence[str]) -> list[frozenset[int]]:
    """For each text the places of those before it that are near enough in meaning to be about the same."""
    import numpy as np

    vectors, found = embed(texts), list[frozenset[int]]()
    for start in range(0, len(texts), _TOGETHER):
        some = vectors[start : start + _TOGETHER]
        alike = some @ vectors[: start + len(some)].T >= ALIKE_BY_MEANING
        found += [frozenset(np.flatnonzero(row[: start + place]).tolist()) for place, row in enumerate(alike)]
    return found


def same_matter(one: str, other: str, language: str) -> float:
    """0..1: how surely two statements are about the same thing. 0.5 is where they are more likely than not."""
    first, second = _undated(one, language), _undated(other, language)
    common = first & second
    near = _beyond_the_tongue(nearness(one, other), language)
    if not common:
        return 0.5 if near >= ALIKE_BY_MEANING else 0.0
    exact = sum(_NUMBER.fullmatch(stem) is not None for stem in common)  # one and the same hour says more than a word
    much = min(1.0, shared(first, second) * (1 + exact / len(common)))
    words = much * min(1.0, 0.55 + 0.25 * (len(common) + exact))
    return min(1.0, 0.62 * words + 0.55 * near)


def _beyond_the_tongue(near: float, language: str) -> float:
    """The vectors were made of English: two texts in another language are near by their letters alone."""
    by_letters = _BY_LETTERS.get(language, 0.0)
    return max(0.0, (near - by_letters) / (1 - by_letters))


@lru_cache(maxsize=REMEMBERED)
def _undated(text: str, language: str) -> frozenset[str]:
    return about(_DAY.sub(" ", text), language)


def distinctive(known: Iterable[frozenset[str]]) -> dict[str, int]:
    """In how many statements each stem stands: one that stands in one only points to it."""
    counts: dict[str, int] = {}
    for stems in known:
        for stem in stems:
            counts[stem] = counts.get(stem, 0) + 1
    return counts
