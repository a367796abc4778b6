"""Where else in the session the same thing is spoken of: what a change replaces, and what is said again.

Words weigh by how rare they are in the session's own turns, so that a project's pet word links nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import log

_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}|\d[\d.,:]*\d|\d")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_MAX_WORDS = 400
_NUMBER = r"[$€£]?\d[\d,.]*%?"
_QUANTITY = re.compile(
    rf"({_NUMBER})[ -](?:[^\W\d_]+ )?([^\W\d_]{{5,}})"
    rf"|\b([^\W\d_]{{5,}}) (?:[^\W\d_]+ )?(?:of|to|is|at|was|now) ({_NUMBER})"
)
_UNITS = ("minute", "hour", "month", "week", "years", "people", "times", "daily", "pages", "chance")  # of anything
_ENDING = re.compile(r"(?:ings?|ed|es|s|ly|en|er|e)$")
_STEM = 6  # the first letters: enough to join "allergy" and "allergies" in the languages covered


def subjects(text: str) -> frozenset[str]:
    """The words a text is about: long or numeric ones cut to their stem, bigrams where there are no spaces."""
    long = (found for found in _WORD.findall(text)[:_MAX_WORDS] if len(found) > 3 or found[0].isdigit())
    words = {_ENDING.sub("", word.lower())[:_STEM] for word in long}
    signs = _CJK.findall(text)[:_MAX_WORDS]
    return frozenset(words | {first + second for first, second in pairwise(signs)})


def quantities(text: str) -> dict[str, set[str]]:
    """What is counted or measured, with its numbers: "90% accuracy", "a deadline of 25"."""
    found: dict[str, set[str]] = {}
    for number, noun, thing, value in _QUANTITY.findall(text.lower()):
        if not (noun or thing).startswith(_UNITS):
            found.setdefault((noun or thing)[:_STEM], set()).add((number or value).strip(".,"))
    return found


class Echoes:
    """The person's turns of one session, by what they speak of."""

    def __init__(self, turns: Mapping[int, str]) -> None:
        self._valued = {number: quantities(text) for number, text in turns.items()}
        self._spoken = {number: subjects(text) for number, text in turns.items()}
        self._in: dict[str, int] = {}
        for words in self._spoken.values():
            for word in words:
                self._in[word] = self._in.get(word, 0) + 1

    def nearest(self, text: str, among: Iterable[int], least: float) -> int | None:
        """The turn that shares most of what `text` speaks of, if it shares at least that part of its weight."""
        shares = self._shares(text, among)
        best = max(shares, key=lambda number: (shares[number], -number), default=None)
        return best if best is not None and shares[best] >= least else None

    def valued(self, text: str, among: Iterable[int]) -> int | None:
        """The last turn that put another number to something `text` puts a number to."""
        new = quantities(text)
        return max((number for number in among if _differs(new, self._valued[number])), default=None)

    def alike(self, text: str, among: Iterable[int], least: float) -> set[int]:
        return {number for number, share in self._shares(text, among).items() if share >= least}

    def _shares(self, text: str, among: Iterable[int]) -> dict[int, float]:
        wanted = subjects(text) & self._in.keys()
        whole = sum(map(self._weight, wanted))
        shared = {number: wanted & self._spoken[number] for number in among}
        return {number: sum(map(self._weight, words)) / whole for number, words in shared.items() if len(words) > 1}

    def _weight(self, word: str) -> float:
        return log(1 + len(self._spoken) / self._in[word])


def _differs(new: Mapping[str, set[str]], old: Mapping[str, set[str]]) -> bool:
    return any(thing in old and not numbers & old[thing] for thing, numbers in new.items())
