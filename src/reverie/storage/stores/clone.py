"""A memory store copied row by row. Texts are kept once for each person, so none of them is copied.

What looks unsafe stays behind, so that the copy never held it, in no version.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from reverie.core.hashes import sha256
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.stores.dream import Withheld
from reverie.dreams.stores.records import Clone
from reverie.memory.stores.store import Author
from reverie.storage.database.queries import owner_key, put_if_new
from reverie.storage.database.schema import blobs, memories, memory_stores, memory_versions
from reverie.storage.stores.rows import flags_as_json, flags_from, store_details

AT_ONCE = 500


def cloned(
    connection: Connection, scope: Scope, store: str, clone: Clone, *, ids: Ids, author: Author, at: datetime
) -> tuple[Withheld, ...]:
    """In one transaction. Each memory begins with one version; how old it is it keeps. Says what stayed behind."""
    ours, output = owner_key(scope), clone.output
    found = connection.execute(select(memories).filter_by(**ours, store=store).order_by(memories.c.path)).mappings()
    safe, withheld = _without_unsafe(connection, ours, [dict(row) for row in found], clone)
    rows = [row | {"store": output.id, "id": ids.new("mem"), "version": ids.new("memver")} for row in safe]
    told = {"id": output.id, "details": store_details(output), "held": len(rows), "written": len(rows)}
    times = {"created_at": at, "updated_at": at, "archived_at": None}
    connection.execute(insert(memory_stores), ours | told | times)
    made = [_version(row, number, author, at) for number, row in enumerate(rows, 1)]
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(insert(memories), rows[start : start + AT_ONCE])
        connection.execute(insert(memory_versions), made[start : start + AT_ONCE])
    return withheld


def _without_unsafe(
    connection: Connection, ours: dict[str, str], found: list[dict[str, Any]], clone: Clone
) -> tuple[list[dict[str, Any]], tuple[Withheld, ...]]:
    """Looked at is only what the scan found something in when it was written."""
    safe, withheld = list[dict[str, Any]](), list[Withheld]()
    for row in found:
        flagged = flags_from(row["flags"])
        cleaned = clone.clean(row["path"], _content(connection, ours, row["sha256"])) if flagged else None
        if cleaned is None:
            safe.append(row)
            continue
        withheld.append(cleaned.withheld)
        if cleaned.left is not None:
            said = {"sha256": sha256(cleaned.left), "size": len(cleaned.left), "flags": flags_as_json(cleaned.flags)}
            put_if_new(connection, blobs, ours | {"sha256": said["sha256"]}, {"content": cleaned.left})
            safe.append(row | said)
    return safe, tuple(withheld)


def _content(connection: Connection, ours: dict[str, str], name: str) -> bytes:
    found: bytes = connection.execute(select(blobs.c.content).filter_by(**ours, sha256=name)).scalar_one()
    return bytes(found)


def _version(row: dict[str, Any], number: int, author: Author, at: datetime) -> dict[str, Any]:
    kept = {name: row[name] for name in ("workspace", "user", "store", "path", "sha256", "size", "flags")}
    by = {"hand": author.hand, "author": author.id, "created_at": at, "operation": "created"}
    return kept | by | {"id": row["version"], "number": number, "memory": row["id"]}
