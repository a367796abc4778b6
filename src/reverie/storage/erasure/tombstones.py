"""Tombstones in SQL: what was erased and stays out, asked for by everything that writes transcripts.

On Postgres who writes holds a shared lock, and who erases waits for it: no transcript that was under way when the
tombstones were written is committed behind them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import Connection, select, text

from reverie.erasure.traces import Tombstone, Tombstones
from reverie.storage.database import schema
from reverie.storage.database.queries import next_number, put_if_new
from reverie.storage.database.transactions import lock_number

GENERATION = "erasures"  # a counter: raised by every erasure, so that what is derived knows it has to begin again
_CACHE: dict[tuple[str, str, int], Tombstones] = {}


def generation(connection: Connection, workspace: str) -> int:
    asked = select(schema.counters.c.value).filter_by(workspace=workspace, name=GENERATION)
    return int(connection.execute(asked).scalar() or 0)


def screen(connection: Connection, workspace: str) -> Tombstones | None:
    """For a transaction that is going to write words; None where nothing was ever erased."""
    if connection.dialect.name == "postgresql":
        key = {"key": _lock(workspace)}
        connection.execute(text("select pg_advisory_xact_lock_shared(:key)"), key)
    count = generation(connection, workspace)
    if not count:
        return None
    place = (str(connection.engine.url), workspace, count)
    if place not in _CACHE:
        _CACHE.clear()
        _CACHE[place] = load_tombstones(connection, workspace)
    return _CACHE[place] or None


def load_tombstones(connection: Connection, workspace: str) -> Tombstones:
    """All there are, with the key they were made with; a new key where there is none yet."""
    asked = select(schema.tombstone_keys.c.key).filter_by(workspace=workspace)
    key = connection.execute(asked).scalar()
    known: dict[str, dict[str, int]] = {}
    for row in connection.execute(select(schema.tombstones).filter_by(workspace=workspace)):
        known.setdefault(row.kind, {})[row.hash] = row.words
    return Tombstones(bytes.fromhex(key) if key else secrets.token_bytes(32), known)


def lock_out_writers(connection: Connection, workspace: str) -> None:
    """Wait for everybody who is writing words, and keep others from beginning until the commit."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _lock(workspace)})


def put_tombstones(
    connection: Connection, workspace: str, made_with: Tombstones, stones: Iterable[Tombstone], erasure: str
) -> None:
    put_if_new(connection, schema.tombstone_keys, {"workspace": workspace}, {"key": made_with.key.hex()})
    for one in dict.fromkeys(stones):
        key = {"workspace": workspace, "kind": one.kind, "hash": one.hash}
        put_if_new(connection, schema.tombstones, key, {"words": one.words, "erasure": erasure})
    next_number(connection, workspace, GENERATION)


def _lock(workspace: str) -> int:
    return lock_number(f"erasure of {workspace}")
