"""Changes nobody announced: at work, a person takes another value for granted than the one that stands there.

Once may be a slip or another thing; in two sessions it is how things are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reverie.deep.clauses import clauses
from reverie.deep.material import AGAIN, BESIDE, Known, Noted
from reverie.deep.shapes import other_value
from reverie.deep.subjects import about
from reverie.light.candidate import Kind
from reverie.light.marks import Mark

_ENOUGH = 2  # stems a clause has in common with the entry, and sessions
_CHANGE = (BESIDE, Mark.CHANGED, Mark.STATE)
_DIGITS = re.compile(r"\d+")


def unstated(noted: Sequence[Noted], known: Iterable[Known]) -> list[Noted]:
    """The words of a day's work that give an entry's thing another value, and the same one in several sessions."""
    if not any(AGAIN in one.marks for one in noted):
        return []
    said = [one for one in noted if one.speaker and (AGAIN in one.marks or one.candidate.kind is Kind.PROJECT_FACT)]
    entries = [one for one in known if one.document is not None]
    return [_as_change(note) for entry in entries for note in _otherwise(said, entry) if AGAIN in note.marks]


def _as_change(note: Noted) -> Noted:
    return replace(note, candidate=replace(note.candidate, marks=_CHANGE))


def _otherwise(noted: Sequence[Noted], entry: Known) -> list[Noted]:
    """Where the entry's thing has the same other value in several sessions, the words that give it."""
    pieces = [(note, piece, common) for note in noted for piece, common in _about(note, entry)]
    sure = (found[1] for _, piece, common in pieces
            if common >= _ENOUGH and (found := other_value(entry.text, piece)))  # fmt: skip
    for value in dict.fromkeys(sure):
        said = {id(note): note for note, piece, _ in pieces if _gives(piece, value)}.values()
        if len({one.session_id for one in said}) >= _ENOUGH and len({one.speaker for one in said}) == 1:
            return list(said)
    return []


def _about(note: Noted, entry: Known) -> Iterator[tuple[str, int]]:
    """The clauses that speak of what the entry speaks of, with how much of it."""
    language = note.candidate.language
    theirs = about(entry.text, language)
    for piece in clauses(note.words).affirmed:
        if common := len(about(piece, language) & theirs):
            yield piece, common


def _gives(piece: str, value: str) -> bool:
    """The value itself, or a number without its unit: "695 € a month", and "costs me 695 a month"."""
    numbers = _DIGITS.findall(value)
    return value.casefold() in piece.casefold() or (bool(numbers) and numbers == _DIGITS.findall(piece))
