"""What history needs of a database, in three small ports. One adapter implements them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from reverie.changes.history.change import Change
from reverie.changes.history.ledger import Row
from reverie.core.scope import Scope


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry as it was last seen. `since` is None when it was there before Reverie first looked.

    `seen` is when its present wording was first seen: the wording is at least that old.
    """

    id: str
    sha256: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: str


@dataclass(frozen=True, slots=True)
class Known:
    """A document as it was last seen: its bytes, the ledger's number then, and its entries in no order."""

    content: bytes | None
    number: int
    entries: tuple[KnownEntry, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of a Change among the entries of one document: hashes for what is new, ids for what was there.
    `critical` are those of the new that were critical where they stood before."""

    new: tuple[str, ...] = ()
    edited: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()
    critical: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Which Changes: newest first, unless asked otherwise. `ours`: without what was found or written from outside."""

    target: str | None = None
    subject: str | None = None
    document: str | None = None
    after: int = 0
    upto: int | None = None
    until: datetime | None = None
    limit: int | None = None
    proposal: str | None = None
    dream: str | None = None
    undoes: str | None = None
    oldest_first: bool = False
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Anchored:
    """A landed Change and the hash of its row in the ledger."""

    change: Change
    hash: str


class Changing(Protocol):
    def intend(self, scope: Scope, change: Change) -> None:
        """Commit what is about to be written, with the bytes on both sides. A proposal has one such Change."""
        ...

    def settle(
        self, scope: Scope, change: Change, moves: Mapping[str, Moves], instead_of: Change | None = None
    ) -> Change:
        """Commit that it was written: standing, documents, entries and the ledger's row at once; and that `instead_of`,
        which was intended, was not."""
        ...

    def drop(self, scope: Scope, change: Change, note: str) -> None:
        """Commit that it will not be written after all."""
        ...

    def mark(self, scope: Scope, entry: str, critical: bool) -> None: ...

    def keep_rule(self, scope: Scope, target: str, document: str, rule: KnownEntry) -> str:
        """The id of the row that a rule of a skill has from now on, so that it can be marked. Twice is once."""
        ...


class HistoryReader(Protocol):
    def known(self, scope: Scope, target: str, document: str, at: int | None = None) -> Known | None:
        """A document as it was last seen, or as it was when the ledger had reached the number `at`."""
        ...

    def documents(self, scope: Scope, target: str | None = None, under: str = "") -> list[tuple[str, str]]:
        """Target and path of every document ever seen whose path begins so."""
        ...

    def content(self, scope: Scope, sha256: str) -> bytes | None:
        """The bytes with this hash, if they stood on either side of a Change."""
        ...

    def critical(self, scope: Scope) -> frozenset[str]:
        """The hashes of all statements that are marked critical."""
        ...

    def get(self, scope: Scope, change: str) -> Change | None: ...

    def find(self, scope: Scope, asked: ChangeQuery) -> list[Change]: ...

    def unsettled(self, scope: Scope, target: str | None = None, subject: str | None = None) -> list[Change]:
        """Changes that were intended and neither landed nor dropped: a crash left them. Oldest first."""
        ...


class Chain(Protocol):
    def append(self, scope: Scope, kind: str, body: Mapping[str, Any]) -> Row: ...

    def rows(self, scope: Scope) -> Iterator[Row]: ...

    def anchored(self, scope: Scope, target: str, after: int = 0) -> Iterator[Anchored]:
        """The landed Changes of a target, oldest first, behind this number."""
        ...

    def mismatches(self, scope: Scope) -> Iterator[str]:
        """Where the ledger and the Changes it tells of do not say the same."""
        ...


class HistoryRecords(Changing, HistoryReader, Chain, Protocol):
    """All of it."""
