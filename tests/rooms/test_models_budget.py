"""No request without room for it; what a provider reports is booked."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from math import ceil
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.clock import month_before
from reverie.llm.budget import FREE, Budget, Cap, CapReached, Price, Reservation, Spent, totals
from reverie.llm.question import MARGIN, Failed, Replied, Usage
from tests.model_ledger import MemoryLedger, question

DEAR = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
QUESTION = question()


def why_not(budget: Budget, tokens_in: int, tokens_out: int = 0, price: Price | None = FREE) -> str:
    full = budget.why_not(Reservation(tokens_in, tokens_out, price))
    return full.why if full else ""


def test_a_request_that_could_pass_the_cap_is_not_made() -> None:
    budget = Budget(Cap(tokens=100), spent=Spent(10))
    assert not why_not(budget, 50, 40)
    assert "model_tokens_per_night is 100, 10 are used or reserved" in why_not(budget, 51, 40)


def test_the_month_counts_what_earlier_nights_spent() -> None:
    budget = Budget(month=Cap(tokens=100), this_month=Spent(50))
    assert not why_not(budget, 50)
    assert "model_tokens_per_month" in why_not(budget, 51)


def test_the_month_is_a_calendar_month_in_the_homes_timezone() -> None:
    tokyo, now = ZoneInfo("Asia/Tokyo"), datetime(2026, 5, 31, 16, tzinfo=UTC)
    assert month_before(now, tokyo) == datetime(2026, 6, 1, tzinfo=tokyo)
    assert month_before(now, UTC) == datetime(2026, 5, 1, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")  # the clock changes within the month
    assert month_before(datetime(2026, 3, 30, 12, tzinfo=UTC), berlin) == datetime(2026, 2, 28, 23, tzinfo=UTC)


def test_what_is_under_way_counts_as_spent() -> None:
    ledger = MemoryLedger(Cap(tokens=ceil(QUESTION.tokens * MARGIN) * 2))
    assert isinstance(ledger.reserve(QUESTION, "m", 10), Reservation)
    assert isinstance(ledger.reserve(QUESTION, "m", 10), CapReached)


def test_money_has_a_cap_too() -> None:
    budget = Budget(Cap(money=Decimal("0.01")))
    assert not why_not(budget, 1_000, 400, DEAR)
    assert "could cost $0.0120 more" in why_not(budget, 1_000, 600, DEAR)
    assert "model_dollars_per_month" in why_not(Budget(month=Cap(money=Decimal("0.01"))), 1_000, 600, DEAR)


def test_with_a_cap_on_money_an_unknown_price_is_no_price() -> None:
    assert "set model_price" in why_not(Budget(Cap(money=Decimal(5))), 1, 1, None)
    assert not why_not(Budget(Cap(tokens=5)), 1, 1, None)


def test_the_cache_has_prices_of_its_own() -> None:
    assert DEAR.of(Usage(1_000_000, 0, 1_000_000)) == Decimal("0.3")
    assert DEAR.of(Usage(1_000_000, 0, 0, 1_000_000)) == Decimal("3.75")
    assert DEAR.of(Usage(1_000_000, 1_000_000)) == Decimal(18)
    assert Price(Decimal(3), Decimal(15)).of(Usage(1_000_000, 0, 500_000, 500_000)) == Decimal(3)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.floats(0, 1)), max_size=30))
def test_an_honest_provider_never_takes_a_night_above_its_cap(calls: list[tuple[int, int, float]]) -> None:
    budget = Budget(Cap(tokens=2_000), Cap(tokens=2_500), Spent(700))
    for tokens_in, tokens_out, share in calls:
        wanted = Reservation(tokens_in, tokens_out, FREE)
        if budget.why_not(wanted) is None:
            taken = wanted.cost_of(Usage(int(tokens_in * share), int(tokens_out * share)))
            budget = replace(budget, spent=budget.spent + taken, this_month=budget.this_month + taken)
        assert budget.spent.tokens <= 1_800


def test_where_nothing_is_reported_what_was_reserved_is_counted() -> None:
    ledger = MemoryLedger(price=DEAR)
    wanted = ledger.reserve(QUESTION, "m", 50)
    assert isinstance(wanted, Reservation)
    ledger.settle(QUESTION, "m", wanted, Replied("{}", None, 0.1), "answered")
    assert ledger.spent == wanted.worst
    (call,) = ledger.calls
    assert (call.usage.tokens_out, call.reported) == (50, False)


def test_a_request_that_never_took_place_costs_nothing_and_is_on_the_list() -> None:
    ledger = MemoryLedger(price=DEAR)
    wanted = ledger.reserve(QUESTION, "m", 50)
    assert isinstance(wanted, Reservation)
    ledger.settle(QUESTION, "m", wanted, Failed("the connection failed", 0.1), "the connection failed")
    assert ledger.spent == ledger.held == Spent()
    (call,) = ledger.calls
    assert (call.usage, call.cost, call.sent_characters) == (Usage(), Decimal(0), 0)


def test_the_account_adds_up_by_role() -> None:
    ledger = MemoryLedger(price=DEAR)
    for reply in (Replied("{}", Usage(100, 10, 50), 1.0), Failed("no", 0.5)):
        wanted = ledger.reserve(QUESTION, "m", 50)
        assert isinstance(wanted, Reservation)
        ledger.settle(QUESTION, "m", wanted, reply, "answered" if isinstance(reply, Replied) else reply.why)
    total = totals(ledger.calls)["curate"]
    assert (total.calls, total.failed, total.usage, total.seconds) == (2, 1, Usage(100, 10, 50), 1.5)
    assert total.cost == DEAR.of(Usage(100, 10, 50))
    assert (total.sent, total.share) == (QUESTION.sent_characters, 0.1)


def test_many_threads_cannot_reserve_more_than_there_is() -> None:
    ledger = MemoryLedger(Cap(tokens=ceil(QUESTION.tokens * MARGIN) * 50))
    got: list[object] = []

    def ask() -> None:
        for _ in range(20):
            got.append(ledger.reserve(QUESTION, "m", 0))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, Reservation) for outcome in got) == 50
