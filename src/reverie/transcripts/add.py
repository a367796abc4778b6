"""One run of bringing transcripts in: walk, recognise, read, redact, keep, and say what happened.

This is the one door for files. A file that is too large, takes too long, or makes its reader fail is quarantined with
the reason, and the next one is read; it is tried again when it changes.

`Importing` is for transcripts that come over the API: read as any other, but never with more authority than who sends
them. A key bound to a person brings in that person's sessions, whatever the transcript says about its user; a key of
the workspace may name each one's. Who uploads a file can write any role into it, so nothing in it stands above the
sender.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from reverie.core.errors import BadInput, NotATranscript, ReverieError
from reverie.core.scope import Origin, Scope, weakest
from reverie.transcripts.files import (
    MAGIC,
    FileLimits,
    FileRefused,
    check_databases,
    check_size,
    check_time,
    kept_id,
    kept_name,
    limited,
)
from reverie.transcripts.readers import (
    WHOLE_FILE,
    Event,
    Flaw,
    Intake,
    Opened,
    Reader,
    Redact,
    SessionReader,
    reader_named,
    reader_of,
)
from reverie.transcripts.records import Quarantine, Quarantined, Records, SessionBusy, Sources
from reverie.transcripts.session import Said

_SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", ".venv"}
_LONGEST_REASON = 300


class ReaderFailed(Exception):
    """A reader raised something, which is a bug of its: no file may make it do that."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    path: str
    where: str
    why: str


