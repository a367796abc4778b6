"""What memory stores need of a database, in three small ports. One adapter implements them all.

Every method takes the Scope whose rows it may touch; `user` None is every user of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope
from reverie.memory.stores.store import Author, Flag, MemoryVersion, Prefix, Store, StoredMemory, VersionQuery


@dataclass(frozen=True, slots=True)
class Pen:
    """The writer, the findings in the text, and which path becomes which without losing its memory's id.

    `each` is what the scan said of the text of one path, where several are written.
    """

    author: Author
    flags: tuple[Flag, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, tuple[Flag, ...]] = field(default_factory=dict)

    def flags_at(self, path: str) -> tuple[Flag, ...]:
        return self.each.get(path, self.flags)


@dataclass(frozen=True, slots=True)
class Below:
    """Which memories: those below a prefix, and with `depth` 1 what is further down rolled up."""

    prefix: str
    depth: int


class KeptStores(Protocol):
    def add(self, scope: Scope, store: Store) -> None: ...

    def change(self, scope: Scope, store: str, change: Callable[[Store], Store], done: str) -> Store | None:
        """Change what is said of it in one transaction, with the ledger's row. The same is no change."""
        ...

    def store(self, scope: Scope, store: str) -> Store | None: ...

    def stores(self, scope: Scope, made: TimeSpan, *, archived: bool, after: str | None, limit: int) -> list[Store]:
        """Newest first, behind the store with the id `after`."""
        ...

    def delete(self, scope: Scope, store: str) -> None:
        """Take it away with its memories, its versions and every text its history holds. The ledger stays."""
        ...


class KeptMemories(Protocol):
    def memory(self, scope: Scope, store: str, memory: str, *, full: bool) -> StoredMemory | None: ...

    def at(self, scope: Scope, store: str, path: str) -> StoredMemory | None: ...

    def memories(
        self, scope: Scope, store: str, below: Below, after: str | None, *, limit: int, full: bool
    ) -> list[StoredMemory | Prefix]: ...

    def in_the_way(self, scope: Scope, store: str, path: str, but: str | None) -> StoredMemory | None:
        """A memory at this path, above it or below it, other than the one named."""
        ...


class KeptVersions(Protocol):
    def version(self, scope: Scope, store: str, version: str, *, full: bool) -> MemoryVersion | None: ...

    def versions(
        self, scope: Scope, store: str, chosen: VersionQuery, after: int | None, limit: int, *, full: bool
    ) -> list[MemoryVersion]:
        """Newest first, behind the version with the number `after`."""
        ...

    def redact(self, scope: Scope, version: MemoryVersion, by: Author, at: datetime) -> None:
        """Take its text and path away, out of history too wherever nothing else needs it."""
        ...


class StoreRecords(KeptStores, KeptMemories, KeptVersions, Protocol):
    """All of it."""
