"""Editors that take no lock: what they save, and whether it is still to be found afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from reverie.changes.ledger import Change
from tests.faults.killing import WATCHED, Lines

Save = Callable[[str], None]


@contextmanager
def replacing(memory: Path) -> Iterator[Save]:
    """Reads the file, writes another with one more entry, and moves it over: as most editors do."""

    def save(text: str) -> None:
        beside = memory.with_name(f".{memory.name}.swp")
        beside.write_text(f"{memory.read_text()}\n§\n{text}")
        beside.replace(memory)

    yield save


@contextmanager
def appending(memory: Path) -> Iterator[Save]:
    """Opens the file, writes to its end and closes it: as a shell does."""

    def save(text: str) -> None:
        with memory.open("a") as file:
            file.write(f"\n§\n{text}")

    yield save


@contextmanager
def holding(memory: Path) -> Iterator[Save]:
    """Has had the file open since before anything began, and writes to its end."""
    with memory.open("a") as file:

        def save(text: str) -> None:
            file.write(f"\n§\n{text}")
            file.flush()

        yield save


@contextmanager
def rewriting(memory: Path) -> Iterator[Save]:
    """Empties the file and writes all of it anew, in the same place."""

    def save(text: str) -> None:
        content = memory.read_text()
        memory.write_text(f"{content}\n§\n{text}")

    yield save


KINDS = {"replaces": replacing, "appends": appending, "holds": holding, "rewrites": rewriting}


class AtLine:
    """Saves at the n-th line that is run in our modules, and may die some lines behind it."""

    def __init__(self, at: int, save: Callable[[], None], die_behind: int = 0) -> None:
        self._at = at
        self._die_at = at + die_behind if die_behind else 0
        self._save = save
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        return self._line if str(frame.f_globals.get("__name__", "")).startswith(WATCHED) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            self.count += 1
            if self.count == self._at:
                self._save()
            if self.count == self._die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line


def between(lines: Lines, first: str, last: str) -> tuple[int, int]:
    """From the first line of one function to the last line of another, by their place among all lines that were run."""
    names = [name for name, _ in lines.run]
    return names.index(first) + 1, len(names) - names[::-1].index(last)


def gaps(changes: list[Change], document: str) -> list[str]:
    """Where the history of a document does not begin where the Change before it ended."""
    found, content = [], None
    for change in changes:
        edit = change.edit(document)
        if edit is not None:
            if edit.before != content:
                found.append(f"{change.id} does not begin where the one before it ended")
            content = edit.after
    return found
