"""The Asker of a night: the model of the settings, with its key, within the caps; and what it was asked, in rows.

Implements `reverie.llm.budget.Ledger` for one dream. A call's row is there before the call is made, with what is
reserved for it, so that a cap holds across crashes and processes: what was killed under way counts as reserved. Its
answer is written with what it took, in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from math import ceil
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Engine, Select, func, insert, or_, select, update

from reverie.core.clock import Clock, month_before
from reverie.core.ids import from_json, values_of
from reverie.core.scope import Scope
from reverie.dreams.records import Lease
from reverie.llm.asker import Asker, RetryPolicy, Timing
from reverie.llm.budget import Budget, Call, Cap, CapReached, Price, RecordedAnswer, Reservation, Spent, call_of
from reverie.llm.clients.models import client, is_here, price_of
from reverie.llm.question import MARGIN, Failed, Question, Reply, Usage
from reverie.llm.settings import AT_ONCE, Choice, ModelInfo, ModelSettings, overrides
from reverie.storage import schema
from reverie.storage.database import hold, owner_key, put_if_new, writing
from reverie.storage.dreams.leases import SqlLeases

UNDER_WAY = "under way"
_BILLIONTHS = Decimal(1_000_000_000)
_MOST = 10**15  # whatever a provider reports has to fit a column


@dataclass(frozen=True, slots=True)
class SqlLedger:
    """The budget and the calls of one dream. `night` is for all dreams of its run together, over whatever targets;
    `month` for all nights of the workspace in this calendar month."""

    fenced: Callable[[Lease], AbstractContextManager[Connection]]
    lease: Lease
    clock: Clock
    zone: ZoneInfo
    night: Cap
    month: Cap
    price: Price | None

    def recorded(self, question: Question[Any]) -> RecordedAnswer | None:
        asked = select(schema.answers.c.value).filter_by(**self._answer(question))
        with self.fenced(self.lease) as connection:
            found = connection.execute(asked).scalar()
        return None if found is None else RecordedAnswer(json.loads(found))

    def reserve(self, question: Question[Any], model: str, most_tokens: int) -> Reservation | CapReached:
        wanted = Reservation(ceil(question.tokens * MARGIN), most_tokens, self.price)
        with self.fenced(self.lease) as connection:
            hold(connection, f"spending of {self.lease.scope.workspace}")
            run = or_(schema.calls.c.run == self.lease.run, schema.calls.c.dream == self.lease.dream)
            spent = total(connection, _spending().filter_by(**owner_key(self.lease.scope)).where(run))
            month = total(connection, spent_since(self.lease.scope, month_before(self.clock.now(), self.zone)))
            if full := Budget(self.night, self.month, month, spent).why_not(wanted):
                return full
            last = connection.execute(select(func.max(schema.calls.c.number)).filter_by(**self._night())).scalar()
            made = replace(wanted, number=(last or 0) + 1)
            # Until there is an answer it counts as one that was billed, and of which nothing is known.
            call = call_of(question, model, wanted, Failed(UNDER_WAY, 0.0, billed=True), UNDER_WAY)
            row = {"number": made.number, "phase": str(question.role), "model": model, "question": question.sha256}
            row |= {"prompt": question.prompt, "prompt_sha256": question.prompt_sha256, "at": self.clock.now()}
            row |= {"run": self.lease.run}
            connection.execute(insert(schema.calls), self._night() | row | _figures(call))
            return made

    def settle(
        self,
        question: Question[Any],
        model: str,
        reserved: Reservation,
        reply: Reply,
        outcome: str,
        *,
        answer: RecordedAnswer | None = None,
    ) -> None:
        call = call_of(question, model, reserved, reply, outcome)
        row = update(schema.calls).filter_by(**self._night(), number=reserved.number)
        with self.fenced(self.lease) as connection:
            connection.execute(row.values(**_figures(call)))
            if answer is not None:
                put_if_new(connection, schema.answers, self._answer(question), {"value": json.dumps(answer.value)})

    def _night(self) -> dict[str, Any]:
        return owner_key(self.lease.scope) | {"dream": self.lease.dream}

    def _answer(self, question: Question[Any]) -> dict[str, Any]:
        return self._night() | {"phase": str(question.role), "question": question.sha256}


def spent_since(scope: Scope, since: datetime) -> Select[Any]:
    """By everyone in the workspace."""
    return _spending().where(schema.calls.c.workspace == scope.workspace, schema.calls.c.at >= since)


def _spending() -> Select[Any]:
    table = schema.calls
    tokens = func.coalesce(func.sum(table.c.tokens_in + table.c.tokens_out), 0)
    return select(tokens, func.coalesce(func.sum(table.c.cost), 0), func.count())


def total(connection: Connection, asked: Select[Any]) -> Spent:
    tokens, cost, requests = connection.execute(asked).one()
    return Spent(int(tokens), Decimal(int(cost)) / _BILLIONTHS, int(requests))


def _figures(call: Call) -> dict[str, Any]:
    cost = None if call.cost is None else int((call.cost * _BILLIONTHS).to_integral_value(ROUND_CEILING))
    usage = values_of(call.usage, ("tokens_in", "tokens_out", "cached"))
    taken = {name: min(count, _MOST) for name, count in usage.items()}
    told = values_of(call, ("outcome", "reported", "seconds")) | {"cost": cost and min(cost, _MOST)}
    return taken | told | {"sent": call.sent_characters, "whole": call.of_characters}


def call_from(row: Any) -> Call:
    cost = None if row.cost is None else Decimal(row.cost) / _BILLIONTHS
    named = {"role": row.phase, "sent_characters": row.sent, "of_characters": row.whole}
    return from_json(Call, {**row._mapping, **named, "usage": from_json(Usage, row._mapping), "cost": cost})


@dataclass(frozen=True, slots=True)
class AskerFactory:
    """Makes one Asker for each night. `policy` is for tests: without one it is that of the settings."""

    settings: ModelSettings
    environment: Mapping[str, str]
    records: Callable[[], SqlLeases]
    clock: Clock
    zone: ZoneInfo
    engine: Callable[[], Engine]
    policy: RetryPolicy | None = None
    timing: Timing = field(default_factory=Timing)

    def check(self) -> None:
        """Raise `BadSetting` for what cannot work, before the night begins."""
        if self.settings.choice:
            client(self.settings.choice, self.environment)
        overrides(self.settings.prompts)

    def of_night(self, lease: Lease) -> Asker | None:
        """None where no model is set. All questions of a night go to the same Asker."""
        return self._asker(self.records().fenced, lease)

    def _asker(self, fenced: Callable[[Lease], AbstractContextManager[Connection]], lease: Lease) -> Asker | None:
        settings, chosen = self.settings, self.settings.choice
        if chosen is None:
            return None
        ledger = SqlLedger(fenced, lease, self.clock, self.zone, settings.night, settings.month, _price(chosen))
        policy = self.policy or RetryPolicy(timeout=settings.timeout, answer_tokens=settings.answer_tokens)
        at_once = settings.at_once or (1 if is_here(chosen) else AT_ONCE)
        return Asker(client(chosen, self.environment), ledger, policy, self.timing, at_once)

    def of_errand(self, scope: Scope, name: str) -> Asker | None:
        """For what is no night: the same caps, and every call on the same list, under this name."""
        engine = self.engine()  # nothing is held, and nobody takes over
        return self._asker(lambda lease: writing(engine, lease.scope), Lease(scope, name, name, 0, run=name))

    def info(self) -> ModelInfo | None:
        """For a Brief and for an estimate. No key is needed."""
        chosen = self.settings.choice
        if chosen is None:
            return None
        return ModelInfo(chosen.text, _price(chosen), self.settings, overrides(self.settings.prompts))


def _price(chosen: Choice) -> Price | None:
    """The price: a person's own counts at an address they gave, and where no list knows better."""
    return (chosen.price if chosen.given else None) or price_of(chosen) or chosen.price
