"""A decision as a night keeps it: flat, without what must not be told."""

from __future__ import annotations

from reverie.deep.decision import Decision, Verb
from reverie.dreams.dream import Fate, Judged
from reverie.review.proposal import Score


def judged_of(decision: Decision, fate: Fate, why: str, score: Score | None = None, ref: str = "") -> Judged:
    """What was kept out for being private or unsafe is not repeated in the diary."""
    told = decision.verb not in (Verb.SENSITIVE, Verb.UNSAFE)
    return Judged(
        candidates=tuple(note.id for note in decision.matter.every),
        verb=decision.verb,
        fate=fate,
        reason=decision.reason,
        why=why,
        text=(decision.text or decision.matter.last.text) if told else "",
        document=decision.skill.subject if decision.skill else decision.document,
        old=decision.target.text if decision.target else "",
        sessions=len(decision.matter.sessions),
        origin=decision.origin,
        evidence=decision.evidence if told else (),
        score=score,
        ref=ref,
    )
