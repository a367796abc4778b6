"""Which kind a sentence is of, whom it is about, and how directly it was put: read off its marks."""

from __future__ import annotations

from collections.abc import Set

from reverie.light.candidate import About, Kind
from reverie.light.marks import Mark

_ORDERS = {Mark.STANDING, Mark.WISH, Mark.SCOPE, Mark.RULE, Mark.UNIVERSAL}
_TASTES = {Mark.PREFER, Mark.HABIT}
_BY_LEAD = {
    Mark.DECIDED: Kind.PROJECT_DECISION,
    Mark.CHANGED: Kind.SUPERSESSION_SIGNAL,
    Mark.ENDED: Kind.STALE_SIGNAL,
    Mark.CORRECTS: Kind.CORRECTION,
    Mark.LEARNED: Kind.SKILL_CANDIDATE,
}
_EXPLICIT: dict[Mark, float] = {
    Mark.REMEMBER: 1.0, Mark.STANDING: 0.9, Mark.PREFER: 0.9, Mark.DECIDED: 0.8, Mark.CORRECTS: 0.8, Mark.WISH: 0.8,
    Mark.ENDED: 0.8, Mark.CHANGED: 0.7, Mark.LEARNED: 0.7, Mark.DENIES: 0.7, Mark.SCOPE: 0.6, Mark.RULE: 0.6,
    Mark.IDENTITY: 0.6, Mark.HABIT: 0.5,
}  # fmt: skip


def kind_of(lead: Mark, marks: Set[Mark]) -> Kind:
    if lead is Mark.REMEMBER:
        return kind_of(_behind(marks), marks)
    if Mark.CADENCE in marks and lead in _ORDERS | {Mark.HABIT, Mark.CADENCE}:
        return Kind.RECURRING_WORKFLOW
    if lead in _ORDERS | _TASTES and Mark.MANNER in marks:
        return Kind.COMMUNICATION_PREFERENCE
    if lead in _TASTES:
        return Kind.USER_PREFERENCE
    if lead in (Mark.WISH, Mark.STANDING):
        return Kind.USER_PREFERENCE if Mark.MINE in marks else Kind.PROJECT_DECISION
    if lead is Mark.ENDED and Mark.CHANGED in marks:
        return Kind.SUPERSESSION_SIGNAL
    return _BY_LEAD.get(lead, Kind.PROJECT_FACT)


def about(kind: Kind, marks: Set[Mark]) -> About:
    if kind in (Kind.USER_PREFERENCE, Kind.COMMUNICATION_PREFERENCE):
        return "person"
    speaks_of_self = Mark.IDENTITY in marks or (Mark.DENIES in marks and Mark.MINE in marks)
    return "person" if speaks_of_self and kind is not Kind.SKILL_CANDIDATE else "world"


def explicitness(marks: Set[Mark]) -> float:
    return max((_EXPLICIT[mark] for mark in marks if mark in _EXPLICIT), default=0.3)


def _behind(marks: Set[Mark]) -> Mark:
    """What is to be remembered, once the asking to remember is taken away."""
    for mark in (*_BY_LEAD, Mark.PREFER, Mark.STANDING, Mark.WISH, Mark.IDENTITY):
        if mark in marks:
            return mark
    return Mark.STATE
