"""A clock that is put back or forward: order is the ledger's, and nothing expires or hides in masses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reverie.changes.land import Landed
from reverie.changes.proposal import Proposal, ProposalStatus, Suggestion
from reverie.changes.queue import MOST_EXPIRED_AT_ONCE, Waiting
from reverie.core.clock import FixedClock
from reverie.core.ids import Ids
from reverie.core.scope import Origin
from reverie.memory.operation import Add
from reverie.transcripts.session import Evidence
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, House, broken, changes, entries, ours, works
from tests.faults.tallying import FULL

NOON = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)
JUMPS = [
    timedelta(),
    timedelta(hours=-1),
    timedelta(days=-400),
    timedelta(hours=2),
    timedelta(days=4000),
    timedelta(seconds=-1),
    timedelta(days=-4000),
    timedelta(microseconds=1),
    timedelta(days=1),
    timedelta(days=-1),
]


class Hand:
    """A clock that someone moves."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def asked(number: int) -> Suggestion:
    said = (Evidence("plain:s1", number + 1, f"word {number}", Origin.TOOL),)
    return Suggestion("hermes", DOCUMENT, (Add(DOCUMENT, f"Fact number {number}"),), evidence=said)


def waiting(house: House, count: int, now: datetime) -> list[Proposal]:
    with house.opened(now) as home:
        made = [home.review.propose(asked(number)) for number in range(count)]
    assert all(isinstance(one, Waiting) for one in made), made
    return [one.proposal for one in made if isinstance(one, Waiting)]


def test_history_is_in_the_order_things_happened_whatever_the_clock_says(tallied: Tallied, house: House) -> None:
    tally = tallied("F11", "writes, undo, as-of and blame while the clock jumps back and forth")
    now, written = NOON, []
    for number, jump in enumerate(JUMPS * (3 if FULL else 1)):
        now += jump
        tally.points += 1
        with house.opened(now) as home:
            outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, f"Number {number}")])
            assert isinstance(outcome, Landed)
            written.append(outcome.change.id)
            assert [change.id for change in ours(home)] == written
            numbers = [change.number for change in changes(home)]
            assert numbers == sorted(numbers, key=lambda one: one or 0)
            assert home.history.content(f"hermes/{DOCUMENT}") == house.memory.read_bytes()
            assert home.history.content(f"hermes/{DOCUMENT}", now) is not None
            assert len(list(home.history.rules())) == len(entries(house))
            for moment in (now - timedelta(days=9000), now + timedelta(days=9000)):
                list(home.history.rules(moment))
            tally.other += broken(home)
    with house.opened(now - timedelta(days=5000)) as home:
        undone = home.review.undo()
        assert isinstance(undone, Landed) and undone.change.grounds.undoes == written[-1]
        tally.manual += works(house, home)


def test_ids_stay_unique_and_in_order_within_a_process(tallied: Tallied) -> None:
    tally = tallied("F11", "ids made while the clock jumps back and forth")
    clock, made = Hand(NOON), []
    ids = Ids(clock)
    for jump in JUMPS * 200:
        clock.at += jump
        made.append(ids.new("chg"))
        tally.points += 1
    assert made == sorted(made) and len(set(made)) == len(made)
    assert Ids(FixedClock(NOON)).new("chg") != Ids(FixedClock(NOON)).new("chg")


def test_a_jump_forward_expires_few_and_a_jump_back_brings_the_rest_again(tallied: Tallied, house: House) -> None:
    tally = tallied("F11", "proposals that wait while the clock jumps ten years ahead and back")
    waiting(house, 40, NOON)
    with house.opened(NOON + timedelta(days=3650)) as home:
        assert home.review.waiting(every=True) == []
        expired = home.review.past([ProposalStatus.EXPIRED])
        tally.points += len(expired)
        tally.lost += [] if len(expired) <= MOST_EXPIRED_AT_ONCE else [f"{len(expired)} expired at once"]
    with house.opened(NOON) as home:
        left = home.review.waiting(every=True)
        assert len(left) == 40 - len(expired)
        assert isinstance(home.review.approve(left[0], "yes"), Landed)
        tally.other += broken(home)


def test_what_was_decided_in_the_future_does_not_use_up_today(tallied: Tallied, house: House) -> None:
    """Ten verdicts while the clock was years ahead; then it is put right. A person is still asked."""
    tally = tallied("F11", "verdicts given while the clock was years ahead")
    proposals = waiting(house, 14, NOON)
    with house.opened(NOON + timedelta(days=20)) as home:
        for proposal in proposals[:10]:
            home.review.reject(proposal, "no")
            tally.points += 1
    with house.opened(NOON + timedelta(days=1)) as home:
        assert len(home.review.waiting()) == 4
