"""The readings of a text that are searched: as it stands, folded, and with common disguises taken off.

A view knows how to trace a place in it back to the original text. Views of the whole text cost one pass each; the ones
that only make sense for some texts are made only when the text shows the disguise.

Folding leaves what a model would read: compatibility forms, accents, look-alikes and invisibles removed. Every
character is folded by itself, never together with its neighbours. That keeps the work linear, and lets a place in the
folded text be traced back to the original without storing a map as long as the text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from reverie.core.ids import lazy_pattern

_CHUNK = 256

# Letters drawn inside squares and circles have no compatibility mapping to the letter.
_ENCLOSED = {chr(first + n): chr(ord("a") + n) for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for n in range(26)}
_SMALL_CAPITALS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
_QUOTES = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "ß": "ss", "ı": "i", "ł": "l", "ø": "o"}


def _folded_char(char: str) -> str:
    # Default-ignorable characters: a renderer shows nothing for them, a tokenizer may still read them.
    code = ord(char)
    if unicodedata.category(char) == "Cf" or 0xE0000 <= code <= 0xE0FFF or 0xFE00 <= code <= 0xFE0F:
        return ""
    if char in "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0":
        return ""
    known = _QUOTES.get(char) or _SMALL_CAPITALS.get(char) or _ENCLOSED.get(char)
    if known:
        return known
    if unicodedata.category(char) == "Mn" and "\u0300" <= char <= "\u036f":
        return ""
    plain = unicodedata.normalize("NFKD", char)
    if plain[0].isascii():
        return "".join(part for part in plain if unicodedata.category(part) != "Mn").lower()
    return unicodedata.normalize("NFKC", char).lower()


class _Folds(dict[int, str]):
    """Folds are worked out once per distinct character; str.translate asks for the missing ones."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, code: int) -> str:
        self[code] = result = self._fold(chr(code))
        return result


@cache
def plain_folds() -> dict[int, str]:
    """Folds that keep each script as it is."""
    return _Folds(_folded_char)


@cache
def _lookalikes() -> dict[str, str]:
    """TR39: non-ASCII character -> the ASCII letter or digit it can be mistaken for."""
    from confusable_homoglyphs import confusables

    found: dict[str, str] = {}
    for char, alike in confusables.confusables_data.items():
        targets = [other["c"] for other in alike if len(other["c"]) == 1 and other["c"].isascii()]
        letters = [target for target in targets if target.isalpha()]
        if len(char) == 1 and not char.isascii() and letters:
            found[char] = letters[0].lower()
    return found


@cache
def skeleton_folds() -> dict[int, str]:
    """Folds that also turn look-alikes of other scripts into Latin letters."""

    def skeleton(char: str) -> str:
        folded = _folded_char(char)
        if len(folded) != 1 or folded.isascii():
            return folded
        return _lookalikes().get(char) or _lookalikes().get(folded) or folded

    return _Folds(skeleton)


class Tracer:
    """Places in a folded text -> places in the original, by folding again one chunk at a time."""

    def __init__(self, original: str, folds: dict[int, str]) -> None:
        self._original = original
        self._folds = folds
        self._starts: list[int] = []

    def __call__(self, place: int) -> int:
        if not self._starts:
            self._starts = [0]
            for start, _ in pairwise(range(0, len(self._original) + _CHUNK, _CHUNK)):
                width = len(self._original[start : start + _CHUNK].translate(self._folds))
                self._starts.append(self._starts[-1] + width)
        chunk = min(bisect_right(self._starts, place) - 1, max(0, len(self._starts) - 2))
        left = place - self._starts[chunk]
        start = chunk * _CHUNK
        for index in range(start, min(start + _CHUNK, len(self._original))):
            width = len(self._folds[ord(self._original[index])])
            if left < width:
                return index
            left -= width
        return min(start + _CHUNK, len(self._original))


@dataclass(frozen=True, slots=True)
class View:
    """`name` is None for the plain reading; `gapless` views are read by rules made for them."""

    text: str
    trace: Callable[[int], int] = lambda place: place
    name: str | None = None
    gapless: bool = False


_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_ATBASH = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")
_LEET = str.maketrans("01345789@$!+", "oieastbgasit")
_LEET_L = str.maketrans("01345789@$!+|", "oleastbgasitl")


