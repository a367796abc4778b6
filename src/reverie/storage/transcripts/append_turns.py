"""The words of a recorded session in the transcripts: added at the end, without reading what stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, insert

from reverie.core.clock import Clock
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.queries import next_change, owner_key, upsert
from reverie.storage.database.transactions import part_of
from reverie.storage.transcripts.rows import TURN_ROW, head_values, turn_row
from reverie.storage.transcripts.sessions import SqlRecords
from reverie.transcripts.session import Head, Turn


def add_words(connection: Connection, clock: Clock, scope: Scope, head: Head, turns: Sequence[Turn]) -> None:
    """In the transaction of the events. Words taken out of the library by hand stay out: a new revision begins."""
    known = SqlRecords(part_of(connection), clock).known(scope, head.id)
    there = known.turns if known and not known.removed else 0
    revision = known.revision + known.removed if known else 1
    key = owner_key(scope) | {"session_id": head.id, "revision": revision}
    if turns:
        numbered = (replace(turn, number=number) for number, turn in enumerate(turns, there + 1))
        rows = [key | dict(zip(TURN_ROW, turn_row(turn), strict=True)) | {"at": turn.at} for turn in numbered]
        connection.execute(insert(schema.turns), rows)
    said = {"source": None, "revision": revision, "turns": there + len(turns), "removed_at": None}
    changed = {"changed": next_change(connection, scope.workspace)}
    name = owner_key(scope) | {"id": head.id}
    new = {"added_at": clock.now()}
    upsert(connection, schema.sessions, name, head_values(head) | said | changed, only_when_new=new)


def take_words_out(connection: Connection, clock: Clock, scope: Scope, session: str) -> None:
    records = SqlRecords(part_of(connection), clock)
    known = records.known(scope, session)
    if known and not known.removed:
        records.remove(scope, session)
