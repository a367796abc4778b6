"""Who may write a night, and its rows: implements `reverie.dreams.records.Leasing`.

A lease has a token that grows with every taking. Each transaction of a night first looks whether its token is still
the newest, under the row's lock: who was away too long finds out before anything is written.

Behind that, what a night is going to do and leaves behind, to and from its rows without loss in either direction.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, bindparam, delete, insert, or_, select, update

from reverie.changes.ledger import evidence_as_json, evidence_from_json
from reverie.changes.proposal import score_as_json
from reverie.changes.queue import Review
from reverie.core.clock import Clock, rfc3339
from reverie.core.errors import BadInput, StillLocked
from reverie.core.ids import from_json, json_ready, values_of
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Judged, Status
from reverie.dreams.light.candidate import Candidate, Noted
from reverie.dreams.records import (
    LEASE,
    OVER,
    Lease,
    ModelReport,
    Overtaken,
    Planned,
    Queued,
    SessionChoice,
    Stopped,
    Thought,
)
from reverie.storage import ledger, schema
from reverie.storage.database import SqlAdapter, next_number, owner_key, upsert, writing
from reverie.storage.history import SqlHistory
from reverie.storage.ledger import SqlProposals, score_from_json, suggestion_as_json, suggestion_from_json

WORKING = (schema.chosen, schema.noticed, schema.planned, schema.answers)
_NOT_WORTH_A_WRITE = LEASE / 15


def owned_rows(table: Table, *columns: str) -> list[ColumnElement[bool]]:
    """For statements that are built once: somebody's rows by these columns, each given as its name with a `_`."""
    return [table.c[name] == bindparam(f"{name}_") for name in ("workspace", "user", *columns)]


def bind_values(**key: Any) -> dict[str, Any]:
    return {f"{name}_": value for name, value in key.items()}


# What every transaction of a night does, built once: building costs more than running it.
_LEASE = select(schema.leases).where(*owned_rows(schema.leases, "target")).with_for_update()
_NIGHT = select(schema.nights).where(*owned_rows(schema.nights, "dream")).with_for_update()
_LAST_LONGER = update(schema.leases).where(*owned_rows(schema.leases, "target")).values(until=bindparam("to"))


