"""Dreams, what they read and what they staged: implements `reverie.dreams.records.Dreams`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from reverie.adapters.database import ledger, schema
from reverie.adapters.database.rows_of_dreams import details_of, dream_from, noted_details, noted_from
from reverie.adapters.database.upsert import next_number, upsert
from reverie.deep.material import Noted
from reverie.dreams.dream import Dream, Read
from reverie.dreams.records import Kept
from reverie.kernel.clock import Clock
from reverie.kernel.scope import Scope


class SqlDreams:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._reading = engine.execution_options(reads=True)

    def read(self, scope: Scope, shelf: str) -> Iterable[Read]:
        asked = select(schema.dreamt).filter_by(**_owner(scope), shelf=shelf)
        with self._reading.connect() as connection:
            rows = connection.execute(asked).all()
        return [Read(row.session_user, row.session_id, row.revision, row.turns) for row in rows]

    def staged(self, scope: Scope, shelf: str) -> list[Noted]:
        table = schema.candidates
        asked = select(table).filter_by(**_owner(scope), shelf=shelf, staged=True).order_by(table.c.said_at, table.c.id)
        with self._reading.connect() as connection:
            return [noted_from(row) for row in connection.execute(asked)]

    def keep(self, scope: Scope, kept: Kept) -> None:
        with self._engine.begin() as connection:
            self._keep_candidates(connection, scope, kept)
            for one in kept.dream.sessions:
                self._keep_read(connection, scope, kept.dream, one)
            self._keep_dream(connection, scope, kept.dream)

    def find(self, scope: Scope, shelf: str | None = None, limit: int = 10) -> list[Dream]:
        table = schema.dreams
        asked = select(table).filter_by(**_owner(scope), **({"shelf": shelf} if shelf else {}))
        with self._reading.connect() as connection:
            return [dream_from(row) for row in connection.execute(asked.order_by(table.c.number.desc()).limit(limit))]

    def _keep_candidates(self, connection: Connection, scope: Scope, kept: Kept) -> None:
        for one in kept.staged:
            row = {
                "shelf": kept.dream.shelf, "session_id": one.session_id, "staged": True, "said_at": one.said_at,
                "dream": kept.dream.id, "details": noted_details(one),
            }  # fmt: skip
            upsert(connection, schema.candidates, _owner(scope) | {"id": one.id}, row)
        if kept.settled:
            table = schema.candidates
            here = (table.c.workspace == scope.workspace, table.c.user == (scope.user or ""))
            connection.execute(update(table).where(*here, table.c.id.in_(kept.settled)).values(staged=False))

    def _keep_read(self, connection: Connection, scope: Scope, dream: Dream, one: Read) -> None:
        key = _owner(scope) | {"shelf": dream.shelf, "session_user": one.user, "session_id": one.session_id}
        upsert(connection, schema.dreamt, key, {"revision": one.revision, "turns": one.turns, "dream": dream.id})

    def _keep_dream(self, connection: Connection, scope: Scope, dream: Dream) -> None:
        row = {
            "number": next_number(connection, scope.workspace, "dreams"), "shelf": dream.shelf, "status": dream.status,
            "started_at": dream.started_at, "ended_at": dream.ended_at, "details": json.dumps(details_of(dream)),
        }  # fmt: skip
        upsert(connection, schema.dreams, _owner(scope) | {"id": dream.id}, row)
        ledger.append(connection, scope, "dream", _told(scope, dream), self._clock.now())


def _owner(scope: Scope) -> dict[str, Any]:
    return {"workspace": scope.workspace, "user": scope.user or ""}


def _told(scope: Scope, dream: Dream) -> dict[str, Any]:
    """For the ledger: that there was a dream and what it came to; none of its words."""
    return {
        "dream": dream.id, "shelf": dream.shelf, "status": str(dream.status), "actor": scope.actor,
        "sessions": len(dream.sessions), "counts": dream.counts,
    }  # fmt: skip
