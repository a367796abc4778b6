"""Asking a question until there is an answer of the right shape, time or money runs out, or it is no use.

What a provider does wrong never raises: the question is asked again within bounds, or dropped with a reason.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from reverie.models.budget import CapExceeded, CapReached, Reservation
from reverie.models.ledger import ANSWERED, Paying, Recorded
from reverie.models.question import Failed, Model, Question, Replied, Reply, Usage
from reverie.models.schema import faults
from reverie.models.strict_json import NotStrict, strict_json


@dataclass(frozen=True, slots=True)
class Answer:
    """A value of the shape that was asked for."""

    value: object
    usage: Usage
    seconds: float
    tries: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """No answer, and why, for the diary. The night goes on.

    `failed`: the provider could not answer, however often it was asked. `away` is how long it then wants to be left
    alone, if it said so.
    """

    why: str
    tries: int
    failed: bool = field(default=False, compare=False)
    away: float | None = field(default=None, compare=False)


Outcome = Answer | Dropped | CapReached | CapExceeded


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often. `seconds` is for a question with all its tries and waits."""

    seconds: float = 120.0
    tries: int = 3
    unusable_tries: int = 2
    most_tokens: int = 2_000
    longest_wait: float = 30.0
    first_wait: float = 1.0
    failures_before_rest: int = 3
    rest: float = 300.0
    longest_rest: float = 3_600.0


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, the bed and the dice, so that a test need not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(slots=True)
class _Rest:
    """A provider that is down or says "later" is left alone for a while, not asked for every passage of the night."""

    until: float = 0.0
    why: str = ""
    failures: int = 0

    def begin(self, until: float, why: str) -> None:
        self.until, self.why, self.failures = until, why, 0


@dataclass(frozen=True, slots=True)
class _Try:
    number: int
    unusable: int
    left: float


Reserved = Reservation | Dropped | CapReached | CapExceeded


@dataclass(frozen=True, slots=True)
class Asker:
    """One model, for one dream, within one purse. Up to `at_once` questions may be under way (`models.ahead`).

    Whoever asks several at once calls `reserved` in the order they stand, and `pursued` from wherever; what came of a
    question is taken from `dropped` and the purse by `ask`, one after the other.
    """

    model: Model
    purse: Paying
    patience: Patience = Patience()
    timing: Timing = Timing()
    at_once: int = 1
    dropped: dict[str, Dropped] = field(default_factory=dict)  # by the hash of a question that was asked ahead
    _rest: _Rest = field(default_factory=_Rest)

    def ask(self, question: Question) -> Outcome:
        """What was answered before is not asked again."""
        outcome = self._found(question)
        if outcome is None:
            reserved = self.reserved(question)
            outcome = self.pursued(question, reserved) if isinstance(reserved, Reservation) else reserved
        self._learn(outcome)
        return outcome

    def _found(self, question: Question) -> Outcome | None:
        known = self.purse.recorded(question)
        return Answer(known.value, Usage(), 0.0, 0) if known else self.dropped.pop(question.sha256, None)

    def reserved(self, question: Question) -> Reserved:
        """Room for the first try, or why there is none."""
        if self.timing.now() < self._rest.until:
            return Dropped(f"the model is left alone for now: {self._rest.why}", 0)
        return self.purse.reserve(question, self.model.name, self.patience.most_tokens)

    def pursued(self, question: Question, reserved: Reservation) -> Outcome:
        """All tries of a question for which there is room. Changes nothing here, so several may run at once."""
        started, unusable = self.timing.now(), 0
        for number in range(1, self.patience.tries + 1):
            room: Reserved = reserved
            if number > 1:
                room = self.purse.reserve(question, self.model.name, self.patience.most_tokens)
            if not isinstance(room, Reservation):
                return room
            left = self.patience.seconds - (self.timing.now() - started)
            done = self._tried(question, room, _Try(number, unusable, left))
            if not isinstance(done, _AskAgain):
                return done
            unusable += done.unusable
            if done.wait:
                self.timing.sleep(done.wait)
        raise AssertionError("the last try decides")  # pragma: no cover

    def _tried(self, question: Question, reserved: Reservation, this: _Try) -> Outcome | _AskAgain:
        reply = self.model.ask(question, self.patience.most_tokens, max(this.left, 0.01))
        read = _read(reply, question)
        outcome = read if isinstance(read, str) else ANSWERED
        answer = None if isinstance(read, str) else Recorded(read.value)
        exceeded = self.purse.settle(question, self.model.name, reserved, reply, outcome, answer=answer)
        if exceeded:
            return exceeded
        if isinstance(reply, Failed):
            return self._after_failure(reply, this)
        if not isinstance(read, str):
            return Answer(read.value, reply.usage or Usage(), reply.seconds, this.number)
        last = this.number == self.patience.tries or this.unusable + 1 >= self.patience.unusable_tries
        return Dropped(read, this.number) if last or reply.cut_short else _AskAgain(unusable=1)

    def _after_failure(self, failed: Failed, this: _Try) -> Dropped | _AskAgain:
        if not failed.again:
            return Dropped(failed.why, this.number)
        wait = self._wait(failed, this.number)
        too_long = failed.wait is not None and failed.wait > self.patience.longest_wait
        if too_long or this.number == self.patience.tries or wait + failed.seconds >= this.left:
            return Dropped(failed.why, this.number, failed=True, away=failed.wait if too_long else None)
        return _AskAgain(wait=wait)

    def _learn(self, outcome: Outcome) -> None:
        """When to leave the provider alone."""
        now, patience = self.timing.now(), self.patience
        if isinstance(outcome, Answer) or (isinstance(outcome, Dropped) and outcome.tries and not outcome.failed):
            self._rest.failures = 0
        elif isinstance(outcome, Dropped) and outcome.away is not None:
            self._rest.begin(now + min(outcome.away, patience.longest_rest), outcome.why)
        elif isinstance(outcome, Dropped) and outcome.failed:
            self._rest.failures += 1
            if self._rest.failures >= patience.failures_before_rest:
                self._rest.begin(now + patience.rest, outcome.why)

    def _wait(self, failed: Failed, number: int) -> float:
        """What the provider asked for and a little more, or twice as long each time with some chance in it."""
        if failed.wait is not None:
            return failed.wait * (1 + 0.1 * self.timing.chance())
        most = min(self.patience.first_wait * 2.0 ** (number - 1), self.patience.longest_wait)
        return most * (0.5 + 0.5 * self.timing.chance())


@dataclass(frozen=True, slots=True)
class _AskAgain:
    wait: float = 0.0
    unusable: int = 0


@dataclass(frozen=True, slots=True)
class _Value:
    value: object


def _read(reply: Reply, question: Question) -> _Value | str:
    """The value of a reply, or why there is none."""
    if isinstance(reply, Failed):
        return reply.why
    if reply.cut_short:
        return "the reply did not fit into the limit of its length"
    return _value(reply, question)


def _value(reply: Replied, question: Question) -> _Value | str:
    try:
        value = strict_json(reply.text)
    except NotStrict as error:
        return f"the reply cannot be read: {error}"
    wrong = next(faults(value, question.shape), None)
    return f"the reply has the wrong shape: {wrong}" if wrong else _Value(value)
