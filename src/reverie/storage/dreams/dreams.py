"""Dreams, what they read, noticed, planned and staged: implements `reverie.dreams.records.Dreams`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Judged, Read, Status
from reverie.dreams.light.candidate import Noted
from reverie.dreams.records import Lease, ModelReport, SessionChoice, Stopped, Thought
from reverie.llm.budget import Call, Spent
from reverie.storage.database import schema
from reverie.storage.database.queries import owner_key, upsert
from reverie.storage.database.transactions import reading
from reverie.storage.dreams.asker import call_from, spent_since, total
from reverie.storage.dreams.leases import SqlLeases, bind_values, owned_rows
from reverie.storage.dreams.rows import (
    asked_from,
    became_details,
    dream_from,
    noted_details,
    noted_from,
    planned_details,
    planned_from,
    thought_details,
    thought_from,
    told_details,
    told_from,
)

AT_ONCE = 500
MOST_COUNTED = 400  # nights in which it is looked for what was confirmed
_NOTICED = (
    update(schema.chosen)
    .where(*owned_rows(schema.chosen, "dream", "place"))
    .values(noticed=bindparam("number"), told=bindparam("flaws"))
)
LEFT_OUT = ""  # in the place of a dream: the first run over the target did not want this session


class SqlDreams(SqlLeases):
    # ---- Looking -----------------------------------------------------------------------------------------------------

    def read(self, scope: Scope, target: str, *, left_out: bool = True) -> Iterable[Read]:
        table, (key, name) = schema.dreamt, self._target(target)
        asked = select(table).filter_by(**owner_key(scope)).where(table.c.target.in_((key, name)))
        rows = self._rows(scope, asked if left_out else asked.where(table.c.dream != LEFT_OUT))
        return [_read(row) for row in sorted(rows, key=lambda row: row.target == key)]  # what was read last, last

    def begun(self, scope: Scope, target: str) -> bool:
        table, dreams = schema.dreamt, schema.dreams
        asked = (
            select(table.c.dream)
            .distinct()
            .filter_by(**owner_key(scope))
            .where(table.c.target.in_(self._target(target)))
        )
        found = sorted((row.dream for row in self._rows(scope, asked)), reverse=True)  # the newest is usually enough
        for dream in found:
            read = self._rows(scope, select(dreams).filter_by(**owner_key(scope), id=dream)) if dream else []
            if dream == LEFT_OUT or (read and not dream_from(read[0]).partial):
                return True
        return False

    def staged(self, scope: Scope, target: str) -> list[Noted]:
        table = schema.candidates
        asked = select(table).filter_by(**owner_key(scope), staged=True).where(table.c.target.in_(self._target(target)))
        return [noted_from(row) for row in self._rows(scope, asked.order_by(table.c.said_at, table.c.id))]

    def staged_since(self, scope: Scope, target: str) -> dict[str, datetime]:
        table, nights = schema.candidates, schema.dreams
        ours = [one.c[key] == value for one in (table, nights) for key, value in owner_key(scope).items()]
        asked = select(table.c.id, nights.c.started_at).join(nights, nights.c.id == table.c.dream).where(*ours)
        asked = asked.where(table.c.staged, table.c.target.in_(self._target(target)))
        return {row.id: row.started_at for row in self._rows(scope, asked)}

    def confirmed(self, scope: Scope, target: str) -> dict[str, int]:
        table, sessions = schema.dreams, defaultdict[str, set[str]](set)
        asked = select(table.c.details).filter_by(**owner_key(scope), status=Status.COMPLETED)
        asked = asked.where(table.c.target.in_(self._target(target)), table.c.details.contains('"confirms": "'))
        for row in self._rows(scope, asked.order_by(table.c.number.desc()).limit(MOST_COUNTED)):
            for one in json.loads(row.details)["judged"]:
                sessions[one.get("confirms", "")] |= {each["session"] for each in one["evidence"]}
        return {text: len(heard) for text, heard in sessions.items() if text and heard}

    def find(self, scope: Scope, target: str | None = None, limit: int = 10) -> list[Dream]:
        table = schema.dreams
        asked = select(table).filter_by(**owner_key(scope))
        if target:
            asked = asked.where(table.c.target.in_(self._target(target)))
        return [dream_from(row) for row in self._rows(scope, asked.order_by(table.c.number.desc()).limit(limit))]

    def get(self, scope: Scope, dream: str) -> Dream | None:
        found = self._rows(scope, select(schema.dreams).filter_by(**owner_key(scope), id=dream))
        return dream_from(found[0]) if found else None

    def targets(self, scope: Scope) -> list[str]:
        table = schema.dreams
        last = select(func.max(table.c.number)).filter_by(**owner_key(scope)).where(table.c.target.not_like("store:%"))
        asked = select(table).filter_by(**owner_key(scope)).where(table.c.number.in_(last.group_by(table.c.target)))
        found = [(dream_from(row), row.target) for row in self._rows(scope, asked.order_by(table.c.number))]
        return list(dict.fromkeys(dream.target for dream, key in found if self._is_here(dream, key, unknown=False)))

    # ---- Consulting --------------------------------------------------------------------------------------------------

    def calls(self, scope: Scope, dream: str) -> list[Call]:
        table = schema.calls
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.number)
        return [call_from(row) for row in self._rows(scope, asked)]

    def spent(self, scope: Scope, since: datetime) -> Spent:
        with reading(self._engine, scope) as connection:
            return total(connection, spent_since(scope, since))

    def told(self, scope: Scope, dream: str) -> list[ModelReport]:
        asked = select(schema.chosen.c.told).filter_by(**owner_key(scope), dream=dream).order_by(schema.chosen.c.place)
        return [told_from(row.told) for row in self._rows(scope, asked)]

    # ---- Working -----------------------------------------------------------------------------------------------------

    def asked(self, scope: Scope, dream: str) -> SessionChoice:
        return asked_from(self._one(scope, select(schema.nights).filter_by(**owner_key(scope), dream=dream)))

    def chose(self, lease: Lease, dream: Dream, left_out: Sequence[Read] = ()) -> None:
        with self.fenced(lease) as connection:
            for one in left_out:
                _keep_read(connection, lease, one, LEFT_OUT)
            self._chose(connection, lease, dream)

    def _chose(self, connection: Connection, lease: Lease, dream: Dream) -> None:
        rows = [
            _night_key(lease)
            | {
                "place": place,
                "session_user": one.user,
                "session_id": one.session_id,
                "revision": one.revision,
                "turns": one.turns,
            }
            for place, one in enumerate(dream.sessions)
        ]
        _insert(connection, schema.chosen, rows)
        self._keep_dream(connection, lease.scope, dream)

    def chosen(self, scope: Scope, dream: str) -> list[tuple[Read, int | None]]:
        rows = self._rows(scope, select(schema.chosen).filter_by(**owner_key(scope), dream=dream).order_by("place"))
        return [(_read(row), row.noticed) for row in rows]

    def note(self, lease: Lease, place: int, notes: Sequence[Noted], told: ModelReport = ModelReport()) -> None:
        rows = [
            _night_key(lease)
            | {
                "place": place,
                "number": number,
                "id": one.id,
                "session_id": one.session_id,
                "said_at": one.said_at,
                "details": noted_details(one),
            }
            for number, one in enumerate(notes)
        ]
        with self.fenced(lease) as connection:
            _insert(connection, schema.noticed, rows)
            found = {"number": len(notes), "flaws": told_details(told)}
            connection.execute(_NOTICED, bind_values(**_night_key(lease), place=place) | found)

    def noticed(self, scope: Scope, dream: str) -> list[Noted]:
        table = schema.noticed
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.place, table.c.number)
        return [noted_from(row) for row in self._rows(scope, asked)]

    # ---- Planning ----------------------------------------------------------------------------------------------------

    def plan(self, lease: Lease, thought: Thought) -> None:
        rows = [
            _night_key(lease) | {"place": place, "details": planned_details(one)}
            for place, one in enumerate(thought.planned)
        ]
        with self.fenced(lease) as connection:
            _insert(connection, schema.planned, rows)
            night = update(schema.nights).filter_by(**_night_key(lease))
            connection.execute(night.values(thought=thought_details(thought)))

    def thought(self, scope: Scope, dream: str) -> Thought | None:
        night = self._one(scope, select(schema.nights).filter_by(**owner_key(scope), dream=dream))
        if night.thought is None:
            return None
        table = schema.planned
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.place)
        return thought_from(night.thought, tuple(planned_from(row) for row in self._rows(scope, asked)))

    def landing(self, lease: Lease) -> None:
        with self.fenced(lease) as connection:
            connection.execute(update(schema.nights).filter_by(**_night_key(lease)).values(landing=True))

    def became(self, lease: Lease, became: Mapping[int, Judged]) -> None:
        with self.fenced(lease) as connection:
            for place, judged in became.items():
                done = update(schema.planned).filter_by(**_night_key(lease), place=place)
                connection.execute(done.values(became=became_details(judged)))

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        notes, staged = self.noticed(lease.scope, dream.id), set(thought.staged)
        with self.fenced(lease) as connection:
            if dream.mode != "propose":
                noted = [_candidate(lease, one) for one in (*notes, *thought.extra) if one.id in staged]
                _insert(connection, schema.candidates, noted)
                _settle(connection, lease.scope, thought.settled)
                for one in dream.sessions:
                    _keep_read(connection, lease, one, lease.dream)
            self._over(connection, lease.scope, dream)

    def _rows(self, scope: Scope, asked: Select[Any]) -> Sequence[Any]:
        with reading(self._engine, scope) as connection:
            return connection.execute(asked).all()

    def _one(self, scope: Scope, asked: Select[Any]) -> Any:
        found = self._rows(scope, asked)
        if not found:
            raise Stopped  # a night that is over has no such rows
        return found[0]


def _night_key(lease: Lease) -> dict[str, Any]:
    return owner_key(lease.scope) | {"dream": lease.dream}


def _read(row: Any) -> Read:
    return Read(row.session_user, row.session_id, row.revision, row.turns)


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _candidate(lease: Lease, one: Noted) -> dict[str, Any]:
    row = {"target": lease.target, "session_id": one.session_id, "staged": True, "said_at": one.said_at}
    return _night_key(lease) | {"id": one.id, "details": noted_details(one)} | row


def _settle(connection: Connection, scope: Scope, ids: Sequence[str]) -> None:
    table = schema.candidates
    for start in range(0, len(ids), AT_ONCE):
        here = update(table).filter_by(**owner_key(scope)).where(table.c.id.in_(ids[start : start + AT_ONCE]))
        connection.execute(here.values(staged=False))


def _keep_read(connection: Connection, lease: Lease, one: Read, dream: str) -> None:
    key = owner_key(lease.scope) | {"target": lease.target, "session_user": one.user, "session_id": one.session_id}
    row = {"revision": one.revision, "turns": one.turns, "dream": dream}
    upsert(connection, schema.dreamt, key, row)
