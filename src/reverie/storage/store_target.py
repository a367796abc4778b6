"""A memory store as a Target: one document for each path, each one statement. Rows are the truth.

Two ways lead to it, and each keeps the other out. Within a `SqlStoreTransaction` everything that is written about a
store (rows, Change, ledger) is one transaction. A `StoreTarget` by itself is a Target like any other: its lock is held
across transactions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update

from reverie.changes.ledger import Change
from reverie.core.clock import Clock
from reverie.core.errors import NotFound
from reverie.core.ids import Ids, json_ready
from reverie.core.scope import Scope
from reverie.memory.store import LARGEST_MEMORY_BYTES, Operation, WriteContext
from reverie.memory.target import Displaced, Held, Place
from reverie.storage.database import held_across, hold, owner_key, part_of, writing
from reverie.storage.history import SqlHistory
from reverie.storage.schema import memories, memory_stores, memory_versions
from reverie.storage.stores import OWNER, SqlStores, put_content, store_key
from reverie.system.files import PATIENCE_SECONDS, flocked

_TIED = (
    update(memory_versions)
    .where(*(memory_versions.c[name] == bindparam(f"of_{name}") for name in (*OWNER, "store", "id")))
    .values(change_id=bindparam("change_id"))
)
_MEMORY_AT = select(memories.c.id).where(*(memories.c[name] == bindparam(name) for name in (*OWNER, "store", "path")))
_ONE_MORE = (
    update(memory_stores)
    .where(*(memory_stores.c[name] == bindparam(f"of_{name}") for name in (*OWNER, "id")))
    .values(held=memory_stores.c.held + bindparam("more"), written=memory_stores.c.written + 1)
    .returning(memory_stores.c.written)
)
PURPOSE = "One memory of a store. Read in the sessions the store is attached to."


class StoreLocks:
    """Postgres: an advisory lock for each store. SQLite has one writer, so one file is the lock of all stores."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._file = folder / "stores.lock"
        self._turn = RLock()  # within a process one waits without asking again and again

    @contextmanager
    def transaction(self, scope: Scope, key: str) -> Iterator[Connection]:
        """One transaction under the lock."""
        if self._engine.dialect.name == "postgresql":
            with writing(self._engine, scope) as connection:
                hold(connection, key)
                yield connection
        else:
            with self._turn, flocked(self._file, PATIENCE_SECONDS), writing(self._engine, scope) as connection:
                yield connection

    @contextmanager
    def across(self, key: str) -> Iterator[None]:
        """The lock alone, for writes that are transactions of their own."""
        if self._engine.dialect.name != "postgresql":
            with self._turn, flocked(self._file, PATIENCE_SECONDS):
                yield
        else:
            with held_across(self._engine, key, wait=True):
                yield


