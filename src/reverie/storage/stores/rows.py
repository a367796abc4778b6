"""Memory stores, memories and versions as rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import Select, Table, and_, bindparam, null, select

from reverie.memory.stores.store import Author, Flag, MemoryVersion, Store, StoredMemory
from reverie.storage.database import schema

OWNER = ("workspace", "user")


def store_from_row(found: Any) -> Store:
    told = json.loads(found.details)
    return Store(
        found.id,
        found.user,
        told["name"],
        told["description"],
        told["metadata"],
        found.created_at,
        found.updated_at,
        found.archived_at,
        found.held,
        found.written,
    )


def store_details(store: Store) -> str:
    return json.dumps({"name": store.name, "description": store.description, "metadata": dict(store.metadata)})


def memory_from_row(found: Any) -> StoredMemory:
    return StoredMemory(
        found.id,
        found.store,
        found.path,
        found.sha256,
        found.size,
        found.version,
        found.created_at,
        found.updated_at,
        flags_from(found.flags),
        _bytes(found.content),
    )


def version_from_row(found: Any) -> MemoryVersion:
    redacted_by = Author(found.redacted_hand, found.redacted_by) if found.redacted_by else None
    return MemoryVersion(
        found.id,
        found.number,
        found.store,
        found.memory,
        found.operation,
        found.created_at,
        Author(found.hand, found.author),
        found.change_id,
        found.path,
        found.sha256,
        found.size,
        flags_from(found.flags),
        found.redacted_at,
        redacted_by,
        _bytes(found.content),
    )


def flags_as_json(flags: Iterable[Flag]) -> str:
    return json.dumps([[flag.category, flag.severity] for flag in flags])


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


def _bytes(content: Any) -> bytes | None:
    return None if content is None else bytes(content)
