"""The thirteen dimensions of a score, each in 0..1 with the sentence that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reverie.deep.decision import Decision, Verb
from reverie.deep.keeping_out import private_kinds, was_asked_to_keep
from reverie.deep.material import Known, Noted
from reverie.deep.ruling import is_an_order
from reverie.deep.standing import likeness
from reverie.light.candidate import Kind
from reverie.light.marks import Mark

POSITIVE = (
    "future_usefulness", "query_diversity", "actionability", "compression_value", "stability", "recurrence", "recency",
    "explicitness", "correction_signal",
)  # fmt: skip
NEGATIVE = ("character_cost", "duplication", "volatility", "sensitivity")
NAMES = POSITIVE + NEGATIVE

_USEFUL = {
    Kind.COMMUNICATION_PREFERENCE: 0.95, Kind.USER_PREFERENCE: 0.9, Kind.SUPERSESSION_SIGNAL: 0.85,
    Kind.PROJECT_DECISION: 0.8, Kind.CORRECTION: 0.8, Kind.STALE_SIGNAL: 0.75, Kind.RECURRING_WORKFLOW: 0.75,
    Kind.SKILL_CANDIDATE: 0.7, Kind.PROJECT_FACT: 0.6,
}  # fmt: skip
_ACTS = {
    Mark.REMEMBER: 1.0, Mark.STANDING: 0.95, Mark.WISH: 0.9, Mark.RULE: 0.8, Mark.PREFER: 0.85, Mark.DECIDED: 0.85,
    Mark.CORRECTS: 0.8, Mark.CHANGED: 0.8, Mark.ENDED: 0.8, Mark.SCOPE: 0.75, Mark.EXACT: 0.65, Mark.IDENTITY: 0.6,
    Mark.CADENCE: 0.6, Mark.STATE: 0.4,
}  # fmt: skip
_PLAIN = {
    Mark.REMEMBER: 1.0, Mark.STANDING: 0.9, Mark.DECIDED: 0.9, Mark.CORRECTS: 0.8, Mark.ENDED: 0.8,
    Mark.CHANGED: 0.75, Mark.DENIES: 0.7, Mark.WISH: 0.6, Mark.RULE: 0.6, Mark.SCOPE: 0.6, Mark.PREFER: 0.5,
    Mark.IDENTITY: 0.5, Mark.CADENCE: 0.5, Mark.HABIT: 0.45, Mark.UNIVERSAL: 0.4, Mark.STATE: 0.3,
}  # fmt: skip
_LASTS = {
    Mark.REMEMBER: 0.8, Mark.STANDING: 0.8, Mark.RULE: 0.7, Mark.DECIDED: 0.8, Mark.CHANGED: 0.7, Mark.ENDED: 0.7,
    Mark.SCOPE: 0.65, Mark.CADENCE: 0.65, Mark.IDENTITY: 0.65, Mark.UNIVERSAL: 0.5, Mark.CORRECTS: 0.5,
    Mark.WISH: 0.45, Mark.PREFER: 0.45, Mark.HABIT: 0.45,
}  # fmt: skip
_SHAKY = {
    Mark.PASSING: 0.9, Mark.THIS_ONE: 0.7, Mark.SUPPOSED: 1.0, Mark.HEDGED: 0.8, Mark.INTENT: 0.6, Mark.VIEW: 0.5,
    Mark.TROUBLE: 0.6, Mark.DOUBTED: 0.6, Mark.QUESTION: 0.8, Mark.ASKS: 0.4, Mark.TASK: 0.4, Mark.REACTION: 0.7,
    Mark.AGREES: 0.3, Mark.OPENING: 0.2, Mark.OTHERS: 0.9,
}  # fmt: skip
_OWN_CORRECTED = frozenset({Mark.CORRECTS, Mark.OWN})  # "our prices are gross" holds longer than "it is 42"
_MEANT_TO_LAST = frozenset({Mark.STANDING, Mark.REMEMBER})  # a session may well begin with an order that holds
_DATED = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_HALF_LIFE_DAYS = 90.0
_MEANT = 0.85
_RECURS = (0.0, 0.25, 0.8, 0.9, 0.95)
OPINION = 0.1  # a model's opinion moves a dimension by at most so much
OPINED = ("future_usefulness", "actionability")


@dataclass(frozen=True, slots=True)
class Weighing:
    """What scores are computed against: `asked` counts other sessions that spoke of it, where that was looked for;
    `room` the characters left.

    `opinions` is what a model thinks of a matter, in 0..1 by dimension; a matter goes by the id of its last statement.
    """

    now: datetime
    known: tuple[Known, ...] = ()
    room: Mapping[str, int] = field(default_factory=dict)
    asked: Mapping[str, int] = field(default_factory=dict)
    most_new_characters: int = 250
    opinions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dimension:
    name: str
    value: float
    why: str


def dimensions(decision: Decision, weighing: Weighing) -> tuple[Dimension, ...]:
    """All thirteen, in the order of `NAMES`."""
    found = {**_worth(decision, weighing), **_standing_of(decision, weighing), **_cost(decision, weighing)}
    found |= _opined(found, weighing.opinions.get(decision.matter.last.id, {}))
    return tuple(Dimension(name, round(min(1.0, max(0.0, found[name][0])), 4), found[name][1]) for name in NAMES)


_Found = dict[str, tuple[float, str]]


def _opined(found: _Found, opinion: Mapping[str, float]) -> _Found:
    """Ours, moved a little towards what a model thinks."""
    told = {name: opinion[name] for name in OPINED if name in opinion}
    return {
        name: (value + max(-OPINION, min(OPINION, thought - value)), f"{why} A model thinks {thought:.2f}.")
        for name, thought in told.items()
        for value, why in [found[name]]
    }


def _worth(decision: Decision, weighing: Weighing) -> _Found:
    matter = decision.matter
    kinds = {note.candidate.kind for note in matter.said}
    useful = max(_USEFUL[kind] for kind in kinds)
    asked = weighing.asked.get(matter.last.id)
    acts, cue = max(((_ACTS.get(Mark(mark), 0.0), mark) for mark in _marks(decision)), default=(0.0, "nothing"))
    stands_for = len(matter.every)
    return {
        "future_usefulness": (useful, f"It is a {_listed(kind.replace('_', ' ') for kind in kinds)}."),
        "query_diversity": (1 - 0.6 ** (asked or 0), _spoken_of(asked)),
        "actionability": (acts, f"It {cue}." if acts else "It changes nothing an agent does."),
        "compression_value": (1 - 1 / stands_for, f"It stands for {_count(stands_for, 'statement')}."),
    }


def _spoken_of(asked: int | None) -> str:
    return (
        "Nobody looked: it would not pass anyway."
        if asked is None
        else f"{_count(asked, 'other session')} touched on it."
    )


def _standing_of(decision: Decision, weighing: Weighing) -> _Found:
    matter, marks = decision.matter, _marks(decision)
    days = {note.said_at.date() for note in matter.every if note.said_at}
    lasts = max((_LASTS.get(Mark(mark), 0.2) for mark in marks), default=0.2)
    lasts += 0.25 * (marks >= _OWN_CORRECTED)
    lasts += 0.2 * (len(days) > 1) - 0.2 * bool(matter.overtaken)
    told_before = len(matter.sessions) == 1 and Mark.ONCE_MORE in marks
    times = len(matter.sessions) + told_before
    last = max((note.said_at for note in matter.every if note.said_at), default=None)
    age = max(0, (weighing.now - last).days) if last else None
    plain = max(_plainness(note) for note in matter.said)
    corrected = 1.0 if marks & {Mark.CORRECTS, Mark.DENIES} else 0.8 if marks & {Mark.CHANGED, Mark.ENDED} else 0.0
    holds = "holds" if lasts >= 0.65 else "may not hold"
    ago = "Nobody knows when." if age is None else f"It was last said {_count(age, 'day')} ago."
    return {
        "stability": (lasts, f"It was said on {_count(len(days), 'day')} and {holds} in general."),
        "recurrence": (_RECURS[min(times, len(_RECURS) - 1)], _said_in(times, told_before)),
        "recency": (0.3 if age is None else 0.5 ** (age / _HALF_LIFE_DAYS), ago),
        "explicitness": (plain, "It was put plainly." if plain >= 0.6 else "It was said in passing."),
        "correction_signal": (corrected, "It puts something right." if corrected else "It corrects nothing."),
    }


def _said_in(times: int, told_before: bool) -> str:
    if told_before:
        return "It was said in 1 session, and before, as the person says."
    return f"It was said in {_count(times, 'session')}."


def _plainness(note: Noted) -> float:
    """How directly it was put, as far as it was meant at all."""
    put = max((_PLAIN.get(Mark(mark), 0.2) for mark in note.marks & frozenset(Mark)), default=0.2)
    put = 1.0 if is_an_order(note) else put
    return put * min(1.0, note.candidate.confidence / _MEANT)


def _cost(decision: Decision, weighing: Weighing) -> _Found:
    new = max(0, len(decision.text) - (len(decision.target.text) if decision.target else 0))
    room = weighing.room.get(decision.document, 10_000)
    cost = max(new / weighing.most_new_characters, 1.0 if new > room else new / max(1, room))
    alike, where = _nearest(decision, weighing.known)
    doubts = _every_mark(decision) - ({Mark.OPENING} if _marks(decision) & _MEANT_TO_LAST else frozenset())
    shaky, cue = max(((_SHAKY.get(Mark(mark), 0.0), mark) for mark in doubts), default=(0.0, ""))
    shaky *= 0.1 if _was_meant(decision) else 1.0
    dated = 0.3 if _DATED.search(decision.text) else 0.0
    passes = f"It {cue}." if shaky else "It names a day." if dated else "Nothing in it will pass."
    private = private_kinds(decision.matter)
    keeps = 0.25 if was_asked_to_keep(decision.matter) else 1.0
    like = f"It is like what stands in {where}." if alike > 0.4 else "Nothing like it stands there."
    told = f"It speaks of {_listed(private)}." if private else "Nothing in it is private."
    return {
        "character_cost": (cost, f"It takes {_count(new, 'more character')}; {room:,} are left."),
        "duplication": (alike, like),
        "volatility": (max(shaky, dated), passes),
        "sensitivity": (keeps * bool(private), told),
    }


def _was_meant(decision: Decision) -> bool:
    """The person asked for it to be kept, or named what it replaces: a doubt in the wording is no doubt about it."""
    return Mark.REMEMBER in _marks(decision) or bool(decision.standing and decision.standing.named)


def _nearest(decision: Decision, known: Iterable[Known]) -> tuple[float, str]:
    if decision.verb in (Verb.REMOVE, Verb.BETTER_AS_SKILL):
        return 0.0, ""
    others = [one for one in known if one != decision.target]
    language = decision.matter.language
    return max(((likeness(decision.text, one.text, language), one.surface) for one in others), default=(0.0, ""))


def _marks(decision: Decision) -> frozenset[str]:
    """Cues of any statement: what one sentence leaves open another may say."""
    named = frozenset[str]().union(*(note.marks for note in decision.matter.said))
    return named & frozenset(Mark)


def _every_mark(decision: Decision) -> frozenset[str]:
    """Cues all statements share: a doubt in one of them is no doubt about the others."""
    shared = [note.marks for note in decision.matter.said]
    return frozenset.intersection(*shared) & frozenset(Mark)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _listed(words: Iterable[str]) -> str:
    return " and ".join(sorted(words)) or "nothing"
