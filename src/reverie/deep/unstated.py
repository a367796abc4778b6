"""Changes nobody announced: at work, a person takes another value for granted than the one that stands there.

Once may be a slip or another thing; in two sessions it is how things are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from reverie.deep.clauses import clauses
from reverie.deep.material import AGAIN, BESIDE, Known, Noted
from reverie.deep.shapes import other_value
from reverie.deep.subjects import about
from reverie.light.marks import Mark

_ENOUGH = 2  # stems a clause has in common with the entry, and sessions
_CHANGE = (BESIDE, Mark.CHANGED, Mark.STATE)
_DIGITS = re.compile(r"\d+")


def unstated(noted: Sequence[Noted], known: Iterable[Known]) -> list[Noted]:
    """The words of a day's work that give an entry's thing another value, and the same one in several sessions."""
    at_work = [one for one in noted if AGAIN in one.marks]
    entries = [one for one in known if one.document is not None] if at_work else []
    return [replace(note, candidate=replace(note.candidate, marks=_CHANGE))
            for entry in entries for note in _otherwise(at_work, entry)]  # fmt: skip


def _otherwise(at_work: Sequence[Noted], entry: Known) -> list[Noted]:
    pieces = [(note, piece) for note in at_work for piece in _about(note, entry)]
    for value in dict.fromkeys(found[1] for _, piece in pieces if (found := other_value(entry.text, piece))):
        said = {id(note): note for note, piece in pieces if _gives(piece, value)}.values()
        if len({one.session_id for one in said}) >= _ENOUGH and len({one.speaker for one in said}) == 1:
            return list(said)
    return []


def _about(note: Noted, entry: Known) -> list[str]:
    """The clauses that speak of what the entry speaks of."""
    language = note.candidate.language
    theirs = about(entry.text, language)
    return [one for one in clauses(note.words).affirmed if len(about(one, language) & theirs) >= _ENOUGH]


def _gives(piece: str, value: str) -> bool:
    """The value itself, or a number without its unit: "695 € a month", and "costs me 695 a month"."""
    numbers = _DIGITS.findall(value)
    return value.casefold() in piece.casefold() or (bool(numbers) and numbers == _DIGITS.findall(piece))
