"""Words as the checks compare them: stems, values, negations, clauses."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from reverie.dreams.light.dates import WEEKDAYS
from reverie.dreams.light.language_detection import LANGUAGES, small_words_of
from reverie.text.embedding import embed
from reverie.text.function_words import FUNCTION_WORDS
from reverie.text.tokens import tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s`'\"<>|;,)]+|[\w.+-]+@[\w-]+\.[\w.-]*\w|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"
    r"|(?<![\w.])(?:~|\.{1,2})?/[\w.@~-]+(?:/[\w.@~*-]*)*|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}:\d+\b"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|de|at|ch|eu|uk|fr|es|it|pt|nl|se|no|pl|internal|local|example|test)\b"
    r"(?:/[^\s`'\"<>|;,)]*)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]+)`")
_LATIN = "A-Za-zÀ-ɏ"
_NUMBER = re.compile(  # also "ocn207" and "8N1", as one
    rf"(?<![{_LATIN}0-9])[{_LATIN}]*\d[{_LATIN}0-9]*(?:[.,:/-]\d[{_LATIN}0-9]*)*°?"
)
_CAPITAL = re.compile(r"(?<![\w'’-])[^\W\d_a-zß-öø-ÿ][\w'’-]*")
_DAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^[\"“„«(]?|[.!?:;…]\s+[\"“„«(]?|-\s)$")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_WITH_UNIT = re.compile(r"(\d+(?:[.,:/h-]\d+)*)([a-zµ°]{1,3})")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ROOT = 5  # letters


@cache
def _table() -> dict[str, str]:
    return tomllib.loads((files("reverie.dreams.verify") / "words.toml").read_text("utf-8"))


@cache
def words(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@cache
def pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(line for line in _table()[name].strip("\n").splitlines() if line), re.IGNORECASE)


@cache
def _small() -> frozenset[str]:
    every = [word for table in FUNCTION_WORDS.values() for word in table]
    return frozenset(every).union(*(small_words_of(code) for code in LANGUAGES))


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """What a text is about: its words without the small ones, as the index stems them."""
    return frozenset(tokens(" ".join(word for word in _WORD.findall(text) if word.lower() not in _small())))


@lru_cache(maxsize=16_384)
def shared(one: str, other: str) -> frozenset[str]:
    """The stems of the first text that the second speaks of, too: also with another ending, as in "Başak'la"."""
    there, roots = stems(other), _roots(other)
    near = (stem for stem in stems(one) - there if any(_same_root(stem, each) for each in roots.get(stem[:_ROOT], ())))
    return stems(one) & there | frozenset(near)


@lru_cache(maxsize=16_384)
def _roots(text: str) -> dict[str, list[str]]:
    """The stems of a text by how they begin: only such can have the same root."""
    found: dict[str, list[str]] = {}
    for stem in stems(text):
        if len(stem) >= _ROOT:
            found.setdefault(stem[:_ROOT], []).append(stem)
    return found


def _same_root(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    root = max(_ROOT, round(len(longer) * 0.65))
    return len(shorter) >= root and shorter[:root] == longer[:root]


def likeness(one: str, other: str) -> float:
    """How much two texts are about the same: the words they share, and how near they are in meaning."""
    first, second = stems(one), stems(other)
    shared = len(first & second) / max(1, min(len(first), len(second)))
    return shared + max(0.0, float(_vector(one) @ _vector(other)))


@lru_cache(maxsize=4096)
def _vector(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = embed([text])[0]
    return vector


def plain(text: str) -> str:
    return text.lower().replace("’", "'")


def bare(text: str) -> str:
    """What two texts have in common that say the same word for word."""
    return " ".join(plain(text).split()).strip(" .")


@lru_cache(maxsize=16_384)
def negated(text: str) -> bool:
    said = plain(text)
    return any(word in words("negation") for word in _WORD.findall(said)) or bool(
        pattern("negation_inside").search(said)
    )


def addresses(text: str) -> list[str]:
    """What can be called, written to or opened: links, hosts, mail addresses, paths."""
    return [found.rstrip(".,:") for found in _ADDRESS.findall(text)]


def commands(text: str) -> list[str]:
    """What stands in backticks."""
    return [found.strip() for found in _CODE.findall(text)]


def numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def names(text: str) -> list[str]:
    """Words with a capital that no beginning of a sentence explains."""
    capitals = (found for found in _CAPITAL.finditer(text) if found[0][0].isupper())
    return [found[0] for found in capitals if not _BEGINS.search(text[: found.start()])]


@lru_cache(maxsize=4_096)
def values(text: str) -> tuple[str, ...]:
    """Everything in a text that can be looked up or got wrong."""
    bare = text
    found = [*addresses(bare), *commands(bare)]
    for one in found:
        bare = bare.replace(one, " ")
    days = _DAY.findall(bare)
    return (*found, *numbers(bare), *days, *(one for one in names(bare) if one not in days))


def stands_in(value: str, text: str) -> bool:
    """Whether a value stands in a text: a number as a whole, a word also with another ending."""
    said, wanted = plain(text), plain(value)
    if found := _WITH_UNIT.fullmatch(wanted):  # "30g" is "30 g"
        return (
            found[1] in said
            and re.search(rf"(?<![a-z\d.,:]){re.escape(found[1])}\s?{re.escape(found[2])}(?![a-z\d])", said) is not None
        )
    if wanted.isdecimal():
        return wanted in said and re.search(rf"(?<![a-z\d.,:]){wanted}(?!\d|[.,:]\d)", said) is not None
    if not wanted[0].isalnum() or any(sign.isdigit() for sign in wanted) or len(wanted) < 4 or _CJK.search(wanted):
        return wanted in said and (
            _CJK.search(wanted) is not None or re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w])", said) is not None
        )
    return any(_same_word(wanted, word) for word in _WORD.findall(said)) or wanted in said


def _same_word(one: str, other: str) -> bool:
    """The same but for an ending of up to three letters."""
    shorter, longer = sorted((one, other), key=len)
    root = max(3, len(shorter) - 2)
    return longer.startswith(shorter[:root]) and len(longer) - root <= 4


def missing(wanted: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Those that stand in none of the sources, which are read as far as it takes."""
    left = list(wanted)
    for source in sources if left else ():
        left = [one for one in left if not stands_in(one, source)]
        if not left:
            break
    return left


