"""Two changes to one text, brought together line by line.

Changes that stay apart are both made. Changes that touch are a clash unless they are the same: whether a sentence may
stand between two others is for a person to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Overlap:
    """Lines both sides changed. `first` counts from 1 in the text both began with; `base` may be empty."""

    first: int
    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    end: int
    lines: tuple[str, ...]


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | tuple[Overlap, ...]:
    """The lines with both changes made, or every place where they clash."""
    left, right = _changes(base, ours), _changes(base, theirs)
    made: list[str] = []
    overlaps: list[Overlap] = []
    at = 0
    while left or right:
        mine, yours = _together(left, right)
        start = min(change.start for change in mine + yours)
        end = max(change.end for change in mine + yours)
        first, second = _result(base, start, end, mine), _result(base, start, end, yours)
        made += base[at:start]
        if not yours or first == second:
            made += first
        elif not mine:
            made += second
        else:
            overlaps.append(Overlap(start + 1, tuple(base[start:end]), tuple(first), tuple(second)))
        at = end
    return tuple(overlaps) if overlaps else [*made, *base[at:]]


def _changes(base: Sequence[str], new: Sequence[str]) -> list[_Change]:
    codes = SequenceMatcher(None, base, new, autojunk=False).get_opcodes()
    return [_Change(start, end, tuple(new[low:high])) for tag, start, end, low, high in codes if tag != "equal"]


def _together(left: list[_Change], right: list[_Change]) -> tuple[list[_Change], list[_Change]]:
    """Take the next changes from both lists that touch one another, directly or through others."""
    mine: list[_Change] = []
    yours: list[_Change] = []
    end = min(changes[0].start for changes in (left, right) if changes)
    grew = True
    while grew:
        grew = False
        for changes, taken in ((left, mine), (right, yours)):
            while changes and changes[0].start <= end:
                taken.append(changes.pop(0))
                end = max(end, taken[-1].end)
                grew = True
    return mine, yours


def _result(base: Sequence[str], start: int, end: int, changes: Sequence[_Change]) -> list[str]:
    made: list[str] = []
    at = start
    for change in changes:
        made += [*base[at : change.start], *change.lines]
        at = change.end
    return [*made, *base[at:end]]
