"""The score of an item: thirteen dimensions in 0..1, each with its sentence, and the odds that a curator agrees.

Everything is computed from the evidence. Explicitness and a correction weigh most; that something was said often
helps, and does not drown them. What the checks are not sure of counts against it afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

from reverie.changes.proposal import Part, Score
from reverie.core.ids import plural
from reverie.dreams.items import Op
from reverie.dreams.verify.case import Case
from reverie.dreams.verify.reasons import Mark, Objection
from reverie.dreams.words import missing, shared, stems, values
from reverie.safety.sensitive import sensitive
from reverie.text.relation import conflict_on_one_matter

HALF_LIFE_DAYS = 90.0
BARE = 0.4  # how explicit a plain statement is at most, beside a wish
_USEFUL = {
    "communication_preference": 0.95,
    "user_preference": 0.9,
    "supersession_signal": 0.85,
    "project_decision": 0.8,
    "correction": 0.8,
    "stale_signal": 0.75,
    "recurring_workflow": 0.75,
    "skill_candidate": 0.7,
    "project_fact": 0.6,
}
# By what Light takes the quoted words for: how much it makes an agent do, how long it holds.
_ACTS = {
    "instruction": 1.0,
    "preference": 0.9,
    "correction": 0.9,
    "decision": 0.85,
    "procedure": 0.85,
    "update": 0.8,
    "contradiction": 0.7,
    "lesson": 0.7,
    "fact": 0.3,
}
_LASTS = {
    "instruction": 0.9,
    "preference": 0.85,
    "decision": 0.85,
    "correction": 0.8,
    "procedure": 0.8,
    "lesson": 0.8,
    "update": 0.75,
    "contradiction": 0.7,
    "fact": 0.7,
}
_RECURS = (0.0, 0.3, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Measure:
    """The facts scores are computed against. `asked`: in how many other sessions it was touched on, where that was
    looked for; `room`: characters left by document."""

    now: datetime
    room: Mapping[str, int]
    asked: int = 0
    most_new_characters: int = 250


def score(case: Case, measure: Measure) -> Score:
    """The total and its parts: what each dimension is worth, what it adds, and why."""
    table = _weights()
    parts = [
        Part(name, round(value, 4), round(value * table["weights"][name], 4), why)
        for name, value, why in _dimensions(case, measure)
    ]
    bias = table["bias"]["skill" if case.item.op.changes_skill else str(case.item.op)]
    total = 1 / (1 + exp(-(bias + sum(part.adds for part in parts))))
    return Score(round(total, 4), tuple(parts))


def less_doubts(found: Score, findings: Iterable[Objection]) -> Score:
    """The same, less what is not sure of it, so that 0.9 is right nine times in ten. What is not sure asks or is
    refused anyway: nothing lands or stays away by this."""
    open_ = {one.reason for one in findings if Mark.AGAINST in one.reason.marks}
    if not open_:
        return found
    value = 1 - 0.5 ** len(open_)
    why = f"{'One thing is' if len(open_) == 1 else f'{len(open_)} things are'} not sure about it."
    part = Part("open_questions", value, round(value * _weights()["weights"]["open_questions"], 4), why)
    sure = min(max(found.total, 1e-4), 1 - 1e-4)
    return Score(round(1 / (1 + (1 - sure) / sure * exp(-part.adds)), 4), (*found.parts, part))


@cache
def _weights() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads((files("reverie.dreams") / "weights.json").read_text("utf-8"))
    return table


def _dimensions(case: Case, measure: Measure) -> Iterator[tuple[str, float, str]]:
    kinds, item = case.kinds, case.item
    useful = _USEFUL.get(item.kind, 0.6)
    acts, kind = max(((_ACTS[one], one) for one in kinds), default=(0.3, "remark"))
    yield "future_usefulness", useful, f"A {item.kind.replace('_', ' ') or 'fact'} is often needed again."
    yield "query_diversity", 1 - 0.6**measure.asked, f"{plural(measure.asked, 'other session')} touched on it."
    yield "actionability", acts, f"The words read like this: {kind}."
    stands_for = len(case.support) + max(0, len(case.replaced) - 1)
    yield "compression_value", 1 - 1 / max(1, stands_for), f"It stands for {plural(stands_for, 'statement')}."
    days = {one.said_at.date() for one in case.support if one.said_at}
    lasts = max((_LASTS[one] for one in kinds), default=0.2) + 0.2 * (len(days) > 1)
    lasts = max(lasts, 0.6 if case.replaced else 0.0)  # what stood there lasted
    yield "stability", min(1.0, lasts), f"It was said on {plural(len(days), 'day')}."
    sessions = len({one.evidence.session_id for one in case.support})
    yield "recurrence", _RECURS[min(sessions, len(_RECURS) - 1)], f"It was said in {plural(sessions, 'session')}."
    last = max((one.said_at for one in case.support if one.said_at), default=None)
    age = max(0, (measure.now - last).days) if last else None
    ago = "When it was said is not known." if age is None else f"It was last said {plural(age, 'day')} ago."
    yield "recency", 0.3 if age is None else 0.5 ** (age / HALF_LIFE_DAYS), ago
    bare = kinds <= {"fact"} and sessions == 1 and not case.asked_to_keep  # however plainly it is put
    put = max(min(case.surest, BARE) if bare else case.surest, 0.7 if _names_what_it_changes(case) else 0.0)
    put = min(1.0, put + 0.3 * (sessions > 1))
    yield "explicitness", put, "It was put plainly." if put >= 0.6 else "It was said in passing."
    marked = 1.0 if case.kinds & {"correction", "contradiction"} else 0.8 if "update" in case.kinds else 0.0
    said = [*(one.sentence for one in case.support), *([case.text] if case.text else [])]
    against = max((conflict_on_one_matter(old, one) for old in case.old for one in said), default=0.0)
    rights = max(marked, against)
    yield "correction_signal", rights, "It puts something right." if rights >= 0.5 else "It corrects nothing."
    yield from _against(case, measure)


def _names_what_it_changes(case: Case) -> bool:
    """The person spoke of the very thing the entry is about, or of the value that goes, and said that it is so."""
    said = " ".join(one.sentence for one in case.asserted)
    least = 1 if case.item.op is Op.REMOVE else 2

    def named(old: str) -> bool:
        gone = missing(values(old), [case.text])
        return len(shared(old, said)) >= min(least, len(stems(old))) or len(missing(gone, [said])) < len(gone)

    return bool(case.replaced) and all(map(named, case.old))


def _against(case: Case, measure: Measure) -> Iterator[tuple[str, float, str]]:
    text = case.item.text
    new = max(0, len(text) - sum(map(len, case.old)))
    room = measure.room.get(case.item.document, 10_000)
    least = max(1, min(measure.most_new_characters, room))
    cost = 0.0 if case.item.op.changes_skill else min(1.0, new / least)
    yield "character_cost", cost, f"It takes {plural(new, 'more character')}; {room:,} are left."
    others = [one for one in case.brief.entries if one not in case.replaced and one.document == case.item.document]
    alike = max((_likeness(one.text, text) for one in others), default=0.0) if case.item.op is Op.ADD else 0.0
    yield "duplication", alike, "Something like it stands there." if alike > 0.4 else "Nothing like it stands there."
    doubts = [span.reading.doubt for one in case.asserted or case.support for span in one.spans]
    shaky = 0.0 if case.tidies or case.asked_to_keep else min([*doubts, 1 - case.surest])
    shaky /= 2 if _names_what_it_changes(case) else 1  # what stood there lasted
    yield "volatility", shaky, "It may pass." if shaky > 0.5 else "Nothing says that it will pass."
    private = sorted({one.kind for one in sensitive(text)})
    yield (
        "sensitivity",
        0.3 * bool(private),
        f"It speaks of {' and '.join(private)}." if private else "Nothing is private.",
    )


def _likeness(one: str, other: str) -> float:
    first, second = stems(one), stems(other)
    return len(first & second) / len(first | second) if first | second else 0.0
