"""Approvals given twice, at the same moment, of something else, by the author, or too late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie.changes.land import Landed, Stale, Unchanged
from reverie.changes.proposal import Proposal
from reverie.changes.queue import Repeated, Waiting
from reverie.core.errors import BadInput, NotPermitted
from reverie.core.scope import Origin
from reverie.memory.operation import Replace, entry_hash
from tests.faults.driving import driven
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, NEW, OLD, House, broken, moved, ours, works
from tests.faults.tallying import FULL

NOON = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)
ABOUT = "an approval replayed, stale, too late, by its author, or after a rejection"


def proposed(house: House, proposer: str = "dream", now: datetime | None = None) -> Proposal:
    with house.opened(now) as home:
        waiting = home.review.propose(moved(Origin.TOOL, proposer=proposer))
    assert isinstance(waiting, Waiting)
    return waiting.proposal


@pytest.mark.timeout(1800)
def test_two_who_decide_at_the_same_moment_make_one_decision(tallied: Tallied) -> None:
    tally = tallied("F32", "two processes decide on one proposal at the same moment, or one while others recover")
    driven(tally, "together", "double-click,yes-and-no,while-recovering", 150 if FULL else 4)


def test_an_approval_replayed_lands_nothing_even_after_an_undo(tallied: Tallied, house: House) -> None:
    tally = tallied("F32", ABOUT)
    proposal = proposed(house)
    with house.opened() as home:
        first = home.review.approve(proposal, "yes")
        assert isinstance(first, Landed)
        home.review.undo(first.change.id)
        for again in (proposal, proposal.id):
            tally.points += 1
            replayed = home.review.approve(again, "yes")
            assert isinstance(replayed, Unchanged) and first.change.id in replayed.why
        assert house.memory.read_text() == MEMORY
        assert len(ours(home)) == 2
        with pytest.raises(BadInput, match="landed"):
            home.review.reject(proposal, "no")
        tally.manual += works(house, home)


def test_an_approval_of_what_was_changed_since_is_stale(tallied: Tallied, house: House) -> None:
    tally = tallied("F32", ABOUT)
    seen = proposed(house)
    with house.opened() as home:
        reworded = home.review.edited(seen, (Replace(DOCUMENT, entry_hash(OLD), "Staging DB is db3.internal"),))
        assert isinstance(reworded, Proposal)
        tally.points += 1
        assert isinstance(home.review.approve(seen, "yes"), Stale)
        assert house.memory.read_text() == MEMORY
        assert isinstance(home.review.approve(reworded, "yes"), Landed)
        late = home.review.edited(reworded, (Replace(DOCUMENT, entry_hash(OLD), NEW),))
        assert isinstance(late, Repeated)  # what has landed is not put back into the queue
        tally.other += broken(home)


def test_who_proposed_it_may_not_approve_it_where_the_policy_says_so(tallied: Tallied, house: House) -> None:
    tally = tallied("F32", ABOUT)
    (house.folder / "home" / "policy.toml").write_text('[review]\nown_proposals = "never"\n')
    proposal = proposed(house, proposer="ann")
    with house.opened() as home:
        tally.points += 1
        with pytest.raises(NotPermitted, match="someone else"):
            home.review.approve(proposal, "mine")
        assert house.memory.read_text() == MEMORY and ours(home) == []
        assert isinstance(home.review.approve(proposal, "I looked", by="bob"), Landed)
        tally.other += broken(home)


def test_what_has_expired_or_was_rejected_cannot_be_approved(tallied: Tallied, house: House) -> None:
    tally = tallied("F32", ABOUT)
    proposal = proposed(house, now=NOON)
    with house.opened(NOON + timedelta(days=31)) as home:
        tally.points += 1
        assert isinstance(home.review.approve(proposal, "late"), Stale)
    with house.opened(NOON) as home:
        home.review.reject(proposal, "no")
        tally.points += 1
        assert isinstance(home.review.approve(proposal, "yes after all"), Stale)
        assert house.memory.read_text() == MEMORY and ours(home) == []
        tally.manual += works(house, home)
