"""What dreams over stores need of a database beside what every night needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Status
from reverie.dreams.records import Dreams, Lease, Queued
from reverie.dreams.stores.dream import StoreDream
from reverie.dreams.stores.unsafe import Cleaned
from reverie.memory.store import Store
from reverie.transcripts.recorded import Recorded


@dataclass(frozen=True, slots=True)
class DreamQuery:
    """Which dreams: all that is set must fit."""

    made: TimeSpan
    statuses: tuple[Status, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Clone:
    """The output to be, and what is to come along of a memory in which the scan found something."""

    output: Store
    clean: Callable[[str, bytes], Cleaned | None]


@dataclass(frozen=True, slots=True)
class Located:
    """A dream with whose memory it is about: of a workspace, and in it of a person; empty: nobody's."""

    workspace: str
    user: str
    dream: Dream


class KeptStoreDreams(Protocol):
    def add(self, scope: Scope, made: StoreDream, dream: Dream, own: Recorded) -> StoreDream | None:
        """Keep one that is to come and its own session, or neither. Returned is another that rewrites the same store
        and is not over: then not."""
        ...

    def one(self, scope: Scope, dream: str) -> StoreDream | None: ...

    def listed(self, scope: Scope, which: DreamQuery, after: str | None, limit: int) -> list[StoreDream]:
        """Newest first, behind the one with the id `after`."""
        ...

    def alter(self, scope: Scope, dream: str, change: Callable[[StoreDream], StoreDream]) -> StoreDream | None:
        """Its archiving, error, usage and what was decided, in one transaction. Its status is the night's."""
        ...

    def waiting(self) -> list[Queued]:
        """The dreams that wait for a worker, of every workspace, oldest first. It has no Scope: whose rows a dream
        touches is what the dream says."""
        ...

    def anywhere(self, dream: str) -> Located | None:
        """A dream of any workspace, by its id. It has no Scope, as it is for who runs the machine."""
        ...

    def of_others(self, scope: Scope, limit: int) -> list[Located]:
        """The last dreams over memory stores that are not this person's, of every workspace, newest first. For who
        runs the machine, too."""
        ...

    def unfinished_anywhere(self) -> bool:
        """Whether any dream over a store, or any queued night, is not over."""
        ...


class Cloning(Protocol):
    def begin(self, lease: Lease, dream: Dream, made: StoreDream, clone: Clone | None) -> StoreDream:
        """That it runs and what it reads; and the output as a clone of the input, row by row, in one transaction.
        What was withheld from it is kept with the dream."""
        ...


class StoreDreamRecords(Dreams, KeptStoreDreams, Cloning, Protocol):
    """All of it. One adapter implements them."""
