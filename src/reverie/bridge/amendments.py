"""`home.bridge.propose`: every difference in behaviour, routed, drafted, held against what stands here, and queued.

Nothing lands: each becomes a proposal that waits for a person, or is kept out with a reason. What a person approves is
undone one by one, or all that came from one dream at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie.bridge.diff import StoreDiff
from reverie.bridge.draft import ASKS, PROPOSER, Drafted, NoPlace, Postponed, Result, suggestion
from reverie.bridge.route import KeptOut, Places, Route, conflicts, route
from reverie.changes.history.change import Change
from reverie.changes.history.records import Asked
from reverie.changes.landing_result import Landed, Outcome, undone_by
from reverie.changes.proposal import Status
from reverie.changes.propose import Repeated
from reverie.changes.queue import Proposed, Review, Waiting
from reverie.core.errors import NotFound
from reverie.core.hashes import canonical, sha256

MOST_AT_ONCE = 40  # proposals of one batch that wait at a time: as many as a person is shown in a day
MOST_TOLD = 3  # rules that a proposal is said to contradict


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of one diff. `id` is the dream, where the diff is one's."""

    id: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Amending:
    """`target` is the memory that facts go to when no skill is about them."""

    review: Review
    places: Callable[[str], Places]

    def propose(self, diff: StoreDiff, target: str, batch: str = "", most: int = MOST_AT_ONCE) -> Batch:
        """What changes a rule that stands here comes first, then what a skill is about, then the rest. What is beyond
        `most` is not proposed: the same call does that once some of it is decided."""
        places = self.places(target)
        named = batch or _name(diff)
        routed = [one for difference in diff.behaviour for one in route(difference, places)]
        results, waiting = list[Result](), 0
        for one in sorted(routed, key=_first):
            if waiting >= most and isinstance(one, Route):
                results.append(Postponed(one))
                continue
            results.append(self._proposed(one, diff, places, target, named))
            waiting += isinstance(results[-1], Drafted) and _waits(results[-1].proposed)
        return Batch(named, tuple(results))

    def _proposed(self, one: Route | KeptOut, diff: StoreDiff, places: Places, target: str, batch: str) -> Result:
        if isinstance(one, KeptOut):
            return one
        wanted = suggestion(one, diff.old, diff.new, target, batch)
        if isinstance(wanted, NoPlace):
            return wanted
        against = conflicts(one.text, places, one.rule) if one.text else []
        told = "".join(f" Contradicts {rule}." for rule in against[:MOST_TOLD])
        if one.rule is not None and one.rule.critical:
            told += f" {'Weakens' if one.text else 'Drops'} a rule marked critical: {one.rule}."
        wanted = replace(wanted, reason=wanted.reason + told)
        return Drafted(one, self.review.propose(wanted, land=False, asks=ASKS))

    def landed(self, batch: str) -> list[Change]:
        """What a person let land of one batch and is not taken back, newest first."""
        scope, records = self.review.scope, self.review.records
        found = [one for one in records.find(scope, Asked(ours=True)) if one.grounds.dream == batch]
        return [one for one in found if one.grounds.actor == PROPOSER and not undone_by(records, scope, one.id)]

    def undo(self, batch: str, because: str = "") -> list[tuple[Change, Outcome]]:
        """Take back all of it, newest first; what cannot be taken back is told, and the rest is."""
        changes = self.landed(batch)
        if not changes:
            raise NotFound(f"Nothing of {batch} stands here.", next_step="`reverie history` lists what landed.")
        return [(one, self.review.undo(one.id, because or f"takes back all of {batch}")) for one in changes]


def _first(one: Route | KeptOut) -> int:
    if isinstance(one, KeptOut):
        return 3
    return 0 if one.rule is not None else 1 if one.skill is not None else 2


def _waits(proposed: Proposed) -> bool:
    """For a person, since now or since an earlier time."""
    return isinstance(proposed, Waiting) or (
        isinstance(proposed, Repeated) and proposed.proposal.status is Status.WAITING
    )


def all_landed(undone: Sequence[tuple[Change, Outcome]]) -> bool:
    return all(isinstance(outcome, Landed) for _, outcome in undone)


def _name(diff: StoreDiff) -> str:
    told = [[side.name, sorted(side.texts.items())] for side in (diff.old, diff.new)]
    return f"bridge:{sha256(canonical(told))[:12]}"
