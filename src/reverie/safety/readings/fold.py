"""Fold a text to what a model would read in it: compatibility forms, accents, look-alikes and invisibles removed.

Every character is folded by itself, never together with its neighbours. That keeps the work linear, and lets a place
in the folded text be traced back to the original without storing a map as long as the text.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import pairwise

_CHUNK = 256

# Letters drawn inside squares and circles have no compatibility mapping to the letter.
_ENCLOSED = ((0x1F130, 26), (0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
_SMALL_CAPITALS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
_QUOTES = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "ß": "ss", "ı": "i", "ł": "l", "ø": "o"}


def _is_dropped(char: str) -> bool:
    """Default-ignorable characters: a renderer shows nothing for them, a tokenizer may still read them."""
    code = ord(char)
    if unicodedata.category(char) == "Cf" or 0xE0000 <= code <= 0xE0FFF:
        return True
    return 0xFE00 <= code <= 0xFE0F or char in "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"


def _enclosed(code: int) -> str | None:
    for first, count in _ENCLOSED:
        if first <= code < first + count:
            return chr(ord("a") + code - first)
    return None


def _folded(char: str) -> str:
    if _is_dropped(char):
        return ""
    known = _QUOTES.get(char) or _SMALL_CAPITALS.get(char) or _enclosed(ord(char))
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
    return _Folds(_folded)


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


def _skeleton(char: str) -> str:
    folded = _folded(char)
    if len(folded) != 1 or folded.isascii():
        return folded
    return _lookalikes().get(char) or _lookalikes().get(folded) or folded


@cache
def skeleton_folds() -> dict[int, str]:
    """Folds that also turn look-alikes of other scripts into Latin letters."""
    return _Folds(_skeleton)


class Tracer:
    """Places in a folded text -> places in the original, by folding again one chunk at a time."""

    def __init__(self, original: str, folds: dict[int, str]) -> None:
        self._original = original
        self._folds = folds
        self._starts: list[int] = []

    def __call__(self, place: int) -> int:
        if not self._starts:
            self._starts = self._measured()
        chunk = min(bisect_right(self._starts, place) - 1, max(0, len(self._starts) - 2))
        left = place - self._starts[chunk]
        start = chunk * _CHUNK
        for index in range(start, min(start + _CHUNK, len(self._original))):
            width = len(self._folds[ord(self._original[index])])
            if left < width:
                return index
            left -= width
        return min(start + _CHUNK, len(self._original))

    def _measured(self) -> list[int]:
        starts = [0]
        for start, _ in pairwise(range(0, len(self._original) + _CHUNK, _CHUNK)):
            starts.append(starts[-1] + len(self._original[start : start + _CHUNK].translate(self._folds)))
        return starts
