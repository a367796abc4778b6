"""Dreams, what they read, noticed, planned and staged, and dreams over memory stores: implements
`reverie.dreams.records.Dreams` and `reverie.dreams.stores.dream.StoreDreamRecords`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Select, bindparam, func, insert, or_, select, update

from reverie.core.clock import Clock
from reverie.core.ids import Ids, from_json, json_ready, values_of
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Judged, Read, Status
from reverie.dreams.light.candidate import Noted
from reverie.dreams.records import Lease, ModelReport, Queued, SessionChoice, Stopped, Thought
from reverie.dreams.stores.dream import Clone, DreamQuery, Located, StoreDream, Withheld, usage_of
from reverie.llm.budget import Call, Spent
from reverie.storage import schema
from reverie.storage.database import hold, in_span, owner_key, part_of, reading, upsert, writing
from reverie.storage.dreams import leases
from reverie.storage.dreams.asker import call_from, spent_since, total
from reverie.storage.schema import store_dreams
from reverie.storage.server_records import SqlRecorded
from reverie.storage.stores import cloned, store_key
from reverie.transcripts.recorded import Recorded

AT_ONCE = 500
MOST_COUNTED = 400  # nights in which it is looked for what was confirmed
_NOTICED = (
    update(schema.chosen)
    .where(*leases.owned_rows(schema.chosen, "dream", "place"))
    .values(noticed=bindparam("number"), told=bindparam("flaws"))
)
LEFT_OUT = ""  # in the place of a dream: the first run over the target did not want this session
OPEN = (Status.PENDING, Status.RUNNING)
_TOLD = ("written", "usage", "reader", "error", "decided", "change", "withheld")


class SqlDreams(leases.SqlLeases):
    def read(self, scope: Scope, target: str, *, left_out: bool = True) -> Iterable[Read]:
        table, (key, name) = schema.dreamt, self._target(target)
        asked = select(table).filter_by(**owner_key(scope)).where(table.c.target.in_((key, name)))
        rows = self._rows(scope, asked if left_out else asked.where(table.c.dream != LEFT_OUT))
        return [_read(row) for row in sorted(rows, key=lambda row: row.target == key)]  # what was read last, last

    def begun(self, scope: Scope, target: str) -> bool:
        table, dreams = schema.dreamt, schema.dreams
        asked = select(table.c.dream).distinct().filter_by(**owner_key(scope))
        rows = self._rows(scope, asked.where(table.c.target.in_(self._target(target))))
        found = sorted((row.dream for row in rows), reverse=True)  # the newest is usually enough
        for dream in found:
            read = self._rows(scope, select(dreams).filter_by(**owner_key(scope), id=dream)) if dream else []
            if dream == LEFT_OUT or (read and not leases.dream_from(read[0]).partial):
                return True
        return False

    def staged(self, scope: Scope, target: str) -> list[Noted]:
        table = schema.candidates
        asked = select(table).filter_by(**owner_key(scope), staged=True).where(table.c.target.in_(self._target(target)))
        return [leases.noted_from(row) for row in self._rows(scope, asked.order_by(table.c.said_at, table.c.id))]

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
        return [leases.dream_from(row) for row in self._rows(scope, asked.order_by(table.c.number.desc()).limit(limit))]

    def get(self, scope: Scope, dream: str) -> Dream | None:
        found = self._first(scope, select(schema.dreams).filter_by(**owner_key(scope), id=dream))
        return leases.dream_from(found) if found else None

    def targets(self, scope: Scope) -> list[str]:
        table = schema.dreams
        last = select(func.max(table.c.number)).filter_by(**owner_key(scope)).where(table.c.target.not_like("store:%"))
        asked = select(table).filter_by(**owner_key(scope)).where(table.c.number.in_(last.group_by(table.c.target)))
        found = [(leases.dream_from(row), row.target) for row in self._rows(scope, asked.order_by(table.c.number))]
        return list(dict.fromkeys(dream.target for dream, key in found if self._is_here(dream, key, unknown=False)))

    def calls(self, scope: Scope, dream: str) -> list[Call]:
        table = schema.calls
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.number)
        return [call_from(row) for row in self._rows(scope, asked)]

    def spent(self, scope: Scope, since: datetime) -> Spent:
        with reading(self._engine, scope) as connection:
            return total(connection, spent_since(scope, since))

    def told(self, scope: Scope, dream: str) -> list[ModelReport]:
        asked = select(schema.chosen.c.told).filter_by(**owner_key(scope), dream=dream).order_by(schema.chosen.c.place)
        return [leases.told_from(row.told) for row in self._rows(scope, asked)]

    def asked(self, scope: Scope, dream: str) -> SessionChoice:
        return leases.asked_from(self._one(scope, select(schema.nights).filter_by(**owner_key(scope), dream=dream)))

    def chose(self, lease: Lease, dream: Dream, left_out: Sequence[Read] = ()) -> None:
        with self.fenced(lease) as connection:
            for one in left_out:
                _keep_read(connection, lease, one, LEFT_OUT)
            self._chose(connection, lease, dream)

    def _chose(self, connection: Connection, lease: Lease, dream: Dream) -> None:
        rows = [_night_key(lease) | _read_row(one) | {"place": place} for place, one in enumerate(dream.sessions)]
        _insert(connection, schema.chosen, rows)
        self._keep_dream(connection, lease.scope, dream)

    def chosen(self, scope: Scope, dream: str) -> list[tuple[Read, int | None]]:
        rows = self._rows(scope, select(schema.chosen).filter_by(**owner_key(scope), dream=dream).order_by("place"))
        return [(_read(row), row.noticed) for row in rows]

    def note(self, lease: Lease, place: int, notes: Sequence[Noted], told: ModelReport = ModelReport()) -> None:
        key = _night_key(lease) | {"place": place}
        rows = [key | leases.noted_row(one) | {"number": number} for number, one in enumerate(notes)]
        with self.fenced(lease) as connection:
            _insert(connection, schema.noticed, rows)
            found = {"number": len(notes), "flaws": leases.told_details(told)}
            connection.execute(_NOTICED, leases.bind_values(**key) | found)

    def noticed(self, scope: Scope, dream: str) -> list[Noted]:
        table = schema.noticed
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.place, table.c.number)
        return [leases.noted_from(row) for row in self._rows(scope, asked)]

    def plan(self, lease: Lease, thought: Thought) -> None:
        rows = [
            _night_key(lease) | {"place": place, "details": leases.planned_details(one)}
            for place, one in enumerate(thought.planned)
        ]
        with self.fenced(lease) as connection:
            _insert(connection, schema.planned, rows)
            night = update(schema.nights).filter_by(**_night_key(lease))
            connection.execute(night.values(thought=leases.thought_details(thought)))

    def thought(self, scope: Scope, dream: str) -> Thought | None:
        night = self._one(scope, select(schema.nights).filter_by(**owner_key(scope), dream=dream))
        if night.thought is None:
            return None
        table = schema.planned
        asked = select(table).filter_by(**owner_key(scope), dream=dream).order_by(table.c.place)
        return leases.thought_from(night.thought, tuple(leases.planned_from(row) for row in self._rows(scope, asked)))

    def landing(self, lease: Lease) -> None:
        with self.fenced(lease) as connection:
            connection.execute(update(schema.nights).filter_by(**_night_key(lease)).values(landing=True))

    def became(self, lease: Lease, became: Mapping[int, Judged]) -> None:
        with self.fenced(lease) as connection:
            for place, judged in became.items():
                done = update(schema.planned).filter_by(**_night_key(lease), place=place)
                connection.execute(done.values(became=json.dumps(leases.judged_as_json(judged), ensure_ascii=False)))

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        notes, staged = self.noticed(lease.scope, dream.id), set(thought.staged)
        with self.fenced(lease) as connection:
            if dream.mode != "propose":
                row = _night_key(lease) | {"target": lease.target, "staged": True}
                kept = [row | leases.noted_row(one) for one in (*notes, *thought.extra) if one.id in staged]
                _insert(connection, schema.candidates, kept)
                ours = update(schema.candidates).filter_by(**owner_key(lease.scope))
                for start in range(0, len(thought.settled), AT_ONCE):
                    settled = schema.candidates.c.id.in_(thought.settled[start : start + AT_ONCE])
                    connection.execute(ours.where(settled).values(staged=False))
                for one in dream.sessions:
                    _keep_read(connection, lease, one, lease.dream)
            self._over(connection, lease.scope, dream)

    def _one(self, scope: Scope, asked: Select[Any]) -> Any:
        found = self._first(scope, asked)
        if found is None:
            raise Stopped  # a night that is over has no such rows
        return found


def _night_key(lease: Lease) -> dict[str, Any]:
    return owner_key(lease.scope) | {"dream": lease.dream}


def _read_row(one: Read) -> dict[str, Any]:
    return values_of(one, ("session_id", "revision", "turns")) | {"session_user": one.user}


def _read(row: Any) -> Read:
    return Read(row.session_user, row.session_id, row.revision, row.turns)


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _keep_read(connection: Connection, lease: Lease, one: Read, dream: str) -> None:
    key = owner_key(lease.scope) | {"target": lease.target, "session_user": one.user, "session_id": one.session_id}
    upsert(connection, schema.dreamt, key, {"revision": one.revision, "turns": one.turns, "dream": dream})


class SqlStoreDreams(SqlDreams):
    def __init__(self, engine: Engine, clock: Clock, ids: Ids, holder: str) -> None:
        super().__init__(engine, clock, holder)
        self._ids = ids

    def add(self, scope: Scope, made: StoreDream, dream: Dream, own: Recorded) -> StoreDream | None:
        asked = values_of(made, ("sessions", "model", "speed", "instructions"))
        row = values_of(made, ("id", "store", "output", "session", "in_place", "created_at"))
        with writing(self._engine, scope) as connection:
            if made.in_place:
                hold(connection, f"dreams over {store_key(scope, made.store)}")
                rival = _joined().where(store_dreams.c.store == made.store, store_dreams.c.in_place)
                rival = rival.where(*_in_scope(scope), schema.dreams.c.status.in_(OPEN)).limit(1)
                if found := connection.execute(rival).first():
                    return _from_row(found)
            told = {"asked": json.dumps(asked), "told": _details(made), "cloned": made.in_place}
            SqlRecorded(part_of(connection), self._clock).add(scope, own)
            connection.execute(insert(store_dreams), owner_key(scope) | row | told)
            self._open(connection, scope, dream, SessionChoice(made.sessions, limit=len(made.sessions), queued=True))
        return None

    def one(self, scope: Scope, dream: str) -> StoreDream | None:
        found = self._first(scope, _joined().where(*_in_scope(scope), store_dreams.c.id == dream))
        return _from_row(found) if found else None

    def listed(self, scope: Scope, which: DreamQuery, after: str | None, limit: int) -> list[StoreDream]:
        asked = in_span(_joined().where(*_in_scope(scope)), store_dreams.c.created_at, which.made)
        if which.statuses:
            asked = asked.where(schema.dreams.c.status.in_(which.statuses))
        if not which.archived:
            asked = asked.where(store_dreams.c.archived_at.is_(None))
        if after is not None:
            asked = asked.where(store_dreams.c.id < after)
        return [_from_row(row) for row in self._rows(scope, asked.order_by(store_dreams.c.id.desc()).limit(limit))]

    def alter(self, scope: Scope, dream: str, change: Callable[[StoreDream], StoreDream]) -> StoreDream | None:
        with writing(self._engine, scope) as connection:
            held = select(store_dreams.c.id).filter_by(**owner_key(scope), id=dream).with_for_update()
            if connection.execute(held).first() is None:
                return None
            old = _from_row(connection.execute(_joined().where(*_in_scope(scope), store_dreams.c.id == dream)).one())
            new = change(old)
            if new != old:
                kept = update(store_dreams).filter_by(**owner_key(scope), id=dream)
                connection.execute(kept.values(told=_details(new), archived_at=new.archived_at))
        return new

    def waiting(self) -> list[Queued]:
        dreams = schema.dreams.c
        asked = self._free().where(dreams.target.like("store:%"), dreams.status.in_(OPEN))
        return [
            leases.as_queued(row) for row in self._rows_across("nights", asked.order_by(dreams.started_at, dreams.id))
        ]

    def anywhere(self, dream: str) -> Located | None:
        return next(iter(self._located(select(schema.dreams).filter_by(id=dream))), None)

    def of_others(self, scope: Scope, limit: int) -> list[Located]:
        dreams = schema.dreams
        others = or_(dreams.c.workspace != scope.workspace, dreams.c.user != (scope.user or ""))
        asked = select(dreams).where(dreams.c.target.like("store:%"), others)
        return self._located(asked.order_by(dreams.c.started_at.desc(), dreams.c.id.desc()).limit(limit))

    def _located(self, asked: Select[Any]) -> list[Located]:
        return [Located(row.workspace, row.user, leases.dream_from(row)) for row in self._rows_across("nights", asked)]

    def unfinished_anywhere(self) -> bool:
        dreams, night = schema.dreams, schema.nights
        asked = select(dreams.c.id).join(night, leases.of_night()).where(dreams.c.status.in_(OPEN))
        asked = asked.where(night.c.queued | dreams.c.target.like("store:%")).limit(1)
        return bool(self._rows_across("nights", asked))

    def begin(self, lease: Lease, dream: Dream, made: StoreDream, clone: Clone | None) -> StoreDream:
        scope, withheld = lease.scope, tuple[Withheld, ...]()
        with self.fenced(lease) as connection:
            self._chose(connection, lease, dream)
            hold(connection, store_key(scope, made.store))
            counted = select(schema.memory_stores.c.written).filter_by(**owner_key(scope), id=made.store)
            written = connection.execute(counted).scalar() or 0
            if clone is not None:
                withheld = cloned(connection, scope, made, clone, ids=self._ids, at=self._clock.now())
            begun = replace(made, cloned=True, written=written, withheld=withheld)
            kept = update(store_dreams).filter_by(**owner_key(scope), id=made.id)
            connection.execute(kept.values(cloned=True, told=_details(begun)))
        return begun

    def _over(self, connection: Connection, scope: Scope, dream: Dream) -> None:
        """Nothing more happens in its own session either, however soon this process ends. What models took is told on
        the wire, however it ended."""
        super()._over(connection, scope, dream)
        row = connection.execute(select(store_dreams).filter_by(**owner_key(scope), id=dream.id)).one()
        told = json.loads(row.told) | {"usage": asdict(usage_of(dream))}
        ended = update(store_dreams).filter_by(**owner_key(scope), id=dream.id)
        connection.execute(ended.values(told=json.dumps(told)))
        quiet = update(schema.recorded).filter_by(**owner_key(scope)).where(schema.recorded.c.id == row.session)
        now = self._clock.now()
        connection.execute(quiet.values(status="idle", archived_at=now, updated_at=now))


def _joined() -> Select[Any]:
    dreams, mine = schema.dreams.c, store_dreams.c
    same = (mine.workspace == dreams.workspace) & (mine.user == dreams.user) & (mine.id == dreams.id)
    return select(store_dreams, dreams.status, dreams.ended_at).join(schema.dreams, same)


def _in_scope(scope: Scope) -> list[Any]:
    whose = [] if scope.user is None else [store_dreams.c.user == scope.user]
    return [store_dreams.c.workspace == scope.workspace, *whose]


def _details(made: StoreDream) -> str:
    return json.dumps(json_ready(values_of(made, _TOLD)))


def _from_row(row: Any) -> StoreDream:
    return from_json(StoreDream, {**row._mapping, **json.loads(row.asked), **json.loads(row.told)})
