"""Remembered sources, the fingerprints of files read, and those that could not be: `reverie.transcripts.records`."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, delete, inspect, select

from reverie.core.clock import Clock
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.queries import owner_key, upsert
from reverie.storage.database.transactions import reading, writing
from reverie.transcripts.records import Quarantined, Source


class SqlSources:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def remember(self, scope: Scope, path: str, reader: str | None) -> None:
        with writing(self._engine, scope) as connection:
            now = {"added_at": self._clock.now()}
            upsert(connection, schema.sources, _key(scope, path), {"reader": reader}, only_when_new=now)

    def forget(self, scope: Scope, path: str) -> bool:
        key = _key(scope, path)
        with writing(self._engine, scope) as connection:
            for table in (schema.files, schema.sources):
                done = connection.execute(delete(table).filter_by(**key))
            return bool(done.rowcount)

    def remembered(self, scope: Scope) -> list[Source]:
        asked = select(schema.sources).filter_by(workspace=scope.workspace).order_by(schema.sources.c.path)
        if scope.user is not None:
            asked = asked.filter_by(user=scope.user)
        with reading(self._engine, scope) as connection:
            return [Source(row.path, row.reader, row.user) for row in connection.execute(asked)]

    def fingerprint(self, scope: Scope, path: str) -> str | None:
        with reading(self._engine, scope) as connection:
            asked = select(schema.files.c.fingerprint).filter_by(**_key(scope, path))
            return connection.execute(asked).scalar()

    def keep_fingerprint(self, scope: Scope, path: str, fingerprint: str) -> None:
        row = {"fingerprint": fingerprint, "read_at": self._clock.now()}
        with writing(self._engine, scope) as connection:
            upsert(connection, schema.files, _key(scope, path), row)


def _key(scope: Scope, path: str) -> dict[str, str]:
    return owner_key(scope) | {"path": path}


class SqlQuarantine:
    """Files that could not be read, and why: implements `reverie.transcripts.records.Quarantine`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def put(self, scope: Scope, path: str, reader: str, fingerprint: str, why: str) -> None:
        now = self._clock.now()
        row = {"reader": reader, "fingerprint": fingerprint, "why": why, "tried_at": now}
        with writing(self._engine, scope) as connection:
            upsert(connection, schema.quarantine, _key(scope, path), row, only_when_new={"since": now})

    def release(self, scope: Scope, path: str) -> None:
        with writing(self._engine, scope) as connection:
            connection.execute(delete(schema.quarantine).filter_by(**_key(scope, path)))

    def held(self, scope: Scope) -> list[Quarantined]:
        with reading(self._engine, scope) as connection:
            return quarantined(connection, scope.workspace, scope.user)


def quarantined(connection: Connection, workspace: str, user: str | None = None) -> list[Quarantined]:
    """Also for a look at a database that an older version made."""
    table = schema.quarantine
    if not inspect(connection).has_table(table.name):
        return []
    asked = select(table).filter_by(workspace=workspace).order_by(table.c.path)
    asked = asked if user is None else asked.filter_by(user=user)
    return [Quarantined(row.path, row.reader, row.fingerprint, row.why, row.since) for row in connection.execute(asked)]
