"""Words as curators and checks compare them: stems, values, negations, clauses. The lists are in `words.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from reverie.dreams.light.language import LANGUAGES, WEEKDAYS, small_words_of
from reverie.text.tokens import FUNCTION_WORDS, tokens

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
_CLAUSE = re.compile(  # where one ends and another begins
    r"[;.!?。！？]\s+|,\s+(?=\S+\s+\S+\s+\S+)|\s+[–—]\s+"
    r"|\s(?:and|but|or|und|aber|oder|y|pero|et|mais|ou|e|ma|mas|en|maar|och|men|og|i|ale|ve|ama)\s"
)
_ACCENT = re.compile("[\u0300-\u036f]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A list of `words.toml`: words as wholes, `stop*` and `*n't` with any letters there; what is written without
    spaces between words, and signs, anywhere."""
    table = tomllib.loads((files("reverie.dreams") / "words.toml").read_text("utf-8"))
    whole, anywhere = list[str](), list[str]()
    for word in str(table[name]).split():
        apart = word.strip("*")[0].isalnum() and not _CJK.search(word)
        (whole if apart else anywhere).append(re.escape(word).replace(r"\*", r"\w*").replace("_", r"\W+"))
    listed = [rf"(?<![\w-])(?:{'|'.join(whole)})(?![\w'-])"] if whole else []
    return re.compile("|".join([*listed, *anywhere]), re.IGNORECASE)


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
    there = stems(other)
    return frozenset(stem for stem in stems(one) if stem in there or any(_is_alike(stem, each) for each in there))


def _is_alike(one: str, other: str) -> bool:
    """The same but for its ending."""
    if one[:4] != other[:4]:
        return False
    shorter, longer = sorted((one, other), key=len)
    root = max(4, round(len(longer) * 0.65))
    return len(shorter) >= root and shorter[:root] == longer[:root]


def enough_to_name(entry: str) -> int:
    """In how many of its words an entry is named: two, or one of few."""
    return min(2, max(1, len(stems(entry)) // 2))


def leans_on(text: str) -> str:
    """The word at its beginning that speaks of what was said before it, if one does."""
    found = pattern("leaning").match(plain(text).strip()) or pattern("pronouns").match(plain(text).strip())
    return found[0] if found else ""


def plain(text: str) -> str:
    return text.lower().replace("’", "'")


@lru_cache(maxsize=4_096)
def _unaccented(text: str) -> str:
    """People leave accents out when they are in a hurry: "antunez" is "Antúnez"."""
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))


def bare(text: str) -> str:
    """What two texts have in common that say the same word for word."""
    return " ".join(plain(text).split()).strip(" .")


@lru_cache(maxsize=16_384)
def says(name: str, text: str) -> bool:
    """Whether a word of that list stands in the text."""
    return pattern(name).search(plain(text)) is not None


def negated(text: str) -> bool:
    return says("negation", text)


def ceases(text: str) -> bool:
    """Whether it says that something is not so, or is over."""
    return says("negation", text) or says("ceasing", text)


def addresses(text: str) -> list[str]:
    """What can be called, written to or opened: links, hosts, mail addresses, paths."""
    return [found.rstrip(".,:") for found in _ADDRESS.findall(text)]


def commands(text: str) -> list[str]:
    """What stands in backticks."""
    return [found.strip() for found in _CODE.findall(text)]


def names(text: str) -> list[str]:
    """Words with a capital that no beginning of a sentence explains."""
    capitals = (found for found in _CAPITAL.finditer(text) if found[0][0].isupper())
    return [found[0] for found in capitals if not _BEGINS.search(text[: found.start()])]


@lru_cache(maxsize=4_096)
def values(text: str) -> tuple[str, ...]:
    """Everything in a text that can be looked up or got wrong."""
    found = [*addresses(text), *commands(text)]
    for one in found:
        text = text.replace(one, " ")
    days = _DAY.findall(text)
    return (*found, *_NUMBER.findall(text), *days, *(one for one in names(text) if one not in days))


def stands_in(value: str, text: str) -> bool:
    """Whether a value stands in a text: a number as a whole ("30g" as "30 g", too), a word also with another ending."""
    said, wanted = _unaccented(plain(text)), _unaccented(plain(value))
    if _CJK.search(wanted):
        return wanted in said
    if len(wanted) > 3 and wanted[0].isalnum() and not any(sign.isdigit() for sign in wanted):
        return wanted in said or any(_is_alike(wanted, word) for word in _WORD.findall(said))
    if wanted not in said and not wanted[-1].isalpha():
        return False
    spaced = re.sub(r"(?<=\d)(?=[a-zµ°])", r"\\s?", re.escape(wanted))
    ends = r"(?![.,:]?\d)" if wanted[-1].isdigit() else r"(?!\w)"
    return re.search(rf"(?<![a-z\d_.])(?<!\d[,:]){spaced}{ends}", said) is not None


def missing(wanted: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Those that stand in none of the sources, which are read as far as it takes."""
    left = list(wanted)
    for source in sources if left else ():
        left = [one for one in left if not stands_in(one, source)]
        if not left:
            break
    return left


def counted(number: str, text: str) -> str:
    """The word or sign right behind a number, if it tells something: "days", "%"."""
    found = re.search(rf"(?<![\w.,:]){re.escape(number)}\s?([%€$£°]|[^\W\d_]+)", text)
    return found[1] if found and found[1].lower() not in _small() else ""


def behind(value: str, text: str) -> list[str]:
    """The words right behind a value that tell what it belongs to, two at most: "mm" and "Dobsonian"."""
    found = re.search(rf"(?<![\w.,:]){re.escape(value)}((?:\s[^\W\d_]+){{1,2}})", text)
    words = found[1].split() if found else []
    return words[: next((place for place, word in enumerate(words) if word.lower() in _small()), len(words))]


def shape_of(value: str) -> str:
    """Values of one shape can stand in each other's place: an address for an address, a number for a number."""
    if _ADDRESS.fullmatch(value):
        return "address"
    if _DAY.fullmatch(value):
        return "day"
    return "number" if value[0].isdigit() else "name"


def clauses(text: str) -> list[str]:
    """The clauses of an entry, none of them shorter than three words: adjectives in a row are one."""
    found = list[str]()
    for part in (one.strip() for one in _CLAUSE.split(text) if one.strip()):
        if found and not _CJK.search(part) and min(len(part.split()), len(found[-1].split())) < 3:
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found
