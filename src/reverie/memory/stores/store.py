"""A memory store: a named set of memories at paths, with a version for every change; and the ports behind it.

One document of a target is one memory; the row is the truth. A memory keeps its id when it is renamed; versions stay
when it is deleted, and go with the store. Every port method takes the Scope whose rows it may touch; its `user` None is
every user of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope

Operation = Literal["created", "modified", "deleted"]
Hand = Literal["api", "session", "user", "service_account"]


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a version, or of its redaction: a key, a session, a person."""

    hand: Hand
    id: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A finding of a scan in a memory's text, without repeating any of it."""

    category: str
    severity: str


@dataclass(frozen=True, slots=True)
class Store:
    """`user` is whose memory it is, '' the workspace's own. `held` counts its memories, `written` its versions."""

    id: str
    user: str
    name: str
    description: str
    metadata: Mapping[str, str]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    held: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class PageDates:
    """How old the statements of a memory are that a dream has written to: those in `said`, by their hashes, as old as
    the words they rest on; the others as old as the memory was before, in its present wording since `since` if that is
    known, and at least since `seen`."""

    since: datetime | None
    seen: datetime
    said: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """`content` is None where it was not asked for. `dates` is None where no dream has written since a program did."""

    id: str
    store: str
    path: str
    sha256: str
    size: int
    version: str
    created_at: datetime
    updated_at: datetime
    flags: tuple[Flag, ...] = ()
    content: bytes | None = None
    dates: PageDates | None = None

    @property
    def age(self) -> PageDates:
        """One that was never rewritten may be older than its row."""
        rewritten = self.updated_at if self.updated_at != self.created_at else None
        return self.dates or PageDates(rewritten, self.updated_at)


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A memory after one change. It never alters, except by redaction: then its text is gone."""

    id: str
    number: int
    store: str
    memory: str
    operation: Operation
    created_at: datetime
    author: Author
    change: str | None = None
    path: str | None = None
    sha256: str | None = None
    size: int | None = None
    flags: tuple[Flag, ...] = ()
    redacted_at: datetime | None = None
    redacted_by: Author | None = None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Prefix:
    """Stands for all memories whose paths begin with it."""

    path: str


@dataclass(frozen=True, slots=True)
class VersionQuery:
    """Which versions: all that are set must fit."""

    memory: str | None = None
    operation: Operation | None = None
    author: tuple[Author, ...] = ()
    made: TimeSpan = field(default_factory=TimeSpan)


# ---- what can come of wanting to change a memory -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PathTaken:
    """Another memory is there, or in the way: a folder cannot be a file. Nothing was changed."""

    memory: str
    path: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """The memory does not say what the writer believed it says. Nothing was changed."""

    expected: str
    found: str


Refused = PathTaken | Outdated


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The writer, the findings in the text, and which path becomes which without losing its memory's id.

    `each` is what the scan said of the text of one path, where several are written; `dates` are those of a path's
    statements, where they are not as old as the write.
    """

    author: Author
    flags: tuple[Flag, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, tuple[Flag, ...]] = field(default_factory=dict)
    dates: Mapping[str, PageDates] = field(default_factory=dict)

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
