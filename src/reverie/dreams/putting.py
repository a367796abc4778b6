"""One decision put to review, and what became of it."""

from __future__ import annotations

from typing import assert_never

from reverie.dreams.dream import Dream, Fate, Judged
from reverie.dreams.judged import judged_of
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.rem.gates import Weighed
from reverie.rem.suggesting import suggestion
from reverie.review.outcome import Landed, Stale, Unchanged, Unsafe, in_words
from reverie.review.proposing import Repeated
from reverie.review.queue import Proposed, Refused, Review, Waiting


def put(review: Review, one: Weighed, dream: Dream, new_skills: str) -> Judged:
    """What passed its gate is proposed. It lands if the night lands, nothing is to be asked, and the policy agrees."""
    decision = one.decision
    if not one.passes:
        return judged_of(decision, Fate.HELD_BACK, f"Held back: {one.held_back}.", one.score)
    if decision.target is not None and decision.target.document is None:
        return judged_of(decision, Fate.HELD_BACK, f"Held back: {decision.asks}.", one.score)
    land = dream.mode == "land" and not decision.asks and decision.skill is None
    outcome = review.propose(suggestion(one, dream.shelf, new_skills, dream.id), land=land)
    fate, why, ref = _told(outcome, decision.asks)
    return judged_of(decision, fate, why, one.score, ref)


def _told(outcome: Proposed, asks: str) -> tuple[Fate, str, str]:
    match outcome:
        case Landed(change):
            return Fate.LANDED, in_words(outcome), change.id
        case Waiting(proposal):
            because = asks or proposal.asks_because
            return Fate.WAITING, f"It waits for you: {because}.", proposal.id
        case Repeated(proposal):
            return Fate.NOT_DONE, f"It is {proposal.status} already ({proposal.id}).", proposal.id
        case Refused(why):
            return Fate.NOT_DONE, f"The policy refuses it: {why}.", ""
        case Unchanged() | Conflicted() | OverBudget() | Unfit() | Unsafe() | Stale():
            return Fate.NOT_DONE, in_words(outcome), ""
        case _:
            assert_never(outcome)
