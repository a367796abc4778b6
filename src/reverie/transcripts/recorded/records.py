"""What recorded sessions need of a database, in two small ports. One adapter implements each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope
from reverie.transcripts.recorded.session import (
    Definition,
    Kind,
    Recorded,
    RecordedEvent,
    RecordedQuery,
    Walk,
)
from reverie.transcripts.session import Head, Turn


class DefinitionRecords(Protocol):
    def add(self, scope: Scope, kind: Kind, made: Definition) -> None: ...

    def change(
        self, scope: Scope, kind: Kind, name: str, change: Callable[[Definition], Definition]
    ) -> Definition | None:
        """Read and written in one transaction; a new version is kept beside the older ones. Not what is shared."""
        ...

    def one(self, scope: Scope, kind: Kind, name: str, version: int | None = None) -> Definition | None:
        """Of this scope, or shared by its workspace."""
        ...

    def find(self, scope: Scope, kind: Kind, made: TimeSpan, walk: Walk, *, archived: bool) -> list[Definition]: ...

    def versions(self, found: Definition, scope: Scope, kind: Kind, walk: Walk) -> list[Definition]: ...

    def delete(self, scope: Scope, kind: Kind, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class SpokenEvents:
    """Events, and the words of theirs in the session's transcript. Without a head there is no transcript."""

    events: Sequence[RecordedEvent]
    head: Head | None
    turns: Sequence[Turn]


class RecordedSessions(Protocol):
    def add(self, scope: Scope, session: Recorded, first: SpokenEvents | None = None) -> None:
        """With its first events, in one transaction: who is told that it failed may try again, and has one session."""
        ...

    def change(self, scope: Scope, name: str, change: Callable[[Recorded], Recorded]) -> Recorded | None: ...

    def one(self, scope: Scope, name: str) -> Recorded | None: ...

    def find(self, scope: Scope, which: RecordedQuery, walk: Walk) -> list[Recorded]: ...

    def delete(self, scope: Scope, name: str) -> None:
        """With its events, and its words wherever they are kept."""
        ...


class RecordedEvents(Protocol):
    def record(self, scope: Scope, name: str, spoken: SpokenEvents) -> list[RecordedEvent]:
        """Behind the events there are, in one transaction.

        Returned are the events with their numbers; none when the session was deleted meanwhile.
        """
        ...

    def events(
        self, scope: Scope, name: str, types: Sequence[str], at: TimeSpan, walk: Walk
    ) -> list[RecordedEvent]: ...

    def last(self, scope: Scope, name: str) -> int | None:
        """The number of the last event; None when there is no such session."""
        ...


class RecordedRecords(RecordedSessions, RecordedEvents, Protocol):
    """Both."""
