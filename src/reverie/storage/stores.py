"""Memory stores, memories and versions in rows, which are the truth of what a memory says: implements
`reverie.memory.store.StoreRecords`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, bindparam, insert, null, or_, select, update

from reverie.core.clock import TimeSpan
from reverie.core.ids import Ids, from_json, values_of
from reverie.core.scope import Scope
from reverie.dreams.stores.dream import Clone, StoreDream, Withheld
from reverie.memory.store import (
    Author,
    Below,
    Flag,
    MemoryVersion,
    Prefix,
    Store,
    StoredMemory,
    VersionQuery,
    above,
    end_of_prefix,
    rolled_up,
)
from reverie.storage import ledger, schema
from reverie.storage.database import (
    SqlAdapter,
    hold,
    in_span,
    mine,
    owner_key,
    put_blob,
    read_blob,
    reading,
    writing,
)
from reverie.storage.erasure.texts import erase_store, redact_version
from reverie.storage.schema import memories, memory_stores, memory_versions

OWNER = ("workspace", "user")
AT_ONCE = 500
_ANYONES_STORE = select(memory_stores).where(
    *(memory_stores.c[name] == bindparam(name) for name in ("workspace", "id"))
)
_ONE_STORE = _ANYONES_STORE.where(memory_stores.c.user == bindparam("user"))
_ABOVE_OR_THERE = memories.c.path.in_(bindparam("paths", expanding=True))
_BELOW = (memories.c.path >= bindparam("from")) & (memories.c.path < bindparam("to"))


def store_from_row(found: Any) -> Store:
    return from_json(Store, {**found._mapping, **json.loads(found.details)})


def store_details(store: Store) -> str:
    return json.dumps({"name": store.name, "description": store.description, "metadata": dict(store.metadata)})


def memory_from_row(found: Any) -> StoredMemory:
    dates = json.loads(found.dates) if found.dates else None
    if dates:
        dates["said"] = {name: datetime.fromisoformat(at) for name, at in dates["said"].items()}
    parts = {"flags": flags_from(found.flags), "content": _bytes(found.content), "dates": dates}
    return from_json(StoredMemory, {**found._mapping, **parts})


def version_from_row(found: Any) -> MemoryVersion:
    parts = {
        "author": Author(found.hand, found.author),
        "change": found.change_id,
        "redacted_by": Author(found.redacted_hand, found.redacted_by) if found.redacted_by else None,
        "flags": flags_from(found.flags),
        "content": _bytes(found.content),
    }
    return from_json(MemoryVersion, {**found._mapping, **parts})


def flags_from(text: str) -> tuple[Flag, ...]:
    return tuple(Flag(*one) for one in json.loads(text))


@cache
def with_content(table: Table, full: bool, *names: str) -> Select[Any]:
    """Rows of a table that names its content by hash, with the content itself if it is asked for.

    The values of the names come when it is run. Built once: building costs more than running.
    """
    wanted = [table.c[name] == bindparam(name) for name in (*OWNER, *names)]
    if not full:
        return select(table, null().label("content")).where(*wanted)
    blobs = schema.blobs
    same = and_(blobs.c.workspace == table.c.workspace, blobs.c.user == table.c.user, blobs.c.sha256 == table.c.sha256)
    return select(table, blobs.c.content).select_from(table.outerjoin(blobs, same)).where(*wanted)


_CONFLICTING = (
    with_content(memories, False, "store")
    .where(or_(_ABOVE_OR_THERE, _BELOW), memories.c.id != bindparam("but"))
    .limit(1)
)


def _bytes(content: Any) -> bytes | None:
    return None if content is None else bytes(content)


def put_content(connection: Connection, scope: Scope, content: bytes, flags: Iterable[Flag]) -> dict[str, Any]:
    told = json.dumps([[flag.category, flag.severity] for flag in flags])
    return {"sha256": put_blob(connection, scope, content), "size": len(content), "flags": told}


def cloned(
    connection: Connection, scope: Scope, dream: StoreDream, clone: Clone, *, ids: Ids, at: datetime
) -> tuple[Withheld, ...]:
    """Copy a store row by row, in one transaction. Each memory begins with one version; how old it is it keeps.

    What looks unsafe stays behind, so that the copy never held it, in no version: this says what that was. Texts are
    kept once for each person, so none of them is copied.
    """
    ours, output = owner_key(scope), clone.output
    found = connection.execute(
        select(memories).filter_by(**ours, store=dream.store).order_by(memories.c.path)
    ).mappings()
    safe, withheld = _without_unsafe(connection, scope, [dict(row) for row in found], clone)
    rows = [row | {"store": output.id, "id": ids.new("mem"), "version": ids.new("memver")} for row in safe]
    told = {"id": output.id, "details": store_details(output), "held": len(rows), "written": len(rows)}
    times = {"created_at": at, "updated_at": at, "archived_at": None}
    connection.execute(insert(memory_stores), ours | told | times)
    kept = (*OWNER, "store", "path", "sha256", "size", "flags")
    by = {"hand": "session", "author": dream.session, "created_at": at, "operation": "created"}
    made = [
        {name: row[name] for name in kept} | by | {"id": row["version"], "number": number, "memory": row["id"]}
        for number, row in enumerate(rows, 1)
    ]
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(insert(memories), rows[start : start + AT_ONCE])
        connection.execute(insert(memory_versions), made[start : start + AT_ONCE])
    return withheld


def _without_unsafe(
    connection: Connection, scope: Scope, found: list[dict[str, Any]], clone: Clone
) -> tuple[list[dict[str, Any]], tuple[Withheld, ...]]:
    """Looked at is only what the scan found something in when it was written."""
    safe, withheld = list[dict[str, Any]](), list[Withheld]()
    for row in found:
        cleaned = None
        if flags_from(row["flags"]):
            cleaned = clone.clean(row["path"], read_blob(connection, scope, row["sha256"]) or b"")
        if cleaned is None:
            safe.append(row)
            continue
        withheld.append(cleaned.withheld)
        if cleaned.left is not None:
            safe.append(row | put_content(connection, scope, cleaned.left, cleaned.flags))
    return safe, tuple(withheld)


def store_key(scope: Scope, store: str) -> str:
    """The key of a store as a target: history is kept by it."""
    return f"store:{scope.workspace}/{store}"


class SqlStores(SqlAdapter):
    # ---- stores ------------------------------------------------------------------------------------------------------

    def add(self, scope: Scope, store: Store) -> None:
        times = values_of(store, ("created_at", "updated_at", "archived_at"))
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
        found = self._first(
            scope, _ANYONES_STORE if scope.user is None else _ONE_STORE, owner_key(scope) | {"id": store}
        )
        return None if found is None else store_from_row(found)

    def stores(self, scope: Scope, made: TimeSpan, *, archived: bool, after: str | None, limit: int) -> list[Store]:
        table = memory_stores.c
        asked = select(memory_stores).where(mine(memory_stores, scope)).order_by(table.id.desc()).limit(limit)
        asked = in_span(asked, table.created_at, made)
        if not archived:
            asked = asked.where(table.archived_at.is_(None))
        if after is not None:
            asked = asked.where(table.id < after)
        return [store_from_row(found) for found in self._rows(scope, asked)]

    def delete(self, scope: Scope, store: str) -> None:
        with writing(self._engine, scope) as connection:
            hold(connection, store_key(scope, store))
            erase_store(connection, scope, store, store_key(scope, store))
            self._tell(connection, scope, store, "deleted")

    def _tell(self, connection: Any, scope: Scope, store: str, done: str) -> None:
        """The ledger names the store; what people call it is content."""
        body = {"store": store, "done": done, "actor": scope.actor}
        ledger.append_to_ledger(connection, scope, "store", body, self._clock.now())

    # ---- memories ----------------------------------------------------------------------------------------------------

    def memory(self, scope: Scope, store: str, memory: str, *, full: bool) -> StoredMemory | None:
        asked = with_content(memories, full, "store", "id")
        return self._one(scope, asked, owner_key(scope) | {"store": store, "id": memory})

    def at(self, scope: Scope, store: str, path: str) -> StoredMemory | None:
        asked = with_content(memories, True, "store", "path")
        return self._one(scope, asked, owner_key(scope) | {"store": store, "path": path})

    def in_the_way(self, scope: Scope, store: str, path: str, but: str | None) -> StoredMemory | None:
        below = f"{path}/"
        there = {"store": store, "paths": [path, *above(path)], "from": below, "to": end_of_prefix(below)}
        return self._one(scope, _CONFLICTING, owner_key(scope) | there | {"but": but or ""})

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
        return [row.path for row in self._rows(scope, asked)]

    def _one(self, scope: Scope, asked: Select[Any], given: dict[str, Any]) -> StoredMemory | None:
        found = self._first(scope, asked, given)
        return None if found is None else memory_from_row(found)

    # ---- versions ----------------------------------------------------------------------------------------------------

    def version(self, scope: Scope, store: str, version: str, *, full: bool) -> MemoryVersion | None:
        asked = with_content(memory_versions, full, "store", "id")
        found = self._first(scope, asked, owner_key(scope) | {"store": store, "id": version})
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
        return [version_from_row(found) for found in self._rows(scope, asked, owner_key(scope) | {"store": store})]

    def redact(self, scope: Scope, version: MemoryVersion, by: Author, at: datetime) -> None:
        with writing(self._engine, scope) as connection:
            redact_version(connection, scope, version, by, at)
            body = {"store": version.store, "version": version.id, "actor": scope.actor}
            ledger.append_to_ledger(connection, scope, "redaction", body, at)


def _beyond(asked: Select[Any], prefix: str, after: str | None) -> Select[Any]:
    """Paths below a prefix and behind the last one given out; behind a folder is behind all that is in it."""
    path = memories.c.path
    asked = asked.where(path >= prefix, path < end_of_prefix(prefix))
    if after is None:
        return asked
    return asked.where(path >= end_of_prefix(after) if after.endswith("/") else path > after)
