"""Transcripts that come over the API: read as any other, but never with more authority than who sends them.

A key bound to a person brings in that person's sessions, whatever the transcript says about its user; a key of the
workspace may name each one's. Who uploads a file can write any role into it, so nothing in it stands above the sender.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from reverie.kernel.errors import NotATranscript
from reverie.kernel.origin import Origin, weakest
from reverie.kernel.scope import Scope
from reverie.sessions.adding import Added, Adding
from reverie.sessions.intake import Intake, Redact
from reverie.sessions.reading import Event, Opened, Reader, named, reader_of
from reverie.sessions.records import Records, Sources
from reverie.sessions.session import Head, Said

MOST_NAMES = 10_000
LONGEST = 1_000  # of what a transcript says about itself
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
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

    def add(self, path: Path, reader: str | None = None) -> Imported:
        """Twice is once. The path is nothing that is remembered: it is gone when this is done."""
        chosen = named(reader, self.readers) if reader else reader_of(path, self.readers)
        if chosen is None:
            raise NotATranscript(
                "The body is not a transcript any reader knows.",
                expected=f"one of the formats {', '.join(one.name for one in self.readers)}",
                next_step="Name the format with `reader`, and the file's own name with `filename`.",
            )
        owner = self.scope.user or ""
        run = Adding(
            self.scope, owner, self.records, self.sources, self.readers, lambda: Intake(owner, self.redact),
        )  # fmt: skip
        imported = Imported(run.added, chosen.name)
        run.events(self._of_sender(chosen.read(path), imported.names))
        return imported

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
        """A head that names nobody else and that a database can hold."""
        return replace(
            head, id=_clean(head.id), user=self.scope.user or _clean(head.user or "") or None,
            harness=_clean(head.harness), agent=_clean(head.agent or "") or None,
            title=_clean(head.title or "") or None, parent=_clean(head.parent or "") or None,
            facts={_clean(name): _clean(value) for name, value in head.facts.items()},
            project=_clean(head.project or "") or None, project_path=_clean(head.project_path or "") or None,
        )  # fmt: skip


def _clean(text: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)[:LONGEST]
