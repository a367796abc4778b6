"""Agents and environments: implements `reverie.transcripts.recorded.DefinitionRecords`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, Select, delete, insert, or_, select, update

from reverie.core.clock import Clock, TimeSpan
from reverie.core.scope import Scope
from reverie.storage.database.queries import in_span, owner_key
from reverie.storage.database.schema import definition_versions, definitions
from reverie.storage.database.transactions import reading, writing
from reverie.storage.transcripts.recorded import walked
from reverie.transcripts.recorded import Definition, Kind, Walk


class SqlDefinitions:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def add(self, scope: Scope, kind: Kind, made: Definition) -> None:
        row = owner_key(scope) | {"kind": kind, "id": made.id, "created_at": made.created_at, "archived_at": None}
        with writing(self._engine, scope) as connection:
            connection.execute(insert(definitions), row | _definition_row(made))
            self._keep_version(connection, scope, kind, made)

    def change(
        self, scope: Scope, kind: Kind, name: str, change: Callable[[Definition], Definition]
    ) -> Definition | None:
        asked = select(definitions).filter_by(**owner_key(scope), kind=kind, id=name)
        with writing(self._engine, scope) as connection:
            found = connection.execute(asked.with_for_update()).first()
            if found is None:
                return None
            old = _definition(found)
            new = change(old)
            if new != old:
                said = _definition_row(new) | {"archived_at": new.archived_at}
                connection.execute(update(definitions).filter_by(**owner_key(scope), kind=kind, id=name).values(**said))
            if new.version != old.version:
                self._keep_version(connection, scope, kind, new)
            return new

    def _keep_version(self, connection: Connection, scope: Scope, kind: Kind, made: Definition) -> None:
        row = owner_key(scope) | {"kind": kind, "id": made.id} | _definition_row(made)
        connection.execute(insert(definition_versions), row)

    def one(self, scope: Scope, kind: Kind, name: str, version: int | None = None) -> Definition | None:
        with reading(self._engine, scope) as connection:
            found = connection.execute(_visible(scope, kind).where(definitions.c.id == name)).first()
            if found is None or version in (None, found.version):
                return None if found is None else _definition(found)
            old = connection.execute(_versions(scope, kind, found).filter_by(version=version)).first()
            return None if old is None else _at_version(_definition(found), old)

    def find(self, scope: Scope, kind: Kind, made: TimeSpan, walk: Walk, *, archived: bool) -> list[Definition]:
        asked = in_span(_visible(scope, kind), definitions.c.created_at, made)
        if not archived:
            asked = asked.where(definitions.c.archived_at.is_(None))
        with reading(self._engine, scope) as connection:
            return [_definition(found) for found in connection.execute(walked(asked, definitions.c.id, walk))]

    def versions(self, found: Definition, scope: Scope, kind: Kind, walk: Walk) -> list[Definition]:
        asked = walked(_versions(scope, kind, found), definition_versions.c.version, walk)
        with reading(self._engine, scope) as connection:
            return [_at_version(found, old) for old in connection.execute(asked)]

    def delete(self, scope: Scope, kind: Kind, name: str) -> bool:
        with writing(self._engine, scope) as connection:
            ours = owner_key(scope) | {"kind": kind, "id": name}
            connection.execute(delete(definition_versions).filter_by(**ours))
            return bool(connection.execute(delete(definitions).filter_by(**ours)).rowcount)


def _visible(scope: Scope, kind: Kind) -> Select[Any]:
    """A person sees their own and what everyone shares."""
    asked = select(definitions).filter_by(workspace=scope.workspace, kind=kind)
    if scope.user is None:
        return asked
    return asked.where(or_(definitions.c.user == scope.user, definitions.c.user == ""))


def _versions(scope: Scope, kind: Kind, found: Any) -> Select[Any]:
    ours = {"workspace": scope.workspace, "user": found.user, "kind": kind, "id": found.id}
    return select(definition_versions).filter_by(**ours)


def _definition_row(made: Definition) -> dict[str, Any]:
    return {"version": made.version, "details": json.dumps(made.told), "updated_at": made.updated_at}


def _definition(found: Any) -> Definition:
    return Definition(
        found.id,
        found.user,
        json.loads(found.details),
        found.created_at,
        found.updated_at,
        found.archived_at,
        found.version,
    )


def _at_version(now: Definition, old: Any) -> Definition:
    return Definition(
        now.id, now.user, json.loads(old.details), now.created_at, old.updated_at, now.archived_at, old.version
    )
