"""Languages: which one a text is in, and its cues, compiled when first needed."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from reverie.light.marks import Mark

LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "zh", "ja", "sv", "no", "da", "pl", "cs", "tr")
UNKNOWN = "und"
_REFERENCE = re.compile(r"\{([a-z_]+)\}")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\uac00-\ud7af]")  # Greek to Khmer, Hangul: nothing here reads them
_LETTERS = {
    code: frozenset(letters) for code, letters in (("pl", "ąęłśźżćń"), ("cs", "řěůďť"), ("tr", "ğış"), ("no", "øæ"))
}
_SAMPLE = 2_000
_CLEARLY = 3


@dataclass(frozen=True, slots=True)
class Tongue:
    """The cues of one language, and the words that wording needs to change."""

    code: str
    cues: Mapping[Mark, re.Pattern[str]]
    wording: Mapping[str, str]

    def bears(self, mark: Mark, words: str) -> bool:
        return mark in self.cues and self.cues[mark].search(words) is not None

    def marks(self, words: str) -> dict[Mark, re.Match[str]]:
        return {mark: found for mark, cue in self.cues.items() if (found := cue.search(words))}


@cache
def tongue(code: str) -> Tongue | None:
    if code not in LANGUAGES:
        return None
    table = _table(code)
    cues = {Mark[name.upper()]: _pattern(text, table.get("fragments", {})) for name, text in table["marks"].items()}
    return Tongue(code, cues, table.get("wording", {}))


def language_of(text: str, otherwise: str = "en") -> str:
    """By script, then by function words. Too few words to tell: `otherwise`, what the session speaks."""
    sample = text[:_SAMPLE]
    if _KANA.search(sample):
        return "ja"
    if _HAN.search(sample):
        return "zh"
    if len(_OTHER_SCRIPT.findall(sample)) * 2 > len(_WORD.findall(sample)):
        return UNKNOWN
    words = _WORD.findall(plain(sample))
    hits = _hits(words)
    if not hits:
        return otherwise
    most = max(hits.values())
    if sum(word in _unread() for word in words) >= max(2, most):
        return UNKNOWN
    best = [code for code in LANGUAGES if hits[code] == most]
    return otherwise if otherwise in best else best[0]


def _hits(words: Sequence[str]) -> Counter[str]:
    """How many words speak for each language: its function words, and those with letters only it writes."""
    hits = Counter(code for word in words for code in _spoken_in().get(word, ()))
    hits.update(code for word in words for code, letters in _LETTERS.items() if not letters.isdisjoint(word))
    return hits


def clearly(text: str, otherwise: str) -> str:
    """The language of one sentence among others, where its words leave no doubt; else what the others speak."""
    hits = _hits(_WORD.findall(plain(text[:_SAMPLE])))
    best = max(LANGUAGES, key=lambda code: hits[code])
    return best if hits[best] >= _CLEARLY + 2 * hits[otherwise] else otherwise


def plain(text: str) -> str:
    """Lower case with straight apostrophes, as the cues are written."""
    return text.replace("İ", "i").lower().replace("’", "'").replace("ʼ", "'")


@cache
def _unread() -> frozenset[str]:
    """Function words of tongues that nothing here reads and that share few with those above: Finnish, Hungarian,
    Romanian."""
    return frozenset(resources.files("reverie.light.cues").joinpath("unread.txt").read_text("utf-8").split())


@cache
def small_words_of(code: str) -> frozenset[str]:
    """The function words of a language; nothing for one without."""
    return frozenset(str(_table(code).get("function_words", "")).split()) if code in LANGUAGES else frozenset()


@cache
def _spoken_in() -> dict[str, tuple[str, ...]]:
    spoken: dict[str, tuple[str, ...]] = {}
    for code in LANGUAGES:
        for word in str(_table(code).get("function_words", "")).split():
            spoken[word] = (*spoken.get(word, ()), code)
    return spoken


@cache
def _table(code: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files("reverie.light.cues").joinpath(f"{code}.toml").read_text("utf-8"))


def _pattern(text: str, fragments: Mapping[str, str]) -> re.Pattern[str]:
    """One expression, its alternatives sorted so that the engine can pass over most places of a text quickly."""
    lines = "|".join(line.strip() for line in text.strip().splitlines())
    every = _alternatives(_REFERENCE.sub(lambda found: fragments[found[1]], lines))
    at_words = [one.removeprefix(r"\b") for one in every if one.startswith(r"\b")]
    others = [one for one in every if not one.startswith(r"\b")]
    return re.compile("|".join([rf"\b(?:{'|'.join(at_words)})"] * bool(at_words) + others))


def _alternatives(expression: str) -> list[str]:
    """Split at each `|` that stands in no group and no set."""
    found, start, depth, place = [], 0, 0, 0
    in_set = False
    while place < len(expression):
        sign = expression[place]
        if sign == "\\":
            place += 1
        elif in_set:
            in_set = sign != "]"
        elif sign == "[":
            in_set = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            found.append(expression[start:place])
            start = place + 1
        place += 1
    return [*found, expression[start:]]
