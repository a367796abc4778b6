"""What only a server keeps: sessions recorded over the API, agents and environments (`reverie.transcripts.recorded`),
and API keys (`reverie.core.scope.KeyRecords`).

An event and its words are committed together: the transcript is never behind what was acknowledged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, or_, select, update

from reverie.core.clock import Clock, TimeSpan
from reverie.core.ids import from_json, values_of
from reverie.core.scope import ApiKey, Permission, Scope
from reverie.storage import ledger, schema
from reverie.storage.database import (
    SqlAdapter,
    add_to_counter,
    in_span,
    next_change,
    owner_key,
    part_of,
    upsert,
    writing,
)
from reverie.storage.erasure.erasures import screen
from reverie.storage.erasure.texts import erase_session_quotations
from reverie.storage.schema import (
    api_keys,
    candidates,
    definition_versions,
    definitions,
    noticed,
    recorded,
    recorded_events,
)
from reverie.storage.session_rows import TURN_ROW, head_values, turn_row
from reverie.storage.sessions import SqlRecords
from reverie.transcripts.recorded import Definition, Kind, Recorded, RecordedEvent, RecordedQuery, SpokenEvents, Walk
from reverie.transcripts.session import Head, Turn

_DETAILS = ("agent", "title", "metadata", "resources", "vaults", "budget")


class SqlRecorded(SqlAdapter):
    # ---- sessions ----------------------------------------------------------------------------------------------------

    def add(self, scope: Scope, session: Recorded, first: SpokenEvents | None = None) -> None:
        with writing(self._engine, scope) as connection:
            row = owner_key(scope) | {"id": session.id, "events": 0} | recorded_row(session)
            connection.execute(insert(recorded), row)
            if first is not None:
                self._add_events(connection, scope, session.id, 0, first)

    def change(self, scope: Scope, name: str, change: Callable[[Recorded], Recorded]) -> Recorded | None:
        with writing(self._engine, scope) as connection:
            found = _locked_row(connection, scope, name)
            if found is None:
                return None
            old = recorded_from_row(found)
            new = change(old)
            if new != old:
                changed = update(recorded).filter_by(**owner_key(scope), id=name)
                connection.execute(changed.values(**recorded_row(new)))
            return new

    def one(self, scope: Scope, name: str) -> Recorded | None:
        found = self._first(scope, _of_scope(scope).where(recorded.c.id == name))
        return None if found is None else recorded_from_row(found)

    def find(self, scope: Scope, which: RecordedQuery, walk: Walk) -> list[Recorded]:
        query = in_span(_of_scope(scope), recorded.c.created_at, which.made)
        if not which.archived:
            query = query.where(recorded.c.archived_at.is_(None))
        if which.agent is not None:
            query = query.filter_by(agent=which.agent)
            query = query if which.version is None else query.filter_by(agent_version=which.version)
        if which.store is not None:
            query = query.where(recorded.c.stores.contains(f" {which.store} ", autoescape=True))
        if which.statuses:
            query = query.where(recorded.c.status.in_(which.statuses))
        return [recorded_from_row(found) for found in self._rows(scope, walked(query, recorded.c.id, walk))]

    def delete(self, scope: Scope, name: str) -> None:
        with writing(self._engine, scope) as connection:
            if _locked_row(connection, scope, name) is None:
                return
            connection.execute(delete(recorded_events).filter_by(**owner_key(scope), session=name))
            connection.execute(delete(recorded).filter_by(**owner_key(scope), id=name))
            records = SqlRecords(part_of(connection), self._clock)
            known = records.known(scope, name)
            if known and not known.removed:
                records.remove(scope, name)
            for table in (candidates, noticed):
                connection.execute(delete(table).filter_by(workspace=scope.workspace, session_id=name))
            erase_session_quotations(connection, scope, name)

    # ---- events ------------------------------------------------------------------------------------------------------

    def record(self, scope: Scope, name: str, spoken: SpokenEvents) -> list[RecordedEvent]:
        with writing(self._engine, scope) as connection:
            found = _locked_row(connection, scope, name)
            return [] if found is None else self._add_events(connection, scope, name, found.events, spoken)

    def _add_events(
        self, connection: Connection, scope: Scope, name: str, there: int, spoken: SpokenEvents
    ) -> list[RecordedEvent]:
        events, turns = spoken.events, spoken.turns
        if stones := screen(connection, scope.workspace):
            scrub, turns = stones.scrubber, list(stones.screened(turns))
            events = [replace(event, told=scrub.told(event.told)) for event in events] if scrub else events
        kept = [replace(event, number=number) for number, event in enumerate(events, there + 1)]
        key = owner_key(scope) | {"session": name}
        rows = [
            key | {"number": one.number, "id": one.id, "type": one.type, "at": one.at, "details": json.dumps(one.told)}
            for one in kept
        ]
        connection.execute(insert(recorded_events), rows)
        last = {"events": there + len(kept), "updated_at": kept[-1].at}
        connection.execute(update(recorded).filter_by(**owner_key(scope), id=name).values(**last))
        if spoken.head is not None:
            add_words(connection, self._clock, scope, replace(spoken.head, ended_at=kept[-1].at), turns)
        return kept

    def events(self, scope: Scope, name: str, types: Sequence[str], at: TimeSpan, walk: Walk) -> list[RecordedEvent]:
        asked = select(recorded_events).filter_by(**owner_key(scope), session=name)
        asked = walked(in_span(asked, recorded_events.c.at, at), recorded_events.c.number, walk)
        if types:
            asked = asked.where(recorded_events.c.type.in_(types))
        found = self._rows(scope, asked)
        return [from_json(RecordedEvent, {**row._mapping, "told": json.loads(row.details)}) for row in found]

    def last(self, scope: Scope, name: str) -> int | None:
        found = self._first(scope, _of_scope(scope).where(recorded.c.id == name))
        return None if found is None else int(found.events)


def _locked_row(connection: Connection, scope: Scope, name: str) -> Any:
    asked = select(recorded).filter_by(**owner_key(scope), id=name)
    return connection.execute(asked.with_for_update()).first()


def _of_scope(scope: Scope) -> Select[Any]:
    asked = select(recorded).filter_by(workspace=scope.workspace)
    return asked if scope.user is None else asked.filter_by(user=scope.user)


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


def recorded_row(session: Recorded) -> dict[str, Any]:
    stores = [one["memory_store_id"] for one in session.resources if one.get("type") == "memory_store"]
    return values_of(session, ("environment", "status", "created_at", "updated_at", "archived_at")) | {
        "agent": session.agent["id"],
        "agent_version": session.agent["version"],
        "stores": f" {' '.join(stores)} ",
        "details": json.dumps(values_of(session, _DETAILS)),
    }


def recorded_from_row(found: Any) -> Recorded:
    return from_json(Recorded, {**found._mapping, **json.loads(found.details)})


def walked(asked: Select[Any], column: Any, walk: Walk) -> Select[Any]:
    if walk.after is not None:
        asked = asked.where(column < walk.after if walk.descending else column > walk.after)
    return asked.order_by(column.desc() if walk.descending else column).limit(walk.limit)


class SqlDefinitions(SqlAdapter):
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
        found = self._first(scope, _visible(scope, kind).where(definitions.c.id == name))
        if found is None or version in (None, found.version):
            return None if found is None else _definition(found)
        old = self._first(scope, _versions(scope, kind, found).filter_by(version=version))
        return None if old is None else _at_version(_definition(found), old)

    def find(self, scope: Scope, kind: Kind, made: TimeSpan, walk: Walk, *, archived: bool) -> list[Definition]:
        asked = in_span(_visible(scope, kind), definitions.c.created_at, made)
        if not archived:
            asked = asked.where(definitions.c.archived_at.is_(None))
        return [_definition(found) for found in self._rows(scope, walked(asked, definitions.c.id, walk))]

    def versions(self, found: Definition, scope: Scope, kind: Kind, walk: Walk) -> list[Definition]:
        asked = walked(_versions(scope, kind, found), definition_versions.c.version, walk)
        return [_at_version(found, old) for old in self._rows(scope, asked)]

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
    return from_json(Definition, {**found._mapping, "told": json.loads(found.details)})


def _at_version(now: Definition, old: Any) -> Definition:
    return replace(now, told=json.loads(old.details), updated_at=old.updated_at, version=old.version)


class SqlKeys(SqlAdapter):
    def put(self, scope: Scope, key: ApiKey, done: str) -> None:
        owner = {"workspace": scope.workspace, "user": key.user, "id": key.id}
        row = values_of(key, ("name", "prefix", "sha256", "made_at", "expires_at", "revoked_at"))
        allowed = sorted(key.permissions)
        body = {"key": key.id, "done": done, "actor": scope.actor, "permissions": allowed, "bound_to": key.user}
        with writing(self._engine, scope) as connection:
            upsert(connection, api_keys, owner, row | {"permissions": " ".join(allowed)})
            ledger.append_to_ledger(connection, scope, "key", body, self._clock.now())

    def find(self, scope: Scope) -> list[ApiKey]:
        asked = select(api_keys).filter_by(workspace=scope.workspace).order_by(api_keys.c.id)
        asked = asked if scope.user is None else asked.filter_by(user=scope.user)
        return list(map(_api_key, self._rows(scope, asked)))

    def beginning(self, prefix: str) -> list[ApiKey]:
        return list(map(_api_key, self._rows_across("keys", select(api_keys).filter_by(prefix=prefix))))

    def any(self) -> bool:
        return bool(self._rows_across("keys", select(api_keys).where(api_keys.c.revoked_at.is_(None)).limit(1)))

    def called(self, scope: Scope, calls: Mapping[str, int]) -> dict[str, int]:
        where = scope.workspace
        with writing(self._engine, scope) as connection:
            return {key: add_to_counter(connection, where, f"calls of {key}", calls[key]) for key in sorted(calls)}


def _api_key(found: Any) -> ApiKey:
    return from_json(ApiKey, {**found._mapping, "permissions": frozenset(map(Permission, found.permissions.split()))})
