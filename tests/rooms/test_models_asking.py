"""Asking again within bounds, leaving alone who says "later", and giving up with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from reverie.models.asking import Answer, Asker, Dropped, Patience, Timing
from reverie.models.budget import Cap, CapExceeded, CapReached, Price
from reverie.models.choice import Role
from reverie.models.question import Failed, Question, Replied, Reply, Usage
from reverie.models.schema import Record, Truth
from tests.purse import Purse

QUESTION = Question(Role.DEEP, "p", "h", "system", "user", Record({"yes": Truth()}))
GOOD = Replied('{"yes": true}', Usage(10, 5), 0.1)
PROSE = Replied("Yes, I think so.", Usage(10, 5), 0.1)
DOWN = Failed("the connection failed", 0.1, again=True)


@dataclass
class Scripted:
    """A model that says these things, and a clock that only its sleeps and replies move."""

    replies: Sequence[Reply]
    name: str = "scripted"
    asked: int = 0
    at: float = 1_000.0
    slept: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def ask(self, question: Question, most_tokens: int, seconds: float) -> Reply:
        self.asked += 1
        self.seconds.append(seconds)
        reply = self.replies[min(self.asked, len(self.replies)) - 1]
        self.at += min(reply.seconds, seconds)
        return reply

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds

    def asker(self, purse: Purse | None = None, patience: Patience = Patience()) -> Asker:
        timing = Timing(lambda: self.at, self.sleep, lambda: 0.5)
        return Asker(self, purse or Purse(), patience, timing)


def test_an_answer_of_the_right_shape_is_an_answer() -> None:
    assert Scripted([GOOD]).asker().ask(QUESTION) == Answer({"yes": True}, Usage(10, 5), 0.1, 1)


def test_what_may_go_better_is_tried_again_after_a_growing_wait() -> None:
    model = Scripted([DOWN, DOWN, GOOD])
    outcome = model.asker().ask(QUESTION)
    assert isinstance(outcome, Answer)
    assert (outcome.tries, model.slept) == (3, [0.75, 1.5])


def test_not_more_than_three_times() -> None:
    model = Scripted([DOWN])
    assert model.asker().ask(QUESTION) == Dropped("the connection failed", 3)
    assert model.asked == 3


def test_what_will_not_go_better_is_not_tried_again() -> None:
    model = Scripted([Failed("the provider does not accept the key", 0.1)])
    assert model.asker().ask(QUESTION) == Dropped("the provider does not accept the key", 1)


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
    assert (model.asked, model.slept) == (1, [])
    model.at += 3_600
    assert isinstance(asker.ask(QUESTION), Answer)


def test_one_that_is_down_is_not_asked_for_every_passage_of_the_night() -> None:
    model = Scripted([DOWN])
    asker = model.asker()
    whys = [asker.ask(QUESTION) for _ in range(10)]
    assert model.asked == 9
    assert whys[-1] == Dropped("the model is left alone for now: the connection failed", 0)


def test_an_unusable_reply_is_asked_for_once_more() -> None:
    assert isinstance(Scripted([PROSE, GOOD]).asker().ask(QUESTION), Answer)
    model = Scripted([PROSE])
    assert model.asker().ask(QUESTION) == Dropped("the reply cannot be read: it is not JSON", 2)


def test_a_reply_that_ran_into_the_limit_would_do_so_again() -> None:
    model = Scripted([Replied('{"yes"', Usage(1, 1), 0.1, cut_short=True)])
    assert isinstance(model.asker().ask(QUESTION), Dropped)
    assert model.asked == 1


def test_all_tries_together_keep_to_the_deadline() -> None:
    model = Scripted([Failed("there was no complete reply in time", 50, again=True)])
    assert isinstance(model.asker(patience=Patience(seconds=120)).ask(QUESTION), Dropped)
    assert model.at - 1_000 == pytest.approx(120)
    assert model.seconds == [120, pytest.approx(69.25), pytest.approx(17.75)]


def test_every_try_is_reserved_settled_and_on_the_list() -> None:
    purse = Purse(price_of=lambda _: Price(Decimal(1), Decimal(1)))
    Scripted([DOWN, PROSE, GOOD]).asker(purse).ask(QUESTION)
    assert [call.outcome for call in purse.calls] == [
        "the connection failed",
        "the reply cannot be read: it is not JSON",
        "answered",
    ]
    assert purse.spent.tokens == 30
    assert purse.held.tokens == 0


def test_without_room_nothing_is_sent() -> None:
    model = Scripted([GOOD])
    assert isinstance(model.asker(Purse(Cap(tokens=100))).ask(QUESTION), CapReached)
    assert model.asked == 0


def test_a_provider_that_reports_more_ends_it_even_with_a_good_answer() -> None:
    asker = Scripted([Replied('{"yes": true}', Usage(10_000_000, 5), 0.1)]).asker()
    assert isinstance(asker.ask(QUESTION), CapExceeded)
    assert isinstance(asker.ask(QUESTION), CapExceeded)
