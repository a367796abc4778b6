"""Memory stores: implements `reverie.memory.store.StoreRecords`. Rows are the truth of what a memory says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Engine, Select, bindparam, insert, or_, select, update

from reverie.core.clock import Clock, TimeSpan
from reverie.core.scope import Scope
from reverie.memory.store import (
    Author,
    Below,
    MemoryVersion,
    Prefix,
    Store,
    StoredMemory,
    VersionQuery,
    above,
    end_of_prefix,
    rolled_up,
)
from reverie.storage.changes import ledger
from reverie.storage.database.queries import in_span, mine, owner_key
from reverie.storage.database.schema import memories, memory_stores, memory_versions
from reverie.storage.database.transactions import hold, reading, writing
from reverie.storage.erasure.texts import erase_store, redact_version
from reverie.storage.stores.rows import (
    OWNER,
    memory_from_row,
    store_details,
    store_from_row,
    version_from_row,
    with_content,
)


def store_key(scope: Scope, store: str) -> str:
    """The key of a store as a target: history is kept by it."""
    return f"store:{scope.workspace}/{store}"


class SqlStores:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    # ---- KeptStores --------------------------------------------------------------------------------------------------

    def add(self, scope: Scope, store: Store) -> None:
        times = {name: getattr(store, name) for name in ("created_at", "updated_at", "archived_at")}
        row = owner_key(scope) | times | {"id": store.id, "details": store_details(store), "held": 0, "written": 0}
        with writing(self._engine, scope) as connection:
            connection.execute(insert(memory_stores), row)
            self._tell(connection, scope, store.id, "created")

    def change(self, scope: Scope, store: str, change: Callable[[Store], Store], done: str) -> Store | None:
        asked = select(memory_stores).filter_by(**owner_key(scope), id=store)
        with writing(self._engine, scope) as connection:
            found = connection.execute(asked.with_for_update()).first()
            if found is None:
                return None
            old = store_from_row(found)
            new = change(old)
            if new != old:
                said = {"details": store_details(new), "updated_at": new.updated_at, "archived_at": new.archived_at}
                connection.execute(update(memory_stores).filter_by(**owner_key(scope), id=store).values(**said))
                self._tell(connection, scope, store, done)
            return new

    def store(self, scope: Scope, store: str) -> Store | None:
        with reading(self._engine, scope) as connection:
            found = connection.execute(_one_store(scope.user is None), owner_key(scope) | {"id": store}).first()
        return None if found is None else store_from_row(found)

    def stores(self, scope: Scope, made: TimeSpan, *, archived: bool, after: str | None, limit: int) -> list[Store]:
        table = memory_stores.c
        asked = select(memory_stores).where(mine(memory_stores, scope)).order_by(table.id.desc()).limit(limit)
        asked = in_span(asked, table.created_at, made)
        if not archived:
            asked = asked.where(table.archived_at.is_(None))
        if after is not None:
            asked = asked.where(table.id < after)
        with reading(self._engine, scope) as connection:
            return [store_from_row(found) for found in connection.execute(asked)]

    def delete(self, scope: Scope, store: str) -> None:
        with writing(self._engine, scope) as connection:
            hold(connection, store_key(scope, store))
            erase_store(connection, scope, store, store_key(scope, store))
            self._tell(connection, scope, store, "deleted")

    def _tell(self, connection: Any, scope: Scope, store: str, done: str) -> None:
        """The ledger names the store; what people call it is content."""
        body = {"store": store, "done": done, "actor": scope.actor}
        ledger.append_to_ledger(connection, scope, "store", body, self._clock.now())

    # ---- KeptMemories ------------------------------------------------------------------------------------------------

    def memory(self, scope: Scope, store: str, memory: str, *, full: bool) -> StoredMemory | None:
        asked = with_content(memories, full, "store", "id")
        return self._one(scope, asked, owner_key(scope) | {"store": store, "id": memory})

    def at(self, scope: Scope, store: str, path: str) -> StoredMemory | None:
        asked = with_content(memories, True, "store", "path")
        return self._one(scope, asked, owner_key(scope) | {"store": store, "path": path})

    def in_the_way(self, scope: Scope, store: str, path: str, but: str | None) -> StoredMemory | None:
        below = f"{path}/"
        there = {
            "store": store,
            "paths": [path, *above(path)],
            "from": below,
            "to": end_of_prefix(below),
            "but": but or "",
        }
        return self._one(scope, _conflicting(), owner_key(scope) | there)

    def memories(
        self, scope: Scope, store: str, below: Below, after: str | None, *, limit: int, full: bool
    ) -> list[StoredMemory | Prefix]:
        ours = {**owner_key(scope), "store": store}
        chosen = with_content(memories, full, "store").order_by(memories.c.path)
        with reading(self._engine, scope) as connection:
            if not below.depth:
                page = connection.execute(_beyond(chosen, below.prefix, after).limit(limit), ours)
                return [memory_from_row(found) for found in page]
            names = select(memories.c.path).filter_by(**ours).order_by(memories.c.path)
            shown = rolled_up(connection.execute(_beyond(names, below.prefix, after)).scalars(), below.prefix, limit)
            found = connection.execute(chosen.where(memories.c.path.in_(shown)), ours)
            there = {one.path: memory_from_row(one) for one in found}
        return [there.get(path) or Prefix(path) for path in shown]

    def paths(self, scope: Scope, store: str) -> list[str]:
        asked = select(memories.c.path).filter_by(**owner_key(scope), store=store).order_by(memories.c.path)
        with reading(self._engine, scope) as connection:
            return list(connection.execute(asked).scalars())

    def _one(self, scope: Scope, asked: Select[Any], given: dict[str, Any]) -> StoredMemory | None:
        with reading(self._engine, scope) as connection:
            found = connection.execute(asked, given).first()
        return None if found is None else memory_from_row(found)

    # ---- KeptVersions ------------------------------------------------------------------------------------------------

    def version(self, scope: Scope, store: str, version: str, *, full: bool) -> MemoryVersion | None:
        asked = with_content(memory_versions, full, "store", "id")
        with reading(self._engine, scope) as connection:
            found = connection.execute(asked, owner_key(scope) | {"store": store, "id": version}).first()
        return None if found is None else version_from_row(found)

    def versions(
        self, scope: Scope, store: str, chosen: VersionQuery, after: int | None, limit: int, *, full: bool
    ) -> list[MemoryVersion]:
        table = memory_versions.c
        asked = with_content(memory_versions, full, "store")
        asked = in_span(asked, table.created_at, chosen.made).order_by(table.number.desc()).limit(limit)
        for column, wanted in ((table.memory, chosen.memory), (table.operation, chosen.operation)):
            asked = asked if wanted is None else asked.where(column == wanted)
        for author in chosen.author:
            asked = asked.where(table.hand == author.hand, table.author == author.id)
        if after is not None:
            asked = asked.where(table.number < after)
        with reading(self._engine, scope) as connection:
            found = connection.execute(asked, owner_key(scope) | {"store": store})
            return [version_from_row(one) for one in found]

    def redact(self, scope: Scope, version: MemoryVersion, by: Author, at: datetime) -> None:
        with writing(self._engine, scope) as connection:
            redact_version(connection, scope, version, by, at)
            body = {"store": version.store, "version": version.id, "actor": scope.actor}
            ledger.append_to_ledger(connection, scope, "redaction", body, at)


@cache
def _one_store(of_any_user: bool) -> Select[Any]:
    names = ("workspace", "id") if of_any_user else (*OWNER, "id")
    return select(memory_stores).where(*(memory_stores.c[name] == bindparam(name) for name in names))


@cache
def _conflicting() -> Select[Any]:
    path = memories.c.path
    above_or_there = path.in_(bindparam("paths", expanding=True))
    there = or_(above_or_there, (path >= bindparam("from")) & (path < bindparam("to")))
    return with_content(memories, False, "store").where(there, memories.c.id != bindparam("but")).limit(1)


def _beyond(asked: Select[Any], prefix: str, after: str | None) -> Select[Any]:
    """Paths below a prefix and behind the last one given out; behind a folder is behind all that is in it."""
    path = memories.c.path
    asked = asked.where(path >= prefix, path < end_of_prefix(prefix))
    if after is None:
        return asked
    return asked.where(path >= end_of_prefix(after) if after.endswith("/") else path > after)
