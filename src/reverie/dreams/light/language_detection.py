"""Which language a text is in, by its script and its function words."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from importlib import resources

from reverie.text.tokens import FUNCTION_WORDS

LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "zh", "ja", "sv", "no", "da", "pl", "cs", "tr")
UNKNOWN = "und"
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\uac00-\ud7af]")  # Greek to Khmer, Hangul: no function words of theirs here
_LETTERS = {"pl": "ąęłśźżćń", "cs": "řěůďť", "tr": "ğış", "no": "øæ"}  # that only these languages write
_SAMPLE = 2_000


def detect_language(text: str, otherwise: str = "en") -> str:
    """By script, then by function words. Too few words to tell: `otherwise`, what the session speaks."""
    sample = text[:_SAMPLE]
    if _KANA.search(sample):
        return "ja"
    if _HAN.search(sample):
        return "zh"
    if len(_OTHER_SCRIPT.findall(sample)) * 2 > len(_WORD.findall(sample)):
        return UNKNOWN
    words = _WORD.findall(lowered(sample))
    hits = Counter(code for word in words for code in _spoken_in().get(word.replace("'", ""), ()))
    hits.update(code for word in words for code, letters in _LETTERS.items() if not set(letters).isdisjoint(word))
    unread = hits.pop("unread", 0)
    if not hits:
        return otherwise
    most = max(hits.values())
    if unread >= max(2, most):
        return UNKNOWN
    best = [code for code in LANGUAGES if hits[code] == most]
    return otherwise if otherwise in best else best[0]


def speaks_of_self(text: str, language: str) -> bool:
    """Whether it says “I” or “my” in that language."""
    said = lowered(text)
    own = _table()["first_person"].get(language, "").split()
    if language in ("zh", "ja"):
        return any(word in said for word in own)
    return any(word in own or f"{word.split(chr(39))[0]}'" in own for word in _WORD.findall(said))


def lowered(text: str) -> str:
    """Lower case with straight apostrophes."""
    return text.replace("İ", "i").lower().replace("’", "'").replace("ʼ", "'")


@cache
def small_words_of(code: str) -> frozenset[str]:
    """The function words of a language; nothing for one without."""
    return FUNCTION_WORDS.get(code, frozenset()) | frozenset(_table()["words"].get(code, "").split())


@cache
def _spoken_in() -> dict[str, tuple[str, ...]]:
    spoken: dict[str, tuple[str, ...]] = {}
    for code in (*LANGUAGES, "unread"):
        for word in small_words_of(code):
            spoken[word] = (*spoken.get(word, ()), code)
    return spoken


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files("reverie.dreams.light").joinpath("languages.toml").read_text("utf-8"))
