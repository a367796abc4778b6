"""How likely it is that one statement says no more and no less than another: only its words are different.

A weighted sum of named numbers (`rewording.json`, fitted by benchmarks/training/fit_rewording.py): what the network
that relates statements says, read either way, and how the words moved. A changed value leaves the rest of a sentence
alone; a rewording touches the sentence everywhere and leaves values, names and denials alone. Nothing is asked of a
model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, log

from reverie.bridge.compare.numerals import in_digits
from reverie.dreams.light.language_detection import detect_language as spoken_in
from reverie.text.embedding import embed
from reverie.text.relation import RelationKind, chances_of, conflict_in, log_odds
from reverie.text.wording.number_words import spelled
from reverie.text.wording.small_words import NEGATORS
from reverie.text.wording.values import Value, exchanged, find_values
from reverie.text.wording.words import carries_meaning, language_of, raw_words, stem

FOR = frozenset({"likeness", "same", "same_too"})  # all else can only speak against it
_NAME = re.compile(r"(?<!^)(?<![.!?:]\s)\b[^\W\d_a-z]\w+")
_NO_MORE, _NO_LESS = re.compile(r"\bnot? more than\b"), re.compile(r"\bno(?:t less| less| fewer) than\b")
_PART = re.compile(r"[^\W_]+")
_CODE = re.compile(r"\d|_|^-{1,2}\w|^[~.]?/\w|\w[./:\\@]\w|\w\(\)|[{}<>=$#]")
NAME = "name"  # the dimension of what is no amount: a path, a host, an option
OPEN = 0.5  # neither a rewording for sure, nor a change for sure
TRANSLATED = 0.6  # of two languages, with no value that differs
ADDED = 3  # words behind which something was said that was not said before
SURE_CONFLICT = 0.75
LONGEST = 600  # characters of a statement that are compared


@lru_cache(maxsize=16_384)
def only_reworded(old: str, new: str) -> float:
    """0..1."""
    mine, theirs = _told(old), _told(new)
    plain, plain_too = (sorted(word for word in words if word not in NEGATORS) for words in (mine, theirs))
    if plain == plain_too and denies(_read(old)) != denies(_read(new)):
        return 0.0
    if mine == theirs:
        return 1.0
    if _exact(old, new):
        return 0.0
    if not set(mine) & set(theirs) and _translated(old, new):
        return TRANSLATED
    features, weights = rewording_features(old, new), _weights()
    odds = weights["bias"] + sum(weights[name] * value for name, value in features.items())
    chance = 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
    # what denies, or says more, than the other side is never folded away
    return min(chance, OPEN) if features["more"] >= ADDED or features["denied"] else chance


def _translated(old: str, new: str) -> bool:
    """Whether they are surely in two languages: their words say nothing then."""
    spoken = {spoken_in(one, "") for one in (old, new)}
    return len(spoken) == 2 and "" not in spoken


@lru_cache(maxsize=16_384)
def _read(text: str) -> str:
    """As it is compared: numbers in digits, and "no more than" as the bound it is, not as a denial."""
    return _NO_MORE.sub("at most", _NO_LESS.sub("at least", in_digits(text)))


def _told(text: str) -> list[str]:
    """What a sentence says, in order: without articles and punctuation, each word by its stem."""
    plain = _read(text)
    language = language_of(plain)
    words = (one.strip(".,;:!?()[]*_") for one in plain.split())
    return [
        stem(word, language) if word.isalpha() else word
        for word in words
        if word and (not word.isalpha() or carries_meaning(word) or word in NEGATORS)
    ]


def _exact(old: str, new: str) -> bool:
    """Whether a value became another one, or a number, a path, an option or a name of code stands on one side only. An
    amount, a date or a time can be written in many ways: those are compared as values."""
    before, after = (spelled(_read(one)[:LONGEST]) for one in (old, new))
    mine, theirs = ([one for one in find_values(text) if one.dimension != NAME] for text in (before, after))
    if exchanged(mine, theirs):
        return True
    code, code_too = _code(before, mine), _code(after, theirs)
    return not _same_code(code - code_too, code_too - code, before, after)


def _code(text: str, values: Sequence[Value]) -> frozenset[str]:
    counted = {part for one in values for part in one.shown.split()}
    words = {word.strip(",;:!?()[]{}*'…–—").rstrip(".") for word in text.split()}
    return frozenset(word for word in words if _CODE.search(word) and word not in counted)


def _same_code(mine: frozenset[str], theirs: frozenset[str], old: str, new: str) -> bool:
    """The same name in another spelling (`resnet50`, "ResNet-50"), or its parts among the words of the other side."""
    if len(mine) == len(theirs):
        return sorted("".join(_PART.findall(one)) for one in mine) == sorted(
            "".join(_PART.findall(one)) for one in theirs
        )
    parts = [
        ({part for one in words for part in _PART.findall(one)}, set(_PART.findall(text)))
        for words, text in ((mine, new), (theirs, old))
    ]
    return all(some <= every for some, every in parts)


@cache
def _weights() -> dict[str, float]:
    stored = json.loads(files("reverie.bridge.compare").joinpath("rewording.json").read_text("utf-8"))
    return {str(name): float(weight) for name, weight in stored["weights"].items()}


def rewording_features(old: str, new: str) -> dict[str, float]:
    before, after = _read(old)[:LONGEST], _read(new)[:LONGEST]
    there, back = chances_of(old[:LONGEST], new[:LONGEST]), chances_of(new[:LONGEST], old[:LONGEST])
    vectors = embed([before, after])
    odds = [log_odds(one.get(RelationKind.SAME, 0.0)) for one in (there, back)]
    return {
        "likeness": float(vectors[0] @ vectors[1]),
        "same": max(odds),
        "same_too": min(odds),
        "unrelated": max(one.get(RelationKind.UNRELATED, 0.0) for one in (there, back)),
        "conflict": max(conflict_in(one) for one in (there, back)),
        **_shape(before, after),
        **_names(old, new, before, after),
    }


def _shape(before: str, after: str) -> dict[str, float]:
    """How the words moved: one exchanged and the rest as it was, two that changed places, or all of them."""
    old, new = (one.replace(",", " ").replace(";", " ").rstrip(".!").split() for one in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    edits = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    kind, start, end, start_too, end_too = edits[0] if edits else ("equal", 0, 0, 0, 0)
    exchanged = len(edits) == 1 and kind == "replace" and max(end - start, end_too - start_too) <= 2
    exchanged = exchanged and any(map(carries_meaning, (*old[start:end], *new[start_too:end_too])))
    plain_old, plain_new = raw_words(before), raw_words(after)
    moved = [one != other for one, other in zip(plain_old, plain_new, strict=False)].count(True)
    return {
        "ratio": matcher.ratio(),
        "more": _only_more(old, new, edits),
        "exchanged": float(exchanged),
        "swapped": float(sorted(plain_old) == sorted(plain_new) and moved == 2),
        "denied": float(denies(before) != denies(after)),
        "length": abs(log((1 + len(new)) / (1 + len(old)))),
    }


def denies(text: str) -> bool:
    """By an odd number of words. "ne" is half of one, and counts where the other half means more than "not"."""
    words = raw_words(text)
    count = sum(word in NEGATORS for word in words)
    return count % 2 == 1 or (not count and "ne" in words)


def _only_more(old: Sequence[str], new: Sequence[str], edits: Sequence[tuple[str, int, int, int, int]]) -> float:
    """How many words were put in, where nothing was taken out; or the other way round."""
    if {code[0] for code in edits} not in ({"insert"}, {"delete"}):
        return 0.0
    return min(4.0, float(abs(len(old) - len(new))))


def _names(old: str, new: str, before: str, after: str) -> dict[str, float]:
    """Names, told by their capitals, that stand on one side only."""
    words, words_too = set(raw_words(before)), set(raw_words(after))
    mine, theirs = ({one.casefold() for one in _NAME.findall(text)} for text in (old, new))
    return {
        "old_names": float(min(len(mine - words_too), 2)),
        "new_names": float(min(len(theirs - words), 2)),
    }
