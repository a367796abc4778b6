"""Transcripts that come over the API: read as any other, but never with more authority than who sends them.

A key bound to a person brings in that person's sessions, whatever the transcript says about its user; a key of the
workspace may name each one's. Who uploads a file can write any role into it, so nothing in it stands above the sender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from reverie.core.errors import NotATranscript
from reverie.core.origin import Origin, weakest
from reverie.core.scope import Scope
from reverie.transcripts.add import Added, Adding, ReaderFailed
from reverie.transcripts.files.limits import FileLimits, check_databases, limited
from reverie.transcripts.files.names import kept_id
from reverie.transcripts.files.sqlite_files import MAGIC
from reverie.transcripts.intake import Intake, Redact
from reverie.transcripts.readers import Event, Opened, Reader, reader_named, reader_of
from reverie.transcripts.records import Quarantine, Records, Sources
from reverie.transcripts.session import Head, Said

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
        run = Adding(
            self.scope,
            owner,
            self.records,
            self.sources,
            self.readers,
            lambda: Intake(owner, self.redact),
            self.quarantine,
            self.limits,
        )
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
        most = Origin.MEMBER
        for event in events:
            if isinstance(event, Opened):
                most, head = self._most(event.head), self._owned(event.head)
                names.extend([head.id] if len(names) < MOST_NAMES else [])
                yield Opened(head)
            elif isinstance(event, Said) and event.role in _SPOKEN:
                yield replace(event, origin=weakest((most, event.origin or most)))
            else:
                yield event

    def _most(self, head: Head) -> Origin:
        """Sessions of someone else are at most a member's."""
        user = self.scope.user
        return Origin.MEMBER if user and head.user not in (None, user) else self.speaker(user or head.user or "")

    def _owned(self, head: Head) -> Head:
        """A head that names nobody else. The id is as it will be kept."""
        return replace(head, id=kept_id(head.id), user=self.scope.user or kept_id(head.user or "") or None)
