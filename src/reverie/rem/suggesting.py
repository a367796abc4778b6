"""`weigh`: every decision scored, gated and held to the limits of the night; and the Suggestion each would be."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.deep.decision import Decision, Verb
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Limits, Weighed, gated, within
from reverie.rem.scoring import scored
from reverie.review.proposal import Suggestion


def weigh(decisions: Sequence[Decision], weighing: Weighing, gates: Gates, limits: Limits) -> list[Weighed]:
    """Every decision that is no rejection, those that pass first in the order they are to be done."""
    wanted = [gated(one, scored(one, weighing), gates) for one in decisions if not one.rejected]
    done = within([one for one in wanted if one.passes], limits)
    held = [one for one in done if not one.passes] + [one for one in wanted if not one.passes]
    return [one for one in done if one.passes] + sorted(held, key=lambda one: -one.score.total)


def suggestion(one: Weighed, shelf: str, skills: str, dream: str) -> Suggestion:
    """What is handed to review. A new skill goes to the folder named, everything else where it belongs."""
    decision = one.decision
    skill = decision.skill
    return Suggestion(
        (skill.folder or skills) if skill else shelf,
        skill.subject if skill else decision.document,
        () if skill else (_operation(decision),),
        reason=decision.reason,
        evidence=decision.evidence,
        score=one.score,
        dream=dream,
        amendment=skill.amendment if skill else None,
    )


def _operation(decision: Decision) -> Operation:
    old = decision.target.sha256 if decision.target else ""
    match decision.verb:
        case Verb.REMOVE:
            return Remove(decision.document, old)
        case Verb.SUPERSEDE | Verb.MERGE:
            return Replace(decision.document, old, decision.text)
        case _:
            return Add(decision.document, decision.text)
