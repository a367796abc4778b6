"""Every call on one list: who asked what, what it took, how much of the transcript it showed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from reverie.models.budget import CapExceeded, CapReached, Price, Reservation
from reverie.models.choice import Role
from reverie.models.question import Failed, Question, Replied, Reply, Usage


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `usage` is what was counted; `reported` says whether the provider said so or it is the worst case.

    `cost` is None where the price is not known. Of the text nothing is kept but its length.
    """

    role: Role
    model: str
    prompt: str
    prompt_sha256: str
    outcome: str
    usage: Usage
    reported: bool
    cost: Decimal | None
    seconds: float
    sent_characters: int
    of_characters: int


@dataclass(frozen=True, slots=True)
class Total:
    """The calls of one role, added up."""

    calls: int
    failed: int
    usage: Usage
    cost: Decimal | None
    seconds: float
    sent: int
    whole: int

    @property
    def share(self) -> float:
        """How much of the transcripts was shown of which anything was."""
        return self.sent / self.whole if self.whole else 0.0


ANSWERED = "answered"


def totals(calls: Iterable[Call]) -> dict[Role, Total]:
    """Per phase: what it took, and which share of the text it was shown (a passage sent twice counts twice)."""
    every = list(calls)
    return {role: _total([call for call in every if call.role == role]) for role in Role if _has(every, role)}


def _has(calls: list[Call], role: Role) -> bool:
    return any(call.role == role for call in calls)


def _total(calls: list[Call]) -> Total:
    costs = [call.cost for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Total(
        calls=len(calls),
        failed=sum(call.outcome != ANSWERED for call in calls),
        usage=sum((call.usage for call in calls), Usage()),
        cost=sum(known, Decimal(0)) if len(known) == len(costs) else None,
        seconds=sum(call.seconds for call in calls),
        sent=sum(call.sent_characters for call in calls),
        whole=sum(call.of_characters for call in calls),
    )


Prices = Callable[[Role], Price | None]


@dataclass(frozen=True, slots=True)
class Recorded:
    """An answer that was given before."""

    value: object


class Paying(Protocol):
    """Who holds the budget and the list of calls, and knows what was answered already."""

    def recorded(self, question: Question) -> Recorded | None: ...

    def reserve(self, question: Question, model: str, most_tokens: int) -> Reservation | CapReached | CapExceeded: ...

    def settle(
        self, question: Question, model: str, reserved: Reservation, reply: Reply, outcome: str,
        *, answer: Recorded | None = None,
    ) -> CapExceeded | None:  # fmt: skip
        """Put a call on the list, and its answer beside it. What comes back, if anything, stops the dream."""
        ...


def call_of(question: Question, model: str, reserved: Reservation, reply: Reply, outcome: str) -> Call:
    free = isinstance(reply, Failed) and not reply.billed
    worst = Usage() if free else Usage(reserved.tokens_in, reserved.tokens_out)
    usage = worst if reply.usage is None else reply.usage
    return Call(
        role=question.role,
        model=model,
        prompt=question.prompt,
        prompt_sha256=question.prompt_sha256,
        outcome=outcome,
        usage=usage,
        reported=reply.usage is not None or free,
        cost=reserved.price.of(usage) if reserved.price else None,
        seconds=reply.seconds,
        sent_characters=question.sent_characters if isinstance(reply, Replied) or reply.billed else 0,
        of_characters=question.of_characters,
    )
