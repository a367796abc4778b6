"""One run of bringing transcripts in: walk, recognise, read, redact, keep, and say what happened."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reverie.kernel.scope import Scope
from reverie.sessions.intake import Intake, Reading
from reverie.sessions.reading import WHOLE_FILE, Event, Flaw, Reader, reader_of
from reverie.sessions.records import Records, Sources

_SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", ".venv"}


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not read, and why."""

    path: str
    where: str
    why: str


@dataclass(slots=True)
class Added:
    """What adding did. `fates` counts sessions as new, grown, rewritten, unchanged or removed before."""

    fates: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    noise: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    flaws: list[Skipped] = field(default_factory=list)
    files: int = 0
    unchanged_files: int = 0
    other_files: int = 0

    @property
    def sessions(self) -> int:
        return sum(self.fates.values())

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, a line each."""
        return tuple(f"{flaw.path}: {flaw.why}" for flaw in self.flaws)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long run is, in bytes of the files found. A `total` of 0 means it is not known."""

    done: int
    total: int
    path: str
    sessions: int


Watch = Callable[[Progress], None]


@dataclass(slots=True)
class Adding:
    """`again` reads files that look unchanged, too; `bring_back` undoes an earlier removal."""

    scope: Scope
    owner: str
    records: Records
    sources: Sources
    readers: tuple[Reader, ...]
    intake: Callable[[], Intake]
    user: str | None = None
    reader: Reader | None = None
    again: bool = False
    bring_back: bool = True
    watch: Watch | None = None
    added: Added = field(default_factory=Added)
    _done: int = 0
    _total: int = 0

    @property
    def _mine(self) -> Scope:
        return self.scope.of(self.user or self.owner)

    def folder(self, folder: Path, without: Iterable[Path] = ()) -> None:
        """Every transcript in it, but none of what lies in the folders `without` which it is to be read."""
        others = tuple(without)
        found = [(path, path.stat().st_size) for path in _files(folder) if not any(map(path.is_relative_to, others))]
        self._total = sum(size for _, size in found)
        for path, size in found:
            self._tell(str(path))
            self._one_of_many(path)
            self._done += size
        self._tell("")

    def _tell(self, path: str) -> None:
        if self.watch:
            self.watch(Progress(self._done, self._total, path, self.added.sessions))

    def _one_of_many(self, path: Path) -> None:
        try:
            if not self.again and self.sources.fingerprint(self._mine, str(path)) == _fingerprint(path):
                self.added.unchanged_files += 1
                return
            reader = self.reader or reader_of(path, self.readers)
        except OSError as error:
            self.added.flaws.append(Skipped(str(path), WHOLE_FILE, os_reason(error)))
            return
        if reader is None:
            self.added.other_files += 1
        else:
            self.file(path, reader)

    def file(self, path: Path, reader: Reader) -> None:
        fingerprint = _fingerprint(path)  # taken before reading: what is written meanwhile is read next time
        flaws = self.events(reader.read(path), str(path))
        self.added.files += 1
        if not any(flaw.where == WHOLE_FILE for flaw in flaws):
            self.sources.keep_fingerprint(self._mine, str(path), fingerprint)

    def events(self, events: Iterator[Event], path: str | None = None) -> list[Flaw]:
        intake = self.intake()
        tally = intake.tally
        try:
            for reading in intake.sessions(events):
                self._keep(reading, path)
        except OSError as error:
            tally.flaws.append(Flaw(WHOLE_FILE, os_reason(error)))
        self.added.redacted.update(tally.redacted)
        self.added.noise += tally.noise
        self.added.flaws += [Skipped(path or "the session", flaw.where, flaw.why) for flaw in tally.flaws]
        return tally.flaws

    def _keep(self, reading: Reading, path: str | None) -> None:
        scope = self.scope.of(reading.head.user or self.user or self.owner)
        if not self.bring_back and self._was_removed(scope, reading.head.id):
            self.added.fates["removed before"] += 1
            reading.skip()
            return
        fate, turns = self.records.write(scope, reading.head, reading.turns(), source=path, finish=lambda: reading.head)
        self.added.fates[fate] += 1
        self.added.turns += turns
        self._tell(path or "")

    def _was_removed(self, scope: Scope, session_id: str) -> bool:
        known = self.records.known(scope, session_id)
        return known is not None and known.removed


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _fingerprint(path: Path) -> str:
    """Size and time of a file; of a SQLite database also of its write-ahead log, where new rows appear first."""
    log = path.with_name(path.name + "-wal")
    stats = [part.stat() for part in (path, log) if part == path or part.exists()]
    return " ".join(f"{stat.st_size}-{stat.st_mtime_ns}" for stat in stats)


def os_reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
