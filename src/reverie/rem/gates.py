"""The gates: how sure is sure enough, by kind of change. And the limits of one night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.deep.decision import Decision, Verb
from reverie.kernel.origin import Origin
from reverie.review.proposal import Score


@dataclass(frozen=True, slots=True)
class Gates:
    add: float = 0.88
    replace: float = 0.80
    supersession: float = 0.75
    remove: float = 0.85
    merge: float = 0.80


@dataclass(frozen=True, slots=True)
class Limits:
    """What one night may do to a shelf every prompt shows. A memory store has its own, wider ones."""

    max_changes: int = 3
    max_adds: int = 1
    max_new_chars: int = 250
    max_amendments: int = 2


@dataclass(frozen=True, slots=True)
class Weighed:
    """A decision with its score, and why it does not pass; empty where it does."""

    decision: Decision
    score: Score
    held_back: str = ""

    @property
    def passes(self) -> bool:
        return not self.held_back

    @property
    def may_land(self) -> bool:
        """Nobody has to be asked first. What waits for a person adds nothing to a prompt yet."""
        return not self.decision.asks and self.decision.origin in (Origin.OWNER, Origin.OPERATOR)

    @property
    def new_chars(self) -> int:
        decision = self.decision
        old = len(decision.target.text) if decision.target else 0
        return max(0, len(decision.text) - old) if self.may_land and decision.skill is None else 0


def gated(decision: Decision, score: Score, gates: Gates) -> Weighed:
    return Weighed(decision, score, _held_back(decision, score.total, gates))


def _held_back(decision: Decision, total: float, gates: Gates) -> str:
    sure = decision.standing.confidence if decision.standing else 0.0
    match decision.verb:
        case Verb.PROMOTE:
            return _below(total, gates.add, "adding")
        case Verb.SUPERSEDE:
            return _below(total, gates.replace, "replacing") or _below(sure, gates.supersession, "taking its place")
        case Verb.REMOVE:
            return _below(min(total, sure), gates.remove, "removing")
        case Verb.MERGE:
            return (
                _below(sure, gates.merge, "merging") or _below(total, gates.replace, "replacing") or _unclear(decision)
            )
        case _:
            return ""


def _below(value: float, gate: float, doing: str) -> str:
    if value >= gate:
        return ""
    digits = next((one for one in (2, 3, 4) if f"{value:.{one}f}" != f"{gate:.{one}f}"), 5)
    return f"{value:.{digits}f} is below the gate of {gate:.2f} for {doing}"


def _unclear(decision: Decision) -> str:
    """A merged wording has to be shorter, or to say all that both say."""
    standing, target = decision.standing, decision.target
    clearer = standing is not None and standing.overlap >= 0.95
    shorter = target is not None and len(decision.text) <= len(target.text)
    return "" if clearer or shorter else "the merged wording would be neither shorter nor clearer"


_ORDER = {Verb.SUPERSEDE: 0, Verb.MERGE: 1, Verb.REMOVE: 2, Verb.PROMOTE: 3, Verb.BETTER_AS_SKILL: 4}
SPENT = "one night does no more than this; it stays for another"


def within(passed: Sequence[Weighed], limits: Limits) -> list[Weighed]:
    """The few that fit, contradictions first; the others say that they had to wait."""
    changes = adds = amendments = characters = 0
    chosen: list[Weighed] = []
    touched: set[str] = set()
    for one in sorted(passed, key=lambda one: (_ORDER[one.decision.verb], -one.score.total, one.decision.text)):
        verb, target = one.decision.verb, one.decision.target
        skill, add = verb is Verb.BETTER_AS_SKILL, verb is Verb.PROMOTE and one.may_land
        full = amendments >= limits.max_amendments if skill else changes >= limits.max_changes
        full |= add and adds >= limits.max_adds
        full |= not skill and characters + one.new_chars > limits.max_new_chars
        if full or (target is not None and target.sha256 in touched):
            chosen.append(Weighed(one.decision, one.score, SPENT))
            continue
        chosen.append(one)
        touched |= {target.sha256} if target else set()
        changes, adds, amendments = changes + (not skill), adds + add, amendments + skill
        characters += one.new_chars
    return chosen