@dataclass(eq=False)
class StoreTarget:
    """Implements `reverie.memory.target.Target`. `locks` is None where the lock is held already."""

    engine: Engine
    scope: Scope
    name: str
    pen: WriteContext
    clock: Clock
    ids: Ids
    locks: StoreLocks | None
    made: list[str] = field(default_factory=list)  # the versions written here
    reach: str = "every session this memory store is attached to"

    def __post_init__(self) -> None:
        self.key = store_key(self.scope, self.name)
        self._rows = SqlStores(self.engine, self.clock)

    def places(self) -> list[Place]:
        paths = self._rows.paths(self.scope, self.name)
        return [Place(path, "whole", LARGEST_MEMORY_BYTES, purpose=PURPOSE) for path in paths]

    def read(self, document: str) -> bytes | None:
        found = self._rows.at(self.scope, self.name, document)
        return found.content if found else None

    def write(self, document: str, content: bytes | None, expected: bytes | None) -> bool:
        """Take `expected` for granted: who writes rows has the lock."""
        if content is None and document in self.pen.moves:
            return True  # half of a rename makes no version: the other half does
        came_from = {new: old for old, new in self.pen.moves.items()}.get(document, document)
        ours, at = owner_key(self.scope) | {"store": self.name}, self.clock.now()
        with writing(self.engine, self.scope) as connection:
            found = connection.execute(_MEMORY_AT, ours | {"path": came_from}).scalar()
            if found is None and content is None:
                return True
            operation: Operation = "created" if found is None else "deleted" if content is None else "modified"
            memory, version = found or self.ids.new("mem"), self.ids.new("memver")
            # One version more, and as many memories more or less. Says the version's number.
            more = {"created": 1, "deleted": -1}.get(operation, 0)
            given = {"of_workspace": self.scope.workspace, "of_user": self.scope.user or "", "of_id": self.name}
            number: int | None = connection.execute(_ONE_MORE, given | {"more": more}).scalar()
            if number is None:
                raise NotFound(f"There is no memory store {self.name}.")
            said: dict[str, Any] = {"sha256": None, "size": None, "flags": "[]"}
            if content is not None:
                said = put_content(connection, self.scope, content, self.pen.flags_at(document))
            dates = self.pen.dates.get(document)
            now = said | {"path": document, "version": version, "updated_at": at}
            now |= {"dates": None if dates is None else json.dumps(json_ready(dates))}
            match operation:
                case "created":
                    connection.execute(insert(memories), ours | now | {"id": memory, "created_at": at})
                case "modified":
                    connection.execute(update(memories).filter_by(**ours, id=memory).values(**now))
                case "deleted":
                    connection.execute(delete(memories).filter_by(**ours, id=memory))
            told = {"id": version, "number": number, "memory": memory, "operation": operation, "path": document}
            by = {"hand": self.pen.author.hand, "author": self.pen.author.id, "created_at": at}
            connection.execute(insert(memory_versions), ours | said | told | by)
        self.made.append(version)
        return True

    def alone(self, document: str) -> AbstractContextManager[None]:
        return nullcontext()

    def displaced(self, document: str) -> list[Displaced]:
        return []

    def clean_displaced(self, document: str, clean: Callable[[bytes], bytes]) -> int:
        return 0

    @contextmanager
    def held(self, document: str) -> Iterator[Held]:
        if self.locks is None:
            yield self
            return
        with self.locks.across(self.key):
            yield self


@dataclass(frozen=True, slots=True)
class SqlStoreTransaction:
    """Implements `reverie.changes.stores.StoreTransaction`."""

    connection: Connection
    scope: Scope
    store: str
    clock: Clock
    ids: Ids
    targets: list[StoreTarget]

    @property
    def history(self) -> SqlHistory:
        return SqlHistory(part_of(self.connection), self.clock, self.ids)

    @property
    def stores(self) -> SqlStores:
        return SqlStores(part_of(self.connection), self.clock)

    def target(self, pen: WriteContext) -> StoreTarget:
        engine = part_of(self.connection)
        made = StoreTarget(engine, self.scope, self.store, pen, self.clock, self.ids, None)
        self.targets.append(made)
        return made

    def tie(self, change: Change) -> None:
        """Those written since the last Change: several can be made in one transaction."""
        told = {"of_workspace": self.scope.workspace, "of_user": self.scope.user or "", "of_store": self.store}
        for version in (version for target in self.targets for version in target.made):
            self.connection.execute(_TIED, told | {"of_id": version, "change_id": change.id})
        self.targets.clear()


@dataclass(frozen=True, slots=True)
class StoreTransactions:
    """Implements `reverie.changes.stores.Transact`."""

    locks: StoreLocks
    clock: Clock
    ids: Ids

    @contextmanager
    def __call__(self, scope: Scope, store: str) -> Iterator[SqlStoreTransaction]:
        with self.locks.transaction(scope, store_key(scope, store)) as connection:
            yield SqlStoreTransaction(connection, scope, store, self.clock, self.ids, [])