class SqlLeases(SqlAdapter):
    """`holder` names the machine and the home: of one holder's processes a lock of the system lets one dream at a
    time, so whoever gets that far takes over from one that is dead.

    In the rows a target goes by its key, which `key_of` finds: two homes may each have one of the same name. Rows from
    before that have its name, and count for whoever has a target of it."""

    def __init__(
        self, engine: Engine, clock: Clock, holder: str = "", key_of: Callable[[str], str] = lambda name: name
    ) -> None:
        super().__init__(engine, clock)
        self._holder = holder or socket.gethostname()
        self._key_of = key_of

    def open(self, scope: Scope, dream: Dream, asked: SessionChoice) -> None:
        with writing(self._engine, scope) as connection:
            self._open(connection, scope, dream, asked)

    def _open(self, connection: Connection, scope: Scope, dream: Dream, asked: SessionChoice) -> None:
        told = {name: one for name, one in json_ready(asked).items() if name != "queued"}
        row = {"asked": json.dumps(told), "queued": asked.queued, "attempts": 0, "landing": False}
        connection.execute(insert(schema.nights), owner_key(scope) | {"dream": dream.id} | row)
        self._keep_dream(connection, scope, dream)

    def hold(self, scope: Scope, dream: Dream) -> Lease:
        now, ours = self._clock.now(), self._target(dream.target)
        with writing(self._engine, scope) as connection:
            target = _target_of(connection, scope, dream.id)
            if target not in ours:
                raise BadInput(
                    f"{dream.id} is a night over {target}, and {dream.target} is another target here.",
                    expected="a dream over a target of this home",
                    next_step="Run it from the home it was begun in.",
                )
            key = owner_key(scope) | {"target": target}
            held = _lease(connection, key)
            if held is not None and held.holder not in ("", self._holder) and held.until > now:
                raise StillLocked(
                    f"{held.holder} dreams over {dream.target}, or died doing so.",
                    expected="one dream over a target at a time",
                    next_step=f"Try again when it is done; if it is dead, after {rfc3339(held.until)}.",
                )
            token = held.token + 1 if held else 1
            row = {"holder": self._holder, "dream": dream.id, "token": token, "until": now + LEASE}
            upsert(connection, schema.leases, key, row)
            night = schema.nights
            taken = update(night).filter_by(**owner_key(scope), dream=dream.id).values(attempts=night.c.attempts + 1)
            mine = connection.execute(taken.returning(night.c.attempts, night.c.asked, night.c.queued)).one()
        return Lease(scope, dream.id, target, token, mine.attempts, asked_from(mine).run or dream.id)

    def release(self, lease: Lease) -> None:
        """The target is free, if it was still held so."""
        held = update(schema.leases).filter_by(**owner_key(lease.scope), target=lease.target, token=lease.token)
        with writing(self._engine, lease.scope) as connection:
            connection.execute(held.values(holder=""))

    def unfinished(self, scope: Scope, target: str | None = None) -> list[Dream]:
        dreams, night = schema.dreams, schema.nights
        begun = or_(dreams.c.status == Status.RUNNING, night.c.queued.is_(False) & (dreams.c.status == Status.PENDING))
        asked = select(dreams).join(night, of_night()).where(begun)
        here = [dreams.c.workspace == scope.workspace, dreams.c.user == (scope.user or "")]
        here.append(dreams.c.target.not_like("store:%"))  # those are a server's
        asked = asked.where(*here, *([dreams.c.target.in_(self._target(target))] if target else []))
        found = [(dream_from(row), row.target) for row in self._rows(scope, asked.order_by(dreams.c.number))]
        return [dream for dream, key in found if self._is_here(dream, key, unknown=True)]

    def _target(self, name: str) -> tuple[str, str]:
        """The name of a target in the rows."""
        return self._key_of(name), name

    def _is_here(self, dream: Dream, key: str, *, unknown: bool) -> bool:
        """Whether a night is over a target of this home's; `unknown` where no target of its name is there now."""
        try:
            return key in self._target(dream.target)
        except BadInput:
            return unknown

    def queued(self, scope: Scope) -> list[Queued]:
        dreams, night = schema.dreams, schema.nights
        whose = [dreams.c.workspace == scope.workspace, *([dreams.c.user == scope.user] if scope.user else [])]
        asked = self._free().where(*whose, night.c.queued, dreams.c.target.not_like("store:%"))
        found = self._rows(scope, asked.order_by(dreams.c.number))
        return [as_queued(row) for row in found if self._is_here(dream_from(row), row.target, unknown=False)]

    def _free(self) -> Select[Any]:
        """Nights that nobody has taken up, or whose worker has not been heard of for too long."""
        dreams, night, lease = schema.dreams, schema.nights, schema.leases
        there = (lease.c.workspace == dreams.c.workspace) & (lease.c.user == dreams.c.user)
        free = lease.c.token.is_(None) | (lease.c.holder == "") | (lease.c.until < self._clock.now())
        held = select(dreams, night.c.attempts, lease.c.token).join(night, of_night())
        held = held.outerjoin(lease, there & (lease.c.target == dreams.c.target))
        return held.where(or_(night.c.attempts == 0, free))

    def stop(self, scope: Scope, dream: Dream, *, even_landing: bool = False) -> Dream:
        with writing(self._engine, scope) as connection:
            # In the order of all who hold both.
            _lease(connection, owner_key(scope) | {"target": _target_of(connection, scope, dream.id)})
            night = _night(connection, scope, dream.id)
            found = select(schema.dreams.c.status).filter_by(**owner_key(scope), id=dream.id)
            status = connection.execute(found).scalar()
            if night is None or status in OVER:
                raise BadInput(f"{dream.id} is {status or 'unknown'}.", expected="a dream that is not over")
            if night.landing and not even_landing:
                raise BadInput(
                    f"{dream.id} is landing what it found.",
                    expected="a dream that has not begun to land",
                    next_step="Let it finish; `reverie undo` takes back what landed.",
                )
            self._over(connection, scope, dream)
        return dream

    @contextmanager
    def fenced(self, lease: Lease) -> Iterator[Connection]:
        """A transaction of the night, for whoever holds its lease now; which then lasts for another while."""
        key = owner_key(lease.scope) | {"target": lease.target}
        with writing(self._engine, lease.scope) as connection:
            held = _lease(connection, key)
            if held is None or held.token != lease.token:
                raise Overtaken(
                    f"Someone else has taken over the night on {lease.target}.",
                    next_step="Nothing more was written here; the other one finishes it.",
                )
            night = _night(connection, lease.scope, lease.dream)
            if night is None:
                raise Stopped
            until = self._clock.now() + LEASE
            if until - held.until > _NOT_WORTH_A_WRITE:
                connection.execute(_LAST_LONGER, bind_values(**key) | {"to": until})
            if night.attempts > 1:  # it gets on, however often it is broken off
                mine = update(schema.nights).filter_by(**owner_key(lease.scope), dream=lease.dream)
                connection.execute(mine.values(attempts=1))
            yield connection

    def _over(self, connection: Connection, scope: Scope, dream: Dream) -> None:
        """The night's own row and its line in the ledger; what it worked with goes, and its target is free."""
        here = owner_key(scope)
        for table in (*WORKING, schema.nights):
            connection.execute(delete(table).filter_by(**here, dream=dream.id))
        connection.execute(update(schema.leases).filter_by(**here, dream=dream.id).values(holder=""))
        self._keep_dream(connection, scope, dream)
        # For the ledger: that there was a dream, what it came to and what models took; none of its words.
        models = [asdict(one) for one in dream.consulted]
        body = {
            "dream": dream.id,
            "target": dream.target,
            "status": str(dream.status),
            "actor": scope.actor,
            "sessions": len(dream.sessions),
            "counts": dream.counts,
            **({"models": models} if models else {}),
        }
        ledger.append_to_ledger(connection, scope, "dream", body, self._clock.now())

    def _keep_dream(self, connection: Connection, scope: Scope, dream: Dream) -> None:
        row = values_of(dream, ("status", "started_at", "ended_at")) | {"details": _dream_details(dream)}
        if dream.status is Status.PENDING:
            row |= {"number": next_number(connection, scope.workspace, "dreams"), "target": self._key_of(dream.target)}
            connection.execute(insert(schema.dreams), owner_key(scope) | {"id": dream.id} | row)
        else:
            connection.execute(update(schema.dreams).filter_by(**owner_key(scope), id=dream.id).values(**row))