@dataclass(slots=True)
class Added:
    """Result of adding. `fates` counts sessions as new, grown, rewritten, unchanged or removed before; `quarantined`
    are the files that could not be read, tonight or before."""

    fates: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    noise: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    flaws: list[SkippedFile] = field(default_factory=list)
    files: int = 0
    unchanged_files: int = 0
    other_files: int = 0
    quarantined: int = 0

    @property
    def sessions(self) -> int:
        return sum(self.fates.values())

    @property
    def unread(self) -> tuple[str, ...]:
        return tuple(f"{flaw.path}: {flaw.why}" for flaw in self.flaws)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a long run, in bytes of the files found. A `total` of 0 means it is not known."""

    done: int
    total: int
    path: str
    sessions: int


Watch = Callable[[Progress], None]
Through = Callable[[Iterator[Event]], Iterator[Event]]


@dataclass(slots=True)
class Adding:
    """`again` reads files that look unchanged, too; `bring_back` undoes an earlier removal."""

    scope: Scope
    owner: str
    records: Records
    sources: Sources
    readers: tuple[Reader, ...]
    intake: Callable[[], Intake]
    quarantine: Quarantine
    limits: FileLimits = field(default_factory=FileLimits)
    user: str | None = None
    reader: Reader | None = None
    again: bool = False
    bring_back: bool = True
    watch: Watch | None = None
    added: Added = field(default_factory=Added)
    _done: int = 0
    _total: int = 0
    _held: dict[str, Quarantined] | None = None

    @property
    def _mine(self) -> Scope:
        return self.scope.of(self.user or self.owner)

    def folder(self, folder: Path, without: Iterable[Path] = ()) -> None:
        """Every transcript in it, but none of what lies in the folders `without` which it is to be read."""
        others = tuple(without)
        files = _files(folder, self._not_seen)
        found = [(path, size) for path, size in files if not any(map(path.is_relative_to, others))]
        self._total = sum(size for _, size in found)
        for path, size in found:
            self._tell(kept_name(path))
            self._one_of_many(path)
            self._done += size
        self._tell("")

    def _not_seen(self, path: Path, error: OSError) -> None:
        self.added.flaws.append(SkippedFile(kept_name(path), WHOLE_FILE, os_reason(error)))

    def _tell(self, path: str) -> None:
        if self.watch:
            self.watch(Progress(self._done, self._total, path, self.added.sessions))

    def _one_of_many(self, path: Path) -> None:
        name = kept_name(path)
        try:
            fingerprint = _fingerprint(path)
            if not self.again and self.sources.fingerprint(self._mine, name) == fingerprint:
                self.added.unchanged_files += 1
                return
            held = None if self.again else self._quarantined().get(name)
            if held is not None and held.fingerprint == fingerprint:
                self.added.quarantined += 1
                why = f"{held.why} (since {held.since:%Y-%m-%d}; it is tried again when it changes)"
                self.added.flaws.append(SkippedFile(name, WHOLE_FILE, why))
                return
            reader = self.reader or reader_of(path, self.readers)
        except OSError as error:
            self._put_away(name, "", Flaw(WHOLE_FILE, os_reason(error), passing=True), "")
        except Exception as error:  # noqa: BLE001 - one file's fault is not the others'
            self._put_away(name, "", Flaw(WHOLE_FILE, self._reason(error, "recognising it")), _fingerprint(path))
        else:
            if reader is None:
                self.added.other_files += 1
            else:
                self.file(path, reader)

    def file(self, path: Path, reader: Reader) -> None:
        name = kept_name(path)
        before = self.added.sessions
        fingerprint = _fingerprint(path)  # taken before reading: what is written meanwhile is read next time
        try:
            flaws = self.read(path, reader, name)
        except Exception as error:  # what is not the file's fault is raised again
            if isinstance(error, ReverieError) and not isinstance(error, BadInput):
                raise
            # The same bytes would fail in the same way.
            lasts = isinstance(error, ReaderFailed | FileRefused | BadInput)
            flaw = Flaw(WHOLE_FILE, self._reason(error, f"the {reader.name} reader"), not lasts)
            self._put_away(name, reader.name, flaw, fingerprint)
            return
        self.added.files += 1
        whole = next((flaw for flaw in flaws if flaw.where == WHOLE_FILE), None)
        if whole is None:
            self.sources.keep_fingerprint(self._mine, name, fingerprint)
        if whole is not None and self.added.sessions == before:
            self._put_away(name, reader.name, whole, fingerprint, told=True)
        elif name in self._quarantined():
            self.quarantine.release(self._mine, name)

    def read(
        self, path: Path, reader: Reader, name: str | None = None, through: Through = lambda events: events
    ) -> list[Flaw]:
        """Within the limits. `through` may change what the reader says, or see it."""
        check_size(path.stat().st_size, self.limits)
        with limited(self.limits):
            return self.events(through(_watched(reader.read(path))), name)

    def _quarantined(self) -> dict[str, Quarantined]:
        if self._held is None:
            self._held = {one.path: one for one in self.quarantine.held(self._mine)}
        return self._held

    def _put_away(self, name: str, reader: str, flaw: Flaw, fingerprint: str, *, told: bool = False) -> None:
        self.quarantine.put(self._mine, name, reader, "" if flaw.passing else fingerprint, flaw.why)
        self.added.quarantined += 1
        if not told:
            self.added.flaws.append(SkippedFile(name, flaw.where, flaw.why))

    def _reason(self, error: Exception, what: str) -> str:
        """Why, for people. An error may quote what it stumbled over."""
        if isinstance(error, OSError):
            return os_reason(error)
        if isinstance(error, ReverieError):
            return str(error)
        cause = error.__cause__ if isinstance(error, ReaderFailed) and error.__cause__ else error
        said = self.intake().clean(" ".join(str(cause).split())[:_LONGEST_REASON])
        return f"{what} failed at it: {type(cause).__name__}{f' ({said})' if said else ''}. Please report it."

    def events(self, events: Iterable[Event], path: str | None = None) -> list[Flaw]:
        intake = self.intake()
        tally = intake.tally
        try:
            for reading in intake.sessions(events):
                self._keep(reading, path)
        except OSError as error:
            tally.flaws.append(Flaw(WHOLE_FILE, os_reason(error), passing=True))
        except SessionBusy as error:
            tally.flaws.append(Flaw(WHOLE_FILE, str(error), passing=True))
        finally:
            self.added.redacted.update(tally.redacted)
            self.added.noise += tally.noise
            name = path or "the session"
            self.added.flaws += [SkippedFile(name, flaw.where, flaw.why) for flaw in tally.flaws]
            if tally.more_flaws:
                self.added.flaws.append(
                    SkippedFile(name, "elsewhere", f"{tally.more_flaws:,} more that are not listed")
                )
        return tally.flaws

    def _keep(self, reading: SessionReader, path: str | None) -> None:
        scope = self.scope.of(reading.head.user or self.user or self.owner)
        known = None if self.bring_back else self.records.known(scope, reading.head.id)
        if known is not None and known.removed:
            self.added.fates["removed before"] += 1
            reading.skip()
            return
        fate, turns = self.records.write(scope, reading.head, reading.turns(), source=path, finish=lambda: reading.head)
        self.added.fates[fate] += 1
        self.added.turns += turns
        self._tell(path or "")


def _watched(events: Iterable[Event]) -> Iterator[Event]:
    """The events of a reader, for as long as it may take. A failure of its own is told from one of whoever listens."""
    following = iter(events)
    while True:
        check_time()
        time.sleep(0)  # other threads go first: a server reads what one tenant sends beside the calls of all others
        try:
            event = next(following)
        except StopIteration:
            return
        except (OSError, ReverieError):
            raise
        except Exception as error:
            raise ReaderFailed from error
        yield event


def _files(folder: Path, not_seen: Callable[[Path, OSError], None]) -> Iterator[tuple[Path, int]]:
    """Every plain file, with its size. One that goes away meanwhile is not there; what may not be looked at is told."""
    if folder.is_file():
        yield folder, folder.stat().st_size
        return

    def tell(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            not_seen(Path(error.filename), error)

    for parent, folders, names in os.walk(folder, onerror=tell):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(parent, name)
            try:
                if path.is_file() and not path.is_symlink():
                    yield path, path.stat().st_size
            except FileNotFoundError:
                continue  # it went away while the folder was read
            except OSError as error:
                not_seen(path, error)


def _fingerprint(path: Path) -> str:
    """Size and time of a file; of a SQLite database also of its write-ahead log, where new rows appear first."""
    log = path.with_name(path.name + "-wal")
    stats = [part.stat() for part in (path, log) if part == path or part.exists()]
    return " ".join(f"{stat.st_size}-{stat.st_mtime_ns}" for stat in stats)


def os_reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


MOST_NAMES = 10_000
_SPOKEN = ("system", "developer", "user")


@dataclass(slots=True)
class Imported:
    """`names` are the sessions' ids, the first of them: what a dream can be given."""

    added: Added
    reader: str
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Importing:
    """`speaker` is the Origin of the words of a person's own sessions when this caller brings them."""

    scope: Scope
    records: Records
    sources: Sources
    readers: tuple[Reader, ...]
    redact: Redact
    speaker: Callable[[str], Origin]
    quarantine: Quarantine
    limits: FileLimits

    def add(self, path: Path, reader: str | None = None) -> Imported:
        """Twice is once. The path is nothing that is remembered: it is gone when this is done."""
        with limited(self.limits):
            chosen = self._reader(path, reader)
        owner = self.scope.user or ""
        kept = (self.records, self.sources, self.readers, lambda: Intake(owner, self.redact))
        run = Adding(self.scope, owner, *kept, self.quarantine, self.limits)
        imported = Imported(run.added, chosen.name)
        try:
            run.read(path, chosen, through=lambda events: self._of_sender(events, imported.names))
        except ReaderFailed as error:
            raise NotATranscript(
                f"The {chosen.name} reader failed at the body ({type(error.__cause__).__name__}).",
                next_step="Please report it. What it had read before is kept.",
            ) from error
        return imported

    def _reader(self, path: Path, reader: str | None) -> Reader:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                check_databases()
        chosen = reader_named(reader, self.readers) if reader else reader_of(path, self.readers)
        if chosen is None:
            raise NotATranscript(
                "The body is not a transcript any reader knows.",
                expected=f"one of the formats {', '.join(one.name for one in self.readers)}",
                next_step="Name the format with `reader`, and the file's own name with `filename`.",
            )
        return chosen

    def _of_sender(self, events: Iterable[Event], names: list[str]) -> Iterator[Event]:
        """With heads that name nobody else. Sessions of someone else are at most a member's."""
        most, user = Origin.MEMBER, self.scope.user
        for event in events:
            if isinstance(event, Opened):
                whose = event.head.user
                most = Origin.MEMBER if user and whose not in (None, user) else self.speaker(user or whose or "")
                head = replace(event.head, id=kept_id(event.head.id), user=user or kept_id(whose or "") or None)
                names.extend([head.id] if len(names) < MOST_NAMES else [])
                yield Opened(head)
            elif isinstance(event, Said) and event.role in _SPOKEN:
                yield replace(event, origin=weakest((most, event.origin or most)))
            else:
                yield event
