"""API keys: implements `reverie.core.keys.KeyRecords`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Select, select

from reverie.core.clock import Clock
from reverie.core.keys import ApiKey, Permission
from reverie.core.scope import Scope
from reverie.storage.changes import ledger
from reverie.storage.database.queries import add_to_counter, upsert
from reverie.storage.database.schema import api_keys
from reverie.storage.database.transactions import reading, reading_across, writing


class SqlKeys:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def put(self, scope: Scope, key: ApiKey, done: str) -> None:
        owner = {"workspace": scope.workspace, "user": key.user, "id": key.id}
        row = {name: getattr(key, name) for name in ("name", "prefix", "sha256", "made_at", "expires_at", "revoked_at")}
        allowed = sorted(key.permissions)
        body = {"key": key.id, "done": done, "actor": scope.actor, "permissions": allowed, "bound_to": key.user}
        with writing(self._engine, scope) as connection:
            upsert(connection, api_keys, owner, row | {"permissions": " ".join(allowed)})
            ledger.append_to_ledger(connection, scope, "key", body, self._clock.now())

    def find(self, scope: Scope) -> list[ApiKey]:
        asked = select(api_keys).filter_by(workspace=scope.workspace).order_by(api_keys.c.id)
        asked = asked if scope.user is None else asked.filter_by(user=scope.user)
        with reading(self._engine, scope) as connection:
            return _keys(connection, asked)

    def beginning(self, prefix: str) -> list[ApiKey]:
        return self._anyones(select(api_keys).filter_by(prefix=prefix))

    def any(self) -> bool:
        return bool(self._anyones(select(api_keys).where(api_keys.c.revoked_at.is_(None)).limit(1)))

    def called(self, scope: Scope, calls: Mapping[str, int]) -> dict[str, int]:
        with writing(self._engine, scope) as connection:
            return {
                key: add_to_counter(connection, scope.workspace, f"calls of {key}", calls[key]) for key in sorted(calls)
            }

    def _anyones(self, asked: Select[Any]) -> list[ApiKey]:
        with reading_across(self._engine, "keys") as connection:
            return _keys(connection, asked)


def _keys(connection: Connection, asked: Select[Any]) -> list[ApiKey]:
    return [_key(found) for found in connection.execute(asked)]


def _key(found: Any) -> ApiKey:
    return ApiKey(
        found.id,
        found.name,
        found.workspace,
        found.user,
        frozenset(map(Permission, found.permissions.split())),
        found.prefix,
        found.sha256,
        found.made_at,
        found.expires_at,
        found.revoked_at,
    )
