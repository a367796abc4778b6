"""Texts taken out of history: of one version that is redacted, of a store that is deleted.

The ledger stays whole: it holds names and salted digests, and without the salt nobody can guess a text from them. An
edit whose text is gone says so (`erased`), which is not the same as that there was none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, or_, select, update

from reverie.core.scope import Scope
from reverie.memory.stores.store import Author, MemoryVersion
from reverie.storage.database.queries import owner_key
from reverie.storage.database.schema import (
    blobs,
    changes,
    contexts,
    documents,
    edits,
    entries,
    memories,
    memory_stores,
    memory_versions,
)
from reverie.storage.erasure import dreams as erasing_dreams
from reverie.storage.erasure.dreams import ERASED

AT_ONCE = 500


def redact_version(connection: Connection, scope: Scope, redacted: MemoryVersion, by: Author, at: datetime) -> None:
    """Redact a version. Text that another version still has stays in history; other text goes."""
    ours, table = owner_key(scope), memory_versions
    gone = {"path": None, "sha256": None, "size": None, "flags": "[]"}
    mark = {"redacted_at": at, "redacted_hand": by.hand, "redacted_by": by.id}
    connection.execute(update(table).filter_by(**ours, store=redacted.store, id=redacted.id).values(**gone, **mark))
    still = select(table.c.id).filter_by(**ours, sha256=redacted.sha256).limit(1)
    if redacted.sha256 is not None and connection.execute(still).first() is None:
        target = f"store:{scope.workspace}/{redacted.store}"
        text = connection.execute(select(blobs.c.content).filter_by(**ours, sha256=redacted.sha256)).scalar()
        erasing_dreams.of_text(connection, scope, redacted.store, bytes(text or b"").decode())
        _erase(connection, ours, _changes_of(ours, target), [redacted.sha256])


def store(connection: Connection, scope: Scope, deleted: str, target: str) -> None:
    """All that was ever written in it."""
    ours = owner_key(scope)
    touched = _changes_of(ours, target)
    asked = select(edits.c.before, edits.c.after).filter_by(**ours).where(edits.c.change_id.in_(touched))
    names = {name for both in connection.execute(asked) for name in both if name not in (None, ERASED)}
    for table in (memories, memory_versions):
        connection.execute(delete(table).filter_by(**ours, store=deleted))
    for known in (documents, entries):
        connection.execute(delete(known).filter_by(**ours, target=target))
    connection.execute(delete(memory_stores).filter_by(**ours, id=deleted))
    _erase(connection, ours, touched, sorted(names))
    erasing_dreams.of_store(connection, scope, deleted)


def _changes_of(ours: dict[str, str], target: str) -> Any:
    return select(changes.c.id).filter_by(**ours, target=target).scalar_subquery()


def _erase(connection: Connection, ours: dict[str, str], touched: Any, names: Sequence[str]) -> None:
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        hit = or_(edits.c.before.in_(some), edits.c.after.in_(some))
        concerned = select(edits.c.change_id).filter_by(**ours).where(edits.c.change_id.in_(touched), hit)
        unsalted = update(changes).filter_by(**ours).where(changes.c.id.in_(concerned.scalar_subquery()))
        connection.execute(unsalted.values(salt=""))
        sides = {side.name: case((side.in_(some), ERASED), else_=side) for side in (edits.c.before, edits.c.after)}
        connection.execute(update(edits).filter_by(**ours).where(edits.c.change_id.in_(touched), hit).values(**sides))
        connection.execute(delete(blobs).filter_by(**ours).where(blobs.c.sha256.in_(some), *_unused(ours)))


def _unused(ours: dict[str, str]) -> list[Any]:
    """No other document, version or context needs these bytes."""
    named = (edits.c.before, edits.c.after, documents.c.sha256, contexts.c.sha256, memory_versions.c.sha256)
    return [
        blobs.c.sha256.not_in(
            select(column)
            .where(
                column.table.c.workspace == ours["workspace"], column.table.c.user == ours["user"], column.is_not(None)
            )
            .scalar_subquery()
        )
        for column in named
    ]
