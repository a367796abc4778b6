"""Asking again within bounds, leaving alone who says "later", and giving up with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from reverie.llm.asker import Answer, Asker, Denied, Dropped, RetryPolicy, Timing
from reverie.llm.budget import Cap, CapReached, Price
from reverie.llm.question import Failed, Question, Replied, Reply, Usage
from tests.model_ledger import MemoryLedger, question

QUESTION = question()
GOOD = Replied('{"items": [1]}', Usage(10, 5), 0.1)
PROSE = Replied("Yes, I think so.", Usage(10, 5), 0.1)
CUT = Replied('{"items"', Usage(10, 5), 0.1, cut_short=True)
DOWN = Failed("the connection failed", 0.1, again=True)
NO_KEY = Failed("refused the key", 0.1, denied=True)


@dataclass
class Scripted:
    """A model that says these things, and a clock that only its sleeps and replies move."""

    replies: Sequence[Reply]
    name: str = "scripted"
    asked: list[Question[Any]] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    at: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def ask(self, question: Question[Any], most_tokens: int, seconds: float) -> Reply:
        self.asked.append(question)
        self.room.append(most_tokens)
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        self.at += min(reply.seconds, seconds)
        return reply

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    def asker(self, ledger: MemoryLedger | None = None, policy: RetryPolicy = RetryPolicy(), at_once: int = 1) -> Asker:
        timing = Timing(lambda: self.at, self.sleep, lambda: 0.5)
        return Asker(self, ledger or MemoryLedger(), policy, timing, at_once)


def test_an_answer_that_can_be_read_is_an_answer() -> None:
    assert Scripted([GOOD]).asker().ask(QUESTION) == Answer([1], Usage(10, 5), 0.1, 1)


def test_the_first_value_that_fits_is_taken() -> None:
    model = Scripted([Replied('Turn [4] says so: {"items": [2]} or {"items": []}', Usage(10, 5), 0.1)])
    assert model.asker().ask(QUESTION) == Answer([2], Usage(10, 5), 0.1, 1)


def test_what_may_go_better_is_tried_again_after_a_growing_wait() -> None:
    model = Scripted([DOWN, DOWN, GOOD])
    outcome = model.asker().ask(QUESTION)
    assert isinstance(outcome, Answer)
    assert (outcome.requests, model.slept) == (3, [0.75, 1.5])


def test_not_more_than_three_times() -> None:
    model = Scripted([DOWN])
    assert model.asker().ask(QUESTION) == Dropped("the connection failed", 3)


def test_a_provider_that_says_when_is_given_that_time() -> None:
    model = Scripted([Failed("too often", 0.1, again=True, wait=10), GOOD])
    assert isinstance(model.asker().ask(QUESTION), Answer)
    assert model.slept == [10.5]


@pytest.mark.parametrize("wait", [31.0, 1e11, float("inf")])
def test_one_that_wants_too_long_is_left_alone(wait: float) -> None:
    model = Scripted([Failed("too often", 0.1, again=True, wait=wait), GOOD])
    asker = model.asker()
    assert asker.ask(QUESTION) == Dropped("too often", 1)
    assert asker.ask(QUESTION) == Dropped("the model is left alone for now: too often", 0)
    assert (len(model.asked), model.slept) == (1, [])
    model.at += 3_600
    assert isinstance(asker.ask(QUESTION), Answer)


def test_one_that_is_down_is_not_asked_for_every_session_of_the_night() -> None:
    model = Scripted([DOWN])
    asker = model.asker()
    outcomes = [asker.ask(QUESTION) for _ in range(10)]
    assert len(model.asked) == 9
    assert outcomes[-1] == Dropped("the model is left alone for now: the connection failed", 0)


def test_what_will_fail_for_every_question_is_asked_once() -> None:
    model = Scripted([Failed("no such model", 0.1, lasting=True)])
    asker = model.asker()
    assert asker.ask(QUESTION) == Dropped("no such model", 1)
    assert asker.ask(QUESTION) == Dropped("the model is left alone for now: no such model", 0)
    assert len(model.asked) == 1


def test_a_key_that_is_refused_is_refused_once_and_nothing_more_is_asked() -> None:
    model = Scripted([NO_KEY, GOOD])
    outcomes = model.asker(at_once=4).ask_all([question(f"Session {number}.") for number in range(9)])
    assert outcomes == [Denied("refused the key")] * 9
    assert len(model.asked) == 1


def test_a_model_is_told_what_was_wrong_and_asked_once_more() -> None:
    model = Scripted([PROSE, GOOD])
    outcome = model.asker().ask(QUESTION)
    assert isinstance(outcome, Answer) and (outcome.usage, outcome.requests) == (Usage(20, 10), 2)
    (exchange,) = model.asked[1].earlier
    assert exchange.answer == "Yes, I think so." and "it holds no complete JSON" in exchange.correction
    wrong = Scripted([Replied('{"things": []}', Usage(), 0.1)])
    assert wrong.asker().ask(QUESTION) == Dropped('there is no list "items" in it', 2)
    assert len(wrong.asked) == 2


def test_an_answer_that_does_not_fit_gets_twice_the_room_once() -> None:
    model = Scripted([CUT, GOOD])
    assert isinstance(model.asker().ask(QUESTION), Answer)
    assert model.room == [16_000, 32_000] and model.asked[1].earlier == ()
    model = Scripted([CUT])
    outcome = model.asker().ask(QUESTION)
    assert isinstance(outcome, Dropped) and "model_answer_tokens" in outcome.why and len(model.asked) == 2


@pytest.mark.parametrize(("room", "rooms"), [(100_000, [100_000, 128_000]), (128_000, [128_000])])
def test_there_is_a_most_an_answer_can_get(room: int, rooms: list[int]) -> None:
    model = Scripted([CUT])
    assert isinstance(model.asker(policy=RetryPolicy(answer_tokens=room)).ask(QUESTION), Dropped)
    assert model.room == rooms


def test_where_question_and_answer_do_not_fit_together_the_answer_gets_less_room_once() -> None:
    model = Scripted([Failed("too long", 0.1, too_big=True), GOOD])
    assert isinstance(model.asker().ask(QUESTION), Answer)
    assert model.room == [16_000, 4_000]
    model = Scripted([Failed("too long", 0.1, too_big=True)])
    assert model.asker().ask(QUESTION) == Dropped("too long", 2)


def test_every_request_is_reserved_settled_and_on_the_list() -> None:
    ledger = MemoryLedger(price=Price(Decimal(1), Decimal(1)))
    Scripted([DOWN, PROSE, GOOD]).asker(ledger).ask(QUESTION)
    assert [call.outcome for call in ledger.calls] == [
        "the connection failed",
        "the answer cannot be read: it holds no complete JSON object or array",
        "answered",
    ]
    assert (ledger.spent.tokens, ledger.held.tokens) == (30, 0)


def test_without_room_nothing_is_sent() -> None:
    model = Scripted([GOOD])
    outcome = model.asker(MemoryLedger(Cap(tokens=100))).ask(QUESTION)
    assert isinstance(outcome, CapReached) and "model_tokens_per_night is 100" in outcome.why
    assert model.asked == []


def test_usage_above_what_was_reserved_is_booked_and_the_answer_is_taken() -> None:
    ledger = MemoryLedger(Cap(tokens=1_000_000))
    asker = Scripted([Replied('{"items": []}', Usage(10_000_000, 5), 0.1)]).asker(ledger)
    assert isinstance(asker.ask(QUESTION), Answer)
    assert ledger.spent.tokens == 10_000_005
    assert isinstance(asker.ask(question("Another.")), CapReached)


def test_what_was_answered_before_is_not_asked_again() -> None:
    model, ledger = Scripted([GOOD]), MemoryLedger()
    model.asker(ledger).ask(QUESTION)
    assert model.asker(ledger).ask(QUESTION) == Answer([1], Usage(), 0.0, 0)
    assert len(model.asked) == 1


def test_several_have_their_outcomes_in_their_order_and_what_a_cap_held_up_is_asked_after_all() -> None:
    ledger = MemoryLedger(Cap(tokens=40_000))  # room for two at their worst, and for all as they turn out
    outcomes = Scripted([GOOD]).asker(ledger, at_once=6).ask_all([question(f"{number}") for number in range(6)])
    assert all(isinstance(outcome, Answer) for outcome in outcomes) and len(ledger.calls) == 6
    assert Scripted([GOOD]).asker().ask_all([]) == []
