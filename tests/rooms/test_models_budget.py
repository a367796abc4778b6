"""No call without room for its worst; what a provider reports is held against it."""

from __future__ import annotations

import threading
from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from reverie.models.budget import FREE, Budget, Cap, CapReached, Price, Reservation, Spent, exceeded
from reverie.models.choice import Role
from reverie.models.ledger import totals
from reverie.models.question import Failed, Question, Replied, Usage
from reverie.models.schema import Truth
from tests.purse import Purse

DEAR = Price(Decimal(3), Decimal(15), Decimal("0.3"))
QUESTION = Question(Role.LIGHT, "p", "h", "system", "user", Truth(), sent_characters=20, of_characters=100)


def why_not(budget: Budget, tokens_in: int, tokens_out: int = 0, price: Price | None = FREE) -> str:
    full = budget.why_not(Reservation(tokens_in, tokens_out, price))
    return full.why if full else ""


def test_a_call_that_could_pass_the_cap_is_not_made() -> None:
    budget = Budget(Cap(tokens=100))
    assert not why_not(budget, 60, 40)
    assert "101 tokens in this dream" in why_not(budget, 61, 40)


def test_the_day_counts_what_earlier_dreams_spent() -> None:
    budget = Budget(day=Cap(tokens=100), today=Spent(50))
    assert not why_not(budget, 50)
    assert "today" in why_not(budget, 51)


def test_what_is_under_way_counts_as_spent() -> None:
    purse = Purse(Cap(tokens=QUESTION.worst_tokens * 2))
    assert isinstance(purse.reserve(QUESTION, "m", 10), Reservation)
    assert isinstance(purse.reserve(QUESTION, "m", 10), CapReached)


def test_money_has_a_cap_too() -> None:
    budget = Budget(Cap(money=Decimal("0.01")))
    assert not why_not(budget, 1_000, 400, DEAR)
    assert "$0.0120" in why_not(budget, 1_000, 600, DEAR)


def test_with_a_cap_on_money_an_unknown_price_is_no_price() -> None:
    assert "not known" in why_not(Budget(Cap(money=Decimal(5))), 1, 1, None)
    assert not why_not(Budget(Cap(tokens=5)), 1, 1, None)


def test_cached_tokens_cost_less() -> None:
    assert DEAR.of(Usage(1_000_000, 0, 1_000_000)) == Decimal("0.3")
    assert DEAR.of(Usage(1_000_000, 1_000_000)) == Decimal(18)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.floats(0, 1)), max_size=30))
def test_an_honest_provider_never_takes_a_dream_above_its_cap(calls: list[tuple[int, int, float]]) -> None:
    budget = Budget(Cap(tokens=2_000), Cap(tokens=2_500), Spent(700))
    for tokens_in, tokens_out, share in calls:
        wanted = Reservation(tokens_in, tokens_out, FREE)
        taken = Usage(int(tokens_in * share), int(tokens_out * share))
        if budget.why_not(wanted) is None and exceeded(wanted, taken) is None:
            budget = replace(budget, spent=budget.spent + wanted.cost_of(taken))
        assert budget.spent.tokens <= 1_800


def test_a_provider_that_reports_more_is_not_believed() -> None:
    found = exceeded(Reservation(100, 10, DEAR), Usage(100, 11))
    assert found is not None and "11 out" in found.why
    assert exceeded(Reservation(100, 10, DEAR), Usage(100, 10)) is None
    assert exceeded(Reservation(100, 10, DEAR), None) is None


def test_where_nothing_is_reported_the_worst_is_counted() -> None:
    purse = Purse(price_of=lambda _: DEAR)
    wanted = purse.reserve(QUESTION, "m", 50)
    assert isinstance(wanted, Reservation)
    assert purse.settle(QUESTION, "m", wanted, Replied("{}", None, 0.1), "answered") is None
    assert purse.spent == wanted.worst
    (call,) = purse.calls
    assert (call.usage.tokens_out, call.reported) == (50, False)


def test_a_call_that_never_took_place_costs_nothing_and_is_on_the_list() -> None:
    purse = Purse(price_of=lambda _: DEAR)
    wanted = purse.reserve(QUESTION, "m", 50)
    assert isinstance(wanted, Reservation)
    purse.settle(QUESTION, "m", wanted, Failed("the connection failed", 0.1), "the connection failed")
    assert purse.spent == purse.held == Spent()
    (call,) = purse.calls
    assert (call.usage, call.cost, call.sent_characters) == (Usage(), Decimal(0), 0)


def test_the_account_adds_up_by_role() -> None:
    purse = Purse(price_of=lambda _: DEAR)
    for reply in (Replied("{}", Usage(100, 10, 50), 1.0), Failed("no", 0.5)):
        wanted = purse.reserve(QUESTION, "m", 50)
        assert isinstance(wanted, Reservation)
        purse.settle(QUESTION, "m", wanted, reply, "answered" if isinstance(reply, Replied) else reply.why)
    (total,) = totals(purse.calls).values()
    assert (total.calls, total.failed, total.usage, total.seconds) == (2, 1, Usage(100, 10, 50), 1.5)
    assert total.cost == DEAR.of(Usage(100, 10, 50))
    assert (total.sent, total.share) == (QUESTION.sent_characters, 0.1)


def test_many_threads_cannot_reserve_more_than_there_is() -> None:
    one = Question(Role.LIGHT, "p", "h", "", "", Truth()).worst_tokens
    purse = Purse(Cap(tokens=one * 50))
    got: list[object] = []

    def ask() -> None:
        for _ in range(20):
            got.append(purse.reserve(Question(Role.LIGHT, "p", "h", "", "", Truth()), "m", 0))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, Reservation) for outcome in got) == 50


@given(st.text())
def test_the_worst_case_is_at_least_a_token_a_byte(text: str) -> None:
    assert Question(Role.LIGHT, "p", "h", "", text, Truth()).worst_tokens >= len(text.encode("utf-8", "replace"))
