"""Asking a question until there is an answer that can be used, the budget is spent, or it is no use.

What a provider does wrong never raises: the question is asked again within bounds, or dropped with a reason.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from reverie.llm.budget import ANSWERED, CapReached, Ledger, RecordedAnswer
from reverie.llm.question import CorrectedAnswer, Failed, Model, NotJson, Question, Reply, Usage, Wrong, json_in_answer
from reverie.llm.settings import ANSWER_TOKENS, MOST_ANSWER_TOKENS, TIMEOUT

T = TypeVar("T")
_LESS_ROOM = 4_000  # tokens for an answer, where more did not fit
_LONGEST_SHOWN = 20_000  # characters of an answer that are repeated to the model that gave it


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer as `read` understood it. `requests` is 0 where it was recorded before."""

    value: T
    usage: Usage
    seconds: float
    requests: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """No answer, and why, for the diary. The night goes on."""

    why: str
    requests: int


@dataclass(frozen=True, slots=True)
class Denied:
    """The provider refused the key (401 or 403). No other request is made in this night."""

    why: str


Outcome = Answer[T] | Dropped | CapReached | Denied


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The timeout and the number of tries. `timeout` is for one request; what ran out of time is not asked again."""

    timeout: float = TIMEOUT
    answer_tokens: int = ANSWER_TOKENS
    most_answer_tokens: int = MOST_ANSWER_TOKENS
    tries: int = 3
    first_wait: float = 1.0
    longest_wait: float = 30.0
    failures_before_pause: int = 3
    pause: float = 300.0
    longest_pause: float = 3_600.0


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, the waiting and the chance, so that a test need not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(slots=True)
class _Provider:
    """The provider's state tonight: whether it refused the key, and until when it is left alone, and why."""

    denied: Denied | None = None
    paused_until: float = 0.0
    why: str = ""
    failures: int = 0

    def pause(self, until: float, why: str) -> None:
        self.paused_until, self.why, self.failures = until, why, 0


@dataclass(frozen=True, slots=True)
class _Progress:
    """The tries for one question so far."""

    requests: int = 0
    corrected: bool = False
    resized: bool = False
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Asker:
    """One model, for one night, within one budget."""

    model: Model
    ledger: Ledger
    policy: RetryPolicy = RetryPolicy()
    timing: Timing = Timing()
    at_once: int = 1
    _provider: _Provider = field(default_factory=_Provider, repr=False)

    def ask(self, question: Question[T]) -> Outcome[T]:
        """Ask, unless the same was answered before."""
        known = self.ledger.recorded(question)
        if known is not None and not isinstance(value := question.read(known.value), Wrong):
            return Answer(value, Usage(), 0.0, 0)
        return self._request(question, self.policy.answer_tokens, _Progress())

    def ask_all(self, questions: Sequence[Question[T]]) -> list[Outcome[T]]:
        """Several questions, `at_once` of them under way at a time; the outcomes in the order of the questions.

        The first is asked alone: a key that is refused is refused once, and the provider's cache holds the prompt by
        the time the others are asked.
        """
        outcomes = [self.ask(question) for question in questions[:1]]
        with ThreadPoolExecutor(self.at_once, "model") as threads:
            outcomes += threads.map(self.ask, questions[1:])
        # What was under way was reserved at its worst: now that it is settled there may be room for the others.
        return [
            self.ask(question) if isinstance(outcome, CapReached) else outcome
            for question, outcome in zip(questions, outcomes, strict=True)
        ]

    def _request(self, question: Question[T], room: int, before: _Progress) -> Outcome[T]:
        """One request and, where it may help, the next one."""
        provider, policy = self._provider, self.policy
        if provider.denied:
            return provider.denied
        if self.timing.now() < provider.paused_until:
            return Dropped(f"the model is left alone for now: {provider.why}", before.requests)
        reserved = self.ledger.reserve(question, self.model.name, room)
        if isinstance(reserved, CapReached):
            return reserved
        reply = self.model.ask(question, room, policy.timeout)
        read = _read(reply, question)
        recorded = read[0] if isinstance(read, tuple) else None
        outcome = read.why if isinstance(read, Wrong) else ANSWERED
        self.ledger.settle(question, self.model.name, reserved, reply, outcome, answer=recorded)
        so_far = replace(
            before,
            requests=before.requests + 1,
            usage=before.usage + (reply.usage or Usage()),
            seconds=before.seconds + reply.seconds,
        )
        if isinstance(reply, Failed):
            return self._after_failure(question, room, reply, so_far)
        provider.failures = 0
        if not isinstance(read, Wrong):
            return Answer(read[1], so_far.usage, so_far.seconds, so_far.requests)
        if reply.cut_short:
            more = min(2 * room, max(room, policy.most_answer_tokens))
            if so_far.resized or more == room:
                return Dropped(f"{read.why}; model_answer_tokens sets it", so_far.requests)
            return self._request(question, more, replace(so_far, resized=True))
        if so_far.corrected:
            return Dropped(read.why, so_far.requests)
        correction = (
            f"Your answer cannot be used: {read.why}. "
            "Answer the same request again, with one JSON value of the form that was described and nothing else."
        )
        said = reply.text.strip()[:_LONGEST_SHOWN] or "(nothing)"
        again = replace(question, earlier=(*question.earlier, CorrectedAnswer(said, correction)))
        return self._request(again, room, replace(so_far, corrected=True))

    def _after_failure(self, question: Question[T], room: int, failed: Failed, so_far: _Progress) -> Outcome[T]:
        provider, policy, now = self._provider, self.policy, self.timing.now()
        dropped = Dropped(failed.why, so_far.requests)
        if failed.denied:
            provider.denied = Denied(failed.why)
            return provider.denied
        if failed.too_big and not so_far.resized and room > _LESS_ROOM:
            return self._request(question, _LESS_ROOM, replace(so_far, resized=True))
        if failed.lasting:
            provider.pause(float("inf"), failed.why)
        if not failed.again:
            return dropped
        if failed.wait is not None and failed.wait > policy.longest_wait:
            provider.pause(now + min(failed.wait, policy.longest_pause), failed.why)
            return dropped
        if so_far.requests >= policy.tries:
            provider.failures += 1
            if provider.failures >= policy.failures_before_pause:
                provider.pause(now + policy.pause, failed.why)
            return dropped
        # What the provider asked for and a little more, or twice as long each time, by chance.
        most = min(policy.first_wait * 2.0 ** (so_far.requests - 1), policy.longest_wait)
        chance = self.timing.chance()
        self.timing.sleep(most * (0.5 + 0.5 * chance) if failed.wait is None else failed.wait * (1 + 0.1 * chance))
        return self._request(question, room, so_far)


def _read(reply: Reply, question: Question[T]) -> tuple[RecordedAnswer, T] | Wrong:
    """The first value in a reply that can be used, as it is recorded and as it is read; or what is wrong."""
    if isinstance(reply, Failed):
        return Wrong(reply.why)
    if reply.cut_short:
        return Wrong("the answer did not fit into the limit of its length")
    wrong: list[Wrong] = []
    try:
        for value in json_in_answer(reply.text):
            read = question.read(value)
            if not isinstance(read, Wrong):
                return RecordedAnswer(value), read
            wrong.append(read)
    except NotJson as error:
        wrong = wrong or [Wrong(f"the answer cannot be read: {error}")]
    return wrong[0]