def of_night() -> ColumnElement[bool]:
    """A dream and its row as long as it is not over."""
    dreams, night = schema.dreams.c, schema.nights.c
    return (dreams.workspace == night.workspace) & (dreams.user == night.user) & (dreams.id == night.dream)


def as_queued(row: Any) -> Queued:
    return Queued(row.workspace, row.user, row.id, row.target, row.token if row.attempts else 0)


def _lease(connection: Connection, key: dict[str, Any]) -> Any:
    return connection.execute(_LEASE, bind_values(**key)).first()


def _night(connection: Connection, scope: Scope, dream: str) -> Any:
    return connection.execute(_NIGHT, bind_values(**owner_key(scope), dream=dream)).first()


def _target_of(connection: Connection, scope: Scope, dream: str) -> str:
    """Its key, as the night was opened with."""
    return connection.execute(select(schema.dreams.c.target).filter_by(**owner_key(scope), id=dream)).scalar() or ""


class _Fenced:
    """An Engine, as far as our records use one, whose every writing transaction is one of the night's."""

    def __init__(self, engine: Engine, leases: SqlLeases, lease: Lease) -> None:
        self._engine, self._leases, self._lease = engine, leases, lease
        self.dialect = engine.dialect

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        with self._leases.fenced(self._lease) as connection:
            yield connection

    def execution_options(self, **options: Any) -> Engine:
        return self._engine.execution_options(**options) if options.get("reads") else cast(Engine, self)


def fenced_review(review: Review, engine: Engine, leases: SqlLeases, lease: Lease) -> Review:
    """Review as a night uses it: whatever it commits, it commits only while the night holds its lease.

    Who was stopped in the middle of a landing and wakes after another has taken over cannot intend a change any more,
    nor settle one; what it left half done is finished by the other, as after a crash.
    """
    fenced = cast(Engine, _Fenced(engine, leases, lease))
    history = SqlHistory(fenced, review.clock, review.landing.ids)
    proposals = SqlProposals(fenced, review.clock)
    outside = replace(review.outside, records=history)
    return replace(
        review,
        records=history,
        proposals=proposals,
        outside=outside,
        proposing=replace(review.proposing, records=history, proposals=proposals),
        landing=replace(review.landing, records=history, outside=outside),
    )


