"""A hard cap on tokens and money, per night and per month: reserve before a request, settle after it.

Every request stands on one list: who asked what, what it took, how much of the transcripts it showed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from reverie.llm.question import Failed, Question, Replied, Reply, Usage

_MILLION = Decimal(1_000_000)
ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens. Where a price for the cache is not known, that of other input holds."""

    tokens_in: Decimal
    tokens_out: Decimal
    cached: Decimal | None = None
    cache_written: Decimal | None = None

    def of(self, usage: Usage) -> Decimal:
        cached = min(usage.cached, usage.tokens_in)
        written = min(usage.cache_written, usage.tokens_in - cached)
        cost = (usage.tokens_in - cached - written) * self.tokens_in + usage.tokens_out * self.tokens_out
        cost += cached * (self.tokens_in if self.cached is None else self.cached)
        cost += written * (self.tokens_in if self.cache_written is None else self.cache_written)
        return cost / _MILLION


FREE = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Spent:
    tokens: int = 0
    money: Decimal = Decimal(0)
    requests: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.money + other.money, self.requests + other.requests)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.tokens - other.tokens, self.money - other.money, self.requests - other.requests)


@dataclass(frozen=True, slots=True)
class Cap:
    """At most so much. None is no limit."""

    tokens: int | None = None
    money: Decimal | None = None

    def why_not(self, spent: Spent, wanted: Spent, per: str) -> str | None:
        """Why so much more may not be spent, or None. `per` is `night` or `month`."""
        if self.tokens is not None and spent.tokens + wanted.tokens > self.tokens:
            return (
                f"model_tokens_per_{per} is {self.tokens:,}, {spent.tokens:,} are used or reserved, "
                f"and the request could take {wanted.tokens:,} more"
            )
        if self.money is not None and spent.money + wanted.money > self.money:
            return (
                f"model_dollars_per_{per} is ${self.money:.4f}, ${spent.money:.4f} is used or reserved, "
                f"and the request could cost ${wanted.money:.4f} more"
            )
        return None


@dataclass(frozen=True, slots=True)
class CapReached:
    """There is no room for another request. Nothing was sent; the night goes on without the model."""

    why: str


@dataclass(frozen=True, slots=True)
class Reservation:
    """The tokens a request may take: about its prompt, and the limit of its answer. More that is reported is booked,
    too."""

    tokens_in: int
    tokens_out: int
    price: Price | None
    number: int = 0  # of the call it was made for, where calls are numbered

    @property
    def worst(self) -> Spent:
        return self.cost_of(Usage(self.tokens_in, self.tokens_out))

    def cost_of(self, usage: Usage) -> Spent:
        return Spent(usage.total, self.price.of(usage) if self.price else Decimal(0))


@dataclass(frozen=True, slots=True)
class Budget:
    """The money one night may spend and has spent, over all dreams of its run, with requests under way at their worst.

    `this_month` is what all nights of the workspace spent in this calendar month, this one included.
    """

    night: Cap = Cap()
    month: Cap = Cap()
    this_month: Spent = Spent()
    spent: Spent = Spent()

    def why_not(self, wanted: Reservation) -> CapReached | None:
        """Why there is no room for a request, or None."""
        if wanted.price is None and (self.night.money is not None or self.month.money is not None):
            return CapReached("There is a cap in dollars, and the price of the model is not known: set model_price")
        why = self.night.why_not(self.spent, wanted.worst, "night")
        why = why or self.month.why_not(self.this_month, wanted.worst, "month")
        return CapReached(why) if why else None


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
    found = dict[str, Total]()
    for role, of_role in by_role.items():
        known = [call.cost for call in of_role if call.cost is not None]
        found[role] = Total(
            calls=len(of_role),
            failed=sum(call.outcome != ANSWERED for call in of_role),
            usage=sum((call.usage for call in of_role), Usage()),
            cost=sum(known, Decimal(0)) if len(known) == len(of_role) else None,
            seconds=sum(call.seconds for call in of_role),
            sent=sum(call.sent_characters for call in of_role),
            whole=sum(call.of_characters for call in of_role),
        )
    return found


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
