"""A memory store copied row by row. Texts are kept once for each person, so none of them is copied."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from reverie.adapters.database.rows_of_stores import details_of, owner
from reverie.adapters.database.schema import memories, memory_stores, memory_versions
from reverie.kernel.ids import Ids
from reverie.kernel.scope import Scope
from reverie.memory.store import Author, Store

AT_ONCE = 500


def cloned(
    connection: Connection, scope: Scope, store: str, output: Store, *, ids: Ids, author: Author, at: datetime
) -> None:
    """In one transaction. Each memory begins with one version; how old it is it keeps."""
    ours = owner(scope)
    found = connection.execute(select(memories).filter_by(**ours, store=store).order_by(memories.c.path)).mappings()
    rows = [dict(row) | {"store": output.id, "id": ids.new("mem"), "version": ids.new("memver")} for row in found]
    told = {"id": output.id, "details": details_of(output), "held": len(rows), "written": len(rows)}
    times = {"created_at": at, "updated_at": at, "archived_at": None}
    connection.execute(insert(memory_stores), ours | told | times)
    made = [_version(row, number, author, at) for number, row in enumerate(rows, 1)]
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(insert(memories), rows[start : start + AT_ONCE])
        connection.execute(insert(memory_versions), made[start : start + AT_ONCE])


def _version(row: dict[str, Any], number: int, author: Author, at: datetime) -> dict[str, Any]:
    kept = {name: row[name] for name in ("workspace", "user", "store", "path", "sha256", "size", "flags")}
    by = {"hand": author.hand, "author": author.id, "created_at": at, "operation": "created"}
    return kept | by | {"id": row["version"], "number": number, "memory": row["id"]}