_JUDGED = tuple(field.name for field in fields(Judged))
_CANDIDATE = ("kind", "text", "confidence", "explicitness", "about", "language", "marks")
_COUNTED = ("noticed", "carried", "themes", "duplicates", "reduced")
_DREAM = (*_COUNTED, "target", "mode", "left", "left_out", "partial", "diary", "dropped", "enough", "flaws")
_THOUGHT = (*_COUNTED, "staged", "settled", "curator")


def noted_row(one: Noted) -> dict[str, Any]:
    candidate = one.candidate
    told = values_of(candidate, _CANDIDATE) | {"speaker": one.speaker}
    told |= {"evidence": evidence_as_json(candidate.evidence), "dates": [day.isoformat() for day in candidate.dates]}
    return values_of(one, ("id", "session_id", "said_at")) | {"details": json.dumps(told, ensure_ascii=False)}


def noted_from(row: Any) -> Noted:
    told = json.loads(row.details)
    dates = [date.fromisoformat(day) for day in told["dates"]]
    candidate = from_json(Candidate, told | {"evidence": evidence_from_json(told["evidence"]), "dates": dates})
    return Noted(row.id, candidate, row.session_id, told["speaker"], row.said_at)


def noted_from_json(told: dict[str, Any]) -> Noted:
    said_at = datetime.fromisoformat(told["said_at"]) if told["said_at"] else None
    return noted_from(SimpleNamespace(**told | {"said_at": said_at}))


def _dream_details(dream: Dream) -> str:
    told = values_of(dream, _DREAM) | {"judged": [judged_as_json(one) for one in dream.judged]}
    told |= {name: [asdict(one) for one in getattr(dream, name)] for name in ("sessions", "consulted")}
    return json.dumps(told)


def judged_as_json(one: Judged) -> dict[str, Any]:
    """Not by `asdict`, which copies every word: a night has hundreds of these."""
    told = values_of(one, (name for name in _JUDGED if name != "confirms" or one.confirms))
    return told | {"evidence": evidence_as_json(one.evidence), "score": one.score and score_as_json(one.score)}


def dream_from(row: Any) -> Dream:
    told = json.loads(row.details)
    told |= {"target": told.get("target", row.target), "judged": tuple(map(judged_from_json, told["judged"]))}
    return from_json(Dream, told | values_of(row, ("id", "status", "started_at", "ended_at")))


def judged_from_json(told: dict[str, Any]) -> Judged:
    score = score_from_json(told["score"])
    return from_json(Judged, told | {"evidence": evidence_from_json(told["evidence"]), "score": score})


def asked_from(row: Any) -> SessionChoice:
    return from_json(SessionChoice, {"once": True} | json.loads(row.asked) | {"queued": row.queued})


def planned_details(one: Planned) -> str:
    told = {"judged": judged_as_json(one.judged), "asks": one.asks, "done": one.done, "suggestion": None}
    if wanted := one.suggestion:
        assert not wanted.edits, "a dream suggests operations and amendments"
        told["suggestion"] = values_of(wanted, ("target", "subject", "proposer", "dream")) | suggestion_as_json(wanted)
    return json.dumps(told, ensure_ascii=False)


def planned_from(row: Any) -> Planned:
    told = json.loads(row.details)
    suggestion = suggestion_from_json(told["suggestion"]) if told["suggestion"] else None
    if row.became is None:
        return Planned(judged_from_json(told["judged"]), suggestion, told["asks"], told["done"])
    return Planned(judged_from_json(json.loads(row.became)), suggestion, told["asks"], True)


def thought_details(thought: Thought) -> str:
    """Its counts and ids; the plan has rows of its own."""
    told = values_of(thought, _THOUGHT) | {"told": told_details(thought.told)}
    return json.dumps(told | {"extra": [json_ready(noted_row(one)) for one in thought.extra]})


def thought_from(details: str, planned: tuple[Planned, ...]) -> Thought:
    told = json.loads(details)
    told |= {"planned": planned, "told": told_from(told.get("told"))}
    return from_json(Thought, told | {"extra": [noted_from_json(one) for one in told.get("extra", ())]})


def told_details(told: ModelReport) -> str | None:
    return json.dumps(asdict(told)) if told != ModelReport() else None


def told_from(details: str | None) -> ModelReport:
    return ModelReport(**json.loads(details)) if details else ModelReport()
