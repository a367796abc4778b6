"""Dreams over memory stores: implements `reverie.dreams.stores.records.StoreDreamRecords`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, Engine, Select, insert, or_, select, update

from reverie.core.clock import Clock
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Failure, Status
from reverie.dreams.records import Lease, Queued, SessionChoice
from reverie.dreams.stores.dream import StoreDream, StoreDreamUsage, Withheld, usage_of
from reverie.dreams.stores.records import Clone, DreamQuery, Located
from reverie.llm.settings import BUILT_IN
from reverie.memory.store import Author
from reverie.storage.database import schema
from reverie.storage.database.queries import in_span, owner_key
from reverie.storage.database.transactions import hold, part_of, reading_across, writing
from reverie.storage.dreams.dreams import SqlDreams
from reverie.storage.dreams.leases import as_queued, of_night
from reverie.storage.dreams.rows import dream_from
from reverie.storage.stores.rows import cloned
from reverie.storage.stores.stores import store_key
from reverie.storage.transcripts.recorded import SqlRecorded
from reverie.transcripts.recorded import Recorded

OPEN = (Status.PENDING, Status.RUNNING)
_TABLE = schema.store_dreams
_KEPT = ("sessions", "model", "speed", "instructions")


class SqlStoreDreams(SqlDreams):
    def __init__(self, engine: Engine, clock: Clock, ids: Ids, holder: str) -> None:
        super().__init__(engine, clock, holder)
        self._ids = ids

    # ---- KeptStoreDreams ---------------------------------------------------------------------------------------------

    def add(self, scope: Scope, made: StoreDream, dream: Dream, own: Recorded) -> StoreDream | None:
        asked = {name: getattr(made, name) for name in _KEPT}
        row = {name: getattr(made, name) for name in ("id", "store", "output", "session", "in_place", "created_at")}
        with writing(self._engine, scope) as connection:
            if made.in_place:
                hold(connection, f"dreams over {store_key(scope, made.store)}")
                rival = _joined().where(_TABLE.c.store == made.store, _TABLE.c.in_place)
                rival = rival.where(*_in_scope(scope), schema.dreams.c.status.in_(OPEN)).limit(1)
                if found := connection.execute(rival).first():
                    return _from_row(found)
            told = {"asked": json.dumps(asked), "told": _details(made), "cloned": made.in_place}
            SqlRecorded(part_of(connection), self._clock).add(scope, own)
            connection.execute(insert(_TABLE), owner_key(scope) | row | told)
            self._open(connection, scope, dream, SessionChoice(made.sessions, limit=len(made.sessions), queued=True))
        return None

    def one(self, scope: Scope, dream: str) -> StoreDream | None:
        found = self._rows(scope, _joined().where(*_in_scope(scope), _TABLE.c.id == dream))
        return _from_row(found[0]) if found else None

    def listed(self, scope: Scope, which: DreamQuery, after: str | None, limit: int) -> list[StoreDream]:
        asked = in_span(_joined().where(*_in_scope(scope)), _TABLE.c.created_at, which.made)
        if which.statuses:
            asked = asked.where(schema.dreams.c.status.in_(which.statuses))
        if not which.archived:
            asked = asked.where(_TABLE.c.archived_at.is_(None))
        if after is not None:
            asked = asked.where(_TABLE.c.id < after)
        return [_from_row(row) for row in self._rows(scope, asked.order_by(_TABLE.c.id.desc()).limit(limit))]

    def alter(self, scope: Scope, dream: str, change: Callable[[StoreDream], StoreDream]) -> StoreDream | None:
        with writing(self._engine, scope) as connection:
            held = select(_TABLE.c.id).filter_by(**owner_key(scope), id=dream).with_for_update()
            if connection.execute(held).first() is None:
                return None
            old = _from_row(connection.execute(_joined().where(*_in_scope(scope), _TABLE.c.id == dream)).one())
            new = change(old)
            if new != old:
                kept = update(_TABLE).filter_by(**owner_key(scope), id=dream)
                connection.execute(kept.values(told=_details(new), archived_at=new.archived_at))
        return new

    def waiting(self) -> list[Queued]:
        dreams = schema.dreams.c
        asked = self._free().where(dreams.target.like("store:%"), dreams.status.in_(OPEN))
        with reading_across(self._engine, "nights") as connection:
            return [as_queued(row) for row in connection.execute(asked.order_by(dreams.started_at, dreams.id))]

    def anywhere(self, dream: str) -> Located | None:
        return next(iter(self._located(select(schema.dreams).filter_by(id=dream))), None)

    def of_others(self, scope: Scope, limit: int) -> list[Located]:
        dreams = schema.dreams
        others = or_(dreams.c.workspace != scope.workspace, dreams.c.user != (scope.user or ""))
        asked = select(dreams).where(dreams.c.target.like("store:%"), others)
        return self._located(asked.order_by(dreams.c.started_at.desc(), dreams.c.id.desc()).limit(limit))

    def _located(self, asked: Select[Any]) -> list[Located]:
        with reading_across(self._engine, "nights") as connection:
            return [Located(row.workspace, row.user, dream_from(row)) for row in connection.execute(asked)]

    def unfinished_anywhere(self) -> bool:
        dreams, night = schema.dreams, schema.nights
        asked = select(dreams.c.id).join(night, of_night()).where(dreams.c.status.in_(OPEN))
        asked = asked.where(night.c.queued | dreams.c.target.like("store:%")).limit(1)
        with reading_across(self._engine, "nights") as connection:
            return connection.execute(asked).first() is not None

    # ---- Cloning -----------------------------------------------------------------------------------------------------

    def begin(self, lease: Lease, dream: Dream, made: StoreDream, clone: Clone | None) -> StoreDream:
        scope, withheld = lease.scope, tuple[Withheld, ...]()
        with self.fenced(lease) as connection:
            self._chose(connection, lease, dream)
            hold(connection, store_key(scope, made.store))
            counted = select(schema.memory_stores.c.written).filter_by(**owner_key(scope), id=made.store)
            written = connection.execute(counted).scalar() or 0
            if clone is not None:
                author = Author("session", made.session)
                withheld = cloned(
                    connection, scope, made.store, clone, ids=self._ids, author=author, at=self._clock.now()
                )
            begun = replace(made, cloned=True, written=written, withheld=withheld)
            kept = update(_TABLE).filter_by(**owner_key(scope), id=made.id)
            connection.execute(kept.values(cloned=True, told=_details(begun)))
        return begun

    def _over(self, connection: Connection, scope: Scope, dream: Dream) -> None:
        """Nothing more happens in its own session either, however soon this process ends. What models took is told on
        the wire, however it ended."""
        super()._over(connection, scope, dream)
        row = connection.execute(select(_TABLE).filter_by(**owner_key(scope), id=dream.id)).one()
        told = json.loads(row.told) | {"usage": asdict(usage_of(dream))}
        connection.execute(update(_TABLE).filter_by(**owner_key(scope), id=dream.id).values(told=json.dumps(told)))
        quiet = update(schema.recorded).filter_by(**owner_key(scope)).where(schema.recorded.c.id == row.session)
        now = self._clock.now()
        connection.execute(quiet.values(status="idle", archived_at=now, updated_at=now))


def _joined() -> Select[Any]:
    dreams = schema.dreams.c
    same = (_TABLE.c.workspace == dreams.workspace) & (_TABLE.c.user == dreams.user) & (_TABLE.c.id == dreams.id)
    return select(_TABLE, dreams.status, dreams.ended_at).join(schema.dreams, same)


def _in_scope(scope: Scope) -> list[Any]:
    whose = [] if scope.user is None else [_TABLE.c.user == scope.user]
    return [_TABLE.c.workspace == scope.workspace, *whose]


def _details(made: StoreDream) -> str:
    return json.dumps(
        {
            "written": made.written,
            "usage": asdict(made.usage),
            "reader": made.reader,
            "error": made.error and asdict(made.error),
            "decided": made.decided,
            "change": made.change,
            "withheld": [asdict(one) for one in made.withheld],
        }
    )


def _from_row(row: Any) -> StoreDream:
    asked, told = json.loads(row.asked), json.loads(row.told)
    return StoreDream(
        row.id,
        row.user,
        row.store,
        row.output,
        row.session,
        tuple(asked["sessions"]),
        asked["model"],
        row.created_at,
        asked["speed"],
        asked["instructions"],
        row.in_place,
        Status(row.status),
        row.ended_at,
        row.archived_at,
        row.cloned,
        told["written"],
        StoreDreamUsage(**told["usage"]),
        told.get("reader", BUILT_IN),
        Failure(**told["error"]) if told["error"] else None,
        told["decided"],
        told["change"],
        tuple(Withheld(**one) for one in told.get("withheld", ())),
    )
