"""Applying a unified diff to a text: by its words, not by its line numbers.

A hunk must be found exactly as it reads, at the line it names or at the only other place where it stands. Line endings
are those of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reverie.skills.amendments.edits import Unmade
from reverie.skills.page import lines_of

_HUNK = re.compile(r"@@ -(?P<start>\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_SKIPPED = ("--- ", "+++ ", "diff ", "index ", "\\ No newline")


@dataclass(frozen=True, slots=True)
class _Hunk:
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def patched(text: str, diff: str, ending: str) -> str | Unmade:
    """The text with every hunk applied, or why one does not fit."""
    lines = lines_of(text)
    hunks = list(_hunks(diff))
    if not hunks:
        return Unmade("the diff has no hunk (a line that begins with '@@ -')")
    floor, moved = 0, 0
    for number, hunk in enumerate(hunks, 1):
        place = _place(lines, hunk, floor, hunk.start - 1 + moved)
        if place is None:
            first = next((line for line in hunk.old if line.strip()), "(empty)")[:120]
            return Unmade(f"hunk {number} of the diff does not stand in the text: {first}")
        new = _kept(lines[place : place + len(hunk.old)], hunk, ending)
        lines[place : place + len(hunk.old)] = new
        floor, moved = place + len(new), moved + len(new) - len(hunk.old)
    inner = (line if line[-1] in "\r\n" else line + ending for line in lines[:-1])
    return "".join([*inner, *lines[-1:]])


def _hunks(diff: str) -> Iterator[_Hunk]:
    start: int | None = None
    old: list[str] = []
    new: list[str] = []
    for line in diff.splitlines():
        head = _HUNK.match(line)
        if head or (not old and not new and line.startswith(_SKIPPED)):
            if start is not None:
                yield _Hunk(start, tuple(old), tuple(new))
            start, old, new = (int(head["start"]) if head else None), [], []
        elif start is not None and not line.startswith("\\"):
            mark, rest = (line[:1] or " "), line[1:]
            old += [rest] if mark in " -" else []
            new += [rest] if mark in " +" else []
    if start is not None:
        yield _Hunk(start, tuple(old), tuple(new))


def _place(lines: Sequence[str], hunk: _Hunk, floor: int, named: int) -> int | None:
    if not hunk.old:
        return min(max(named + 1, floor), len(lines))
    bare = [line.rstrip("\r\n") for line in lines]
    wide = len(hunk.old)
    fits = [at for at in range(floor, len(bare) - wide + 1) if tuple(bare[at : at + wide]) == hunk.old]
    if named in fits:
        return named
    return fits[0] if len(fits) == 1 else None


def _kept(replaced: Sequence[str], hunk: _Hunk, ending: str) -> list[str]:
    """The new lines; one that was there keeps the ending it had."""
    endings: dict[str, list[str]] = {}
    for line in replaced:
        endings.setdefault(line.rstrip("\r\n"), []).append(line[len(line.rstrip("\r\n")) :])
    return [line + (endings[line].pop(0) if endings.get(line) else ending) for line in hunk.new]
