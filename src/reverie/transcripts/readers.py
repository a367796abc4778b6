"""The port for readers, and how a file finds its reader.

A reader turns one file into a flat stream: `Opened`, then the `Said` of that session in order, then perhaps a
`Closed` with what only the end of the file tells, then the next `Opened`. A `Flaw` may stand anywhere: what could
not be read, where and why; reading goes on behind it. A reader streams; it holds at most one message and what it
needs to know about its session.

Readers register under the entry point group `reverie.readers`; ours do the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from reverie.core.errors import BadInput, NotATranscript
from reverie.transcripts.session import Head, Said

GROUP = "reverie.readers"
SNIFFED_BYTES = 65_536
WHOLE_FILE = "the file"  # a Flaw there means: nothing is known about the rest, read it again next time


@dataclass(frozen=True, slots=True)
class Opened:
    head: Head


@dataclass(frozen=True, slots=True)
class Closed:
    """Facts about the session just read that come late. None leaves what `Opened` said."""

    title: str | None = None
    ended_at: datetime | None = None
    outcome: float | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that could not be read. `where` is a place a person can go to: `line 12`, `row 40`.

    `passing` says that it may be over next time though the file has not changed: a lock, a missing permission.
    """

    where: str
    why: str
    passing: bool = False


Event = Opened | Said | Closed | Flaw


class Reader(Protocol):
    """`places` are where its harness leaves transcripts: `${CODEX_HOME:-~/.codex}/sessions`."""

    name: str
    places: tuple[str, ...]

    def recognises(self, path: Path, start: bytes) -> float:
        """The certainty of this reader, 0..1, from the path and the first bytes (`SNIFFED_BYTES` at most)."""

    def read(self, path: Path) -> Iterator[Event]: ...


@cache
def readers() -> tuple[Reader, ...]:
    """Every installed reader, by name."""
    found = [point.load()() for point in entry_points(group=GROUP)]
    return tuple(sorted(found, key=lambda reader: reader.name))


def reader_named(name: str, among: Iterable[Reader]) -> Reader:
    known = {reader.name: reader for reader in among}
    if name not in known:
        raise BadInput(f"There is no reader named {name!r}.", expected=f"one of {', '.join(known)}")
    return known[name]


def reader_of(path: Path, among: Iterable[Reader]) -> Reader | None:
    """The reader surest of this file, or None. Ties go to the name that sorts first, so the answer is stable."""
    with path.open("rb") as file:
        start = file.read(SNIFFED_BYTES)
    best, sureness = None, 0.0
    for reader in among:
        sure = reader.recognises(path, start)
        if sure > sureness:
            best, sureness = reader, sure
    return best


def required_reader(path: Path, among: Iterable[Reader]) -> Reader:
    among = tuple(among)
    reader = reader_of(path, among)
    if reader is None:
        raise NotATranscript(
            f"{path} is not a transcript any reader knows.",
            expected=f"one of the formats {', '.join(reader.name for reader in among)}",
            next_step="See docs/formats.md, or name the reader with --reader.",
        )
    return reader
