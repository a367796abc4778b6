"""What one write to a path makes of the rows: the memory as it is now, and a version that stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, insert, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from reverie.core.errors import NotFound
from reverie.core.hashes import sha256
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.stores.store import Operation, WriteContext
from reverie.storage.database.rows import owner_key
from reverie.storage.database.schema import blobs, memories, memory_stores, memory_versions
from reverie.storage.database.upsert import put_if_new
from reverie.storage.stores.rows import OWNER, flags_as_json


@dataclass(frozen=True, slots=True)
class Write:
    """A path that is to hold these bytes; None takes the memory away."""

    store: str
    path: str
    content: bytes | None
    pen: WriteContext
    at: datetime


def write_version(connection: Connection, scope: Scope, ids: Ids, write: Write) -> str | None:
    """The id of the version that was made. Half of a rename makes none: the other half does."""
    if write.content is None and write.path in write.pen.moves:
        return None
    came_from = {new: old for old, new in write.pen.moves.items()}.get(write.path, write.path)
    ours = owner_key(scope) | {"store": write.store}
    found = connection.execute(_at(), ours | {"path": came_from}).scalar()
    if found is None and write.content is None:
        return None
    made = _Made(found or ids.new("mem"), ids.new("memver"), _operation(found, write))
    # One version more, and as many memories more or less. Says the version's number.
    more = {"created": 1, "deleted": -1}.get(made.operation, 0)
    given = {"of_workspace": scope.workspace, "of_user": scope.user or "", "of_id": write.store, "more": more}
    number: int | None = connection.execute(_one_more(), given).scalar()
    if number is None:
        raise NotFound(f"There is no memory store {write.store}.")
    said = _said(connection, scope, write)
    _keep(connection, ours, made, write, said)
    told = {"id": made.version, "number": number, "memory": made.memory, "operation": made.operation}
    by = {"hand": write.pen.author.hand, "author": write.pen.author.id, "created_at": write.at, "path": write.path}
    connection.execute(insert(memory_versions), ours | said | told | by)
    return made.version


@dataclass(frozen=True, slots=True)
class _Made:
    memory: str
    version: str
    operation: Operation


def _operation(found: str | None, write: Write) -> Operation:
    if found is None:
        return "created"
    return "deleted" if write.content is None else "modified"


@cache
def _at() -> Select[Any]:
    return select(memories.c.id).where(*(memories.c[name] == bindparam(name) for name in (*OWNER, "store", "path")))


@cache
def _one_more() -> ReturningUpdate[Any]:
    table = memory_stores
    counted = update(table).where(*(table.c[name] == bindparam(f"of_{name}") for name in (*OWNER, "id")))
    more = {"held": table.c.held + bindparam("more"), "written": table.c.written + 1}
    return counted.values(**more).returning(table.c.written)


def _said(connection: Connection, scope: Scope, write: Write) -> dict[str, Any]:
    if write.content is None:
        return {"sha256": None, "size": None, "flags": "[]"}
    name = sha256(write.content)
    put_if_new(connection, blobs, owner_key(scope) | {"sha256": name}, {"content": write.content})
    return {"sha256": name, "size": len(write.content), "flags": flags_as_json(write.pen.flags_at(write.path))}


def _keep(connection: Connection, ours: dict[str, str], made: _Made, write: Write, said: dict[str, Any]) -> None:
    now = said | {"path": write.path, "version": made.version, "updated_at": write.at}
    match made.operation:
        case "created":
            connection.execute(insert(memories), ours | now | {"id": made.memory, "created_at": write.at})
        case "modified":
            connection.execute(update(memories).filter_by(**ours, id=made.memory).values(**now))
        case "deleted":
            connection.execute(delete(memories).filter_by(**ours, id=made.memory))