_STEMS = (
    *("ignore", "disregard", "forget", "instruction", "previous", "prompt", "system", "always", "never ", "the user"),
    *("curl ", "https:", "password", "credential", "secret", "approve", "remember", "command", "whenever", "execute"),
    # These are in nearly every English sentence, and under a cipher in nearly none.
    *(" the ", " you ", " with ", " this ", " without ", " every "),
)


@cache
def _disguises() -> dict[str, re.Pattern[str]]:
    return {
        "gaps": re.compile(r"[\W_]++"),
        "breaks": re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\ufe00-\ufe0f]++|[\"']\\s?[+.]?\\s?[\"']"),
        "joints": re.compile(r"\\\r?\n[ \t]*|''|\"\"|\$\{?ifs\}?|[\"']\s?\+\s?[\"']"),
    }


def folded(text: str) -> View:
    """The plain reading. Padding at the end is no part of it, so that no rule can be talked out of a match by more."""
    if text.isascii():
        return View(text.lower().rstrip())
    return View(text.translate(plain_folds()).rstrip(), Tracer(text, plain_folds()))


class _CutTracer:
    """Places in a text with stretches cut out -> places before the cut. The cuts are listed at the first question."""

    def __init__(self, view: View, pattern: re.Pattern[str]) -> None:
        self._view = view
        self._pattern = pattern
        self._starts: list[int] = []
        self._origins: list[int] = []

    def __call__(self, place: int) -> int:
        if not self._starts:
            self._starts, self._origins, gone = [0], [0], 0
            for found in self._pattern.finditer(self._view.text):
                self._starts.append(found.start() - gone)
                self._origins.append(found.end())
                gone += found.end() - found.start()
        index = bisect_right(self._starts, place) - 1
        return self._view.trace(self._origins[index] + place - self._starts[index])


def _without(view: View, pattern: re.Pattern[str], name: str, *, gapless: bool = False) -> View:
    return View(pattern.sub("", view.text), _CutTracer(view, pattern), name, gapless)


def without_breaks(text: str) -> View:
    """The original letters, case and all, without what may have been put between them to break up an encoding."""
    breaks = _disguises()["breaks"]
    return _without(View(text), breaks, "joined text") if breaks.search(text) else View(text)


# Words that mix letters with the digits and signs that stand for letters.
_leet_words = lazy_pattern(r"(?<![\w@$!+|])(?=[\w@$!+|]{0,16}[a-z])(?=[a-z]{0,16}[013457@$!])[\w@$!+|]{3,24}")


# The stems under each cipher: looking for them in the text is cheaper than deciphering it first.
_CIPHERED_STEMS = {
    "reversed": tuple(stem[::-1] for stem in _STEMS),
    "rot13": tuple(stem.translate(_ROT13) for stem in _STEMS),
    "atbash": tuple(stem.translate(_ATBASH) for stem in _STEMS),
}


def whole_views(original: str) -> Iterator[View]:
    """Every reading of the whole text that says something; the plain one first."""
    plain = folded(original)
    yield plain
    best = plain
    if not plain.text.isascii():  # look-alikes of other scripts read as Latin, where that changes anything
        text = original.translate(skeleton_folds()).rstrip()
        if text != plain.text:
            best = View(text, Tracer(original, skeleton_folds()), "look-alike letters")
            yield best
    joints = _disguises()["joints"]
    if joints.search(best.text):
        yield _without(best, joints, "joined lines")
    for cipher, stems in _CIPHERED_STEMS.items():
        if not any(stem in best.text for stem in stems):
            continue
        if cipher == "reversed":
            yield View(best.text[::-1], lambda place: best.trace(max(0, len(best.text) - place - 1)), cipher)
        else:
            yield View(best.text.translate(_ROT13 if cipher == "rot13" else _ATBASH), best.trace, cipher)
    words = " ".join(_leet_words().findall(best.text))
    for table in (_LEET, _LEET_L) if words else ():
        disguised = words.translate(table)
        if any(stem in disguised for stem in _STEMS):  # in most texts it is gibberish and not worth searching
            yield View(best.text.translate(table), best.trace, "leetspeak")
    yield _without(best, _disguises()["gaps"], "split words", gapless=True)
