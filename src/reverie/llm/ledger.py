"""Every request on one list: who asked what, what it took, how much of the transcripts it showed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from reverie.llm.budget import CapReached, Reservation
from reverie.llm.question import Failed, Question, Replied, Reply, Usage

ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `usage` is what was counted; `reported` says whether the provider said so; if not, it is
    what was reserved.

    `role` is a text: homes hold calls of roles that are gone. `cost` is None where the price is not known. Of the text
    nothing is kept but its length.
    """

    role: str
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
        """The share of the transcripts that was shown, of those of which anything was."""
        return self.sent / self.whole if self.whole else 0.0


def totals(calls: Iterable[Call]) -> dict[str, Total]:
    """Per role, in the order they were first asked."""
    by_role: dict[str, list[Call]] = {}
    for call in calls:
        by_role.setdefault(call.role, []).append(call)
    return {role: _total(of_role) for role, of_role in by_role.items()}


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


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer that was given before: the JSON as it was read."""

    value: object


class Ledger(Protocol):
    """The keeper of the budget and the list of calls, who knows what was answered already."""

    def recorded(self, question: Question[Any]) -> RecordedAnswer | None: ...

    def reserve(self, question: Question[Any], model: str, most_tokens: int) -> Reservation | CapReached: ...

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
        """Put a call on the list with what it took, more than was reserved included, and its answer beside it."""
        ...


def call_of(question: Question[Any], model: str, reserved: Reservation, reply: Reply, outcome: str) -> Call:
    free = isinstance(reply, Failed) and not reply.billed
    worst = Usage() if free else Usage(reserved.tokens_in, reserved.tokens_out)
    usage = worst if reply.usage is None else reply.usage
    return Call(
        role=str(question.role),
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
