"""A hard cap on tokens and money, per dream and per day: reserve the worst before a call, settle after it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from reverie.models.question import Usage

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    tokens_in: Decimal
    tokens_out: Decimal
    cached: Decimal | None = None

    def of(self, usage: Usage) -> Decimal:
        cached = min(usage.cached, usage.tokens_in)
        read = (usage.tokens_in - cached) * self.tokens_in
        again = cached * (self.tokens_in if self.cached is None else self.cached)
        return (read + again + usage.tokens_out * self.tokens_out) / _MILLION


FREE = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Spent:
    tokens: int = 0
    money: Decimal = Decimal(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.money + other.money)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.tokens - other.tokens, self.money - other.money)


@dataclass(frozen=True, slots=True)
class Cap:
    """At most so much. None is no limit."""

    tokens: int | None = None
    money: Decimal | None = None

    def why_not(self, spent: Spent, of: str) -> str | None:
        """Why so much may not be spent, or None."""
        if self.tokens is not None and spent.tokens > self.tokens:
            return f"it could take {spent.tokens:,} tokens {of}, and the cap is {self.tokens:,}"
        if self.money is not None and spent.money > self.money:
            return f"it could cost ${spent.money:.4f} {of}, and the cap is ${self.money:.4f}"
        return None


@dataclass(frozen=True, slots=True)
class CapReached:
    """There is no room for another call. Nothing was sent; the night goes on without the model."""

    why: str


@dataclass(frozen=True, slots=True)
class CapExceeded:
    """A provider reports more than a call could have taken. The dream stops."""

    why: str
    reserved: Spent
    reported: Spent


@dataclass(frozen=True, slots=True)
class Reservation:
    """The worst a call can take: its prompt and the limit of its output."""

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
    """What one dream may spend, and what it has spent, with calls under way at their worst.

    `today` is what other dreams of the same day spent.
    """

    dream: Cap = Cap()
    day: Cap = Cap()
    today: Spent = Spent()
    spent: Spent = Spent()

    def why_not(self, wanted: Reservation) -> CapReached | None:
        """Why there is no room for a call, or None."""
        if wanted.price is None and (self.dream.money is not None or self.day.money is not None):
            return CapReached("there is a cap on money, and the price of this model is not known")
        after = self.spent + wanted.worst
        why = self.dream.why_not(after, "in this dream") or self.day.why_not(self.today + after, "today")
        return CapReached(why) if why else None


def exceeded(reserved: Reservation, usage: Usage | None) -> CapExceeded | None:
    """A provider that reports more than was possible cannot be believed."""
    if usage is None or (usage.tokens_in <= reserved.tokens_in and usage.tokens_out <= reserved.tokens_out):
        return None
    why = (
        f"the provider reports {usage.tokens_in:,} tokens in and {usage.tokens_out:,} out, "
        f"where at most {reserved.tokens_in:,} and {reserved.tokens_out:,} were possible"
    )
    return CapExceeded(why, reserved.worst, reserved.cost_of(usage))