def shape_of(value: str) -> str:
    """Values of one shape can stand in each other's place: an address for an address, a number for a number."""
    if _ADDRESS.fullmatch(value):
        return "address"
    if _DAY.fullmatch(value):
        return "day"
    return "number" if value[0].isdigit() else "name"


def says_always(text: str) -> bool:
    said = plain(text)
    return any(word in words("always") for word in _WORD.findall(said)) or any(
        one in said for one in words("always") if _CJK.search(one)
    )


def contrasts(text: str) -> bool:
    """Whether it says that something is not so, is over, or comes in the place of something else."""
    return ceases(text) or any(word in words("contrast") for word in _WORD.findall(plain(text)))


def ceases(text: str) -> bool:
    """Whether it speaks of something that ended: with a verb of ceasing, or a "not"."""
    said = plain(text)
    begun = tuple(words("ceasing"))
    return (
        negated(text)
        or any(word.startswith(begun) for word in _WORD.findall(said))
        or any(one in said for one in begun if _CJK.search(one))
    )


def clauses(text: str) -> list[str]:
    """The clauses of an entry, none of them shorter than three words: adjectives in a row are one."""
    found = list[str]()
    for part in (one.strip() for one in pattern("clause").split(text) if one and one.strip()):
        short = len(part.split()) < 3 and not _CJK.search(part)
        if found and (short or (len(found[-1].split()) < 3 and not _CJK.search(found[-1]))):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found
