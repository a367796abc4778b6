"""What is kept for another night: what was held, for ninety days after it was staged, and no more than 400 of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from reverie.dreams.decide import Decided
from reverie.light.candidate import Candidate, Kind, Noted

EXPIRES_AFTER = timedelta(days=90)
MOST_STAGED = 400
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def staged(held: Iterable[Noted], since: Mapping[str, datetime], now: datetime) -> frozenset[str]:
    """The ids of what stays staged, newest first. What is said again begins anew: it has a new id."""
    kept = [one for one in held if now - since.get(one.id, now) <= EXPIRES_AFTER]
    newest = sorted(kept, key=lambda one: one.said_at or _LONG_AGO, reverse=True)
    return frozenset(one.id for one in newest[:MOST_STAGED])


def as_noted(one: Decided, new_id: Callable[[], str]) -> tuple[Noted, ...]:
    """What a curator saw and Light did not, so that it is not forgotten when it is held: a note for each session."""
    kind = Kind(one.item.kind) if one.item.kind in list(Kind) else Kind.PROJECT_FACT
    notes = list[Noted]()
    for session_id in dict.fromkeys(each.evidence.session_id for each in one.case.support):
        said = [each for each in one.case.support if each.evidence.session_id == session_id]
        marks = tuple(sorted({span.reading.kind for each in said for span in each.spans}))
        evidence = tuple(each.evidence for each in said)
        candidate = Candidate(kind, said[0].sentence, 0.6, 0.6, evidence, marks=marks)
        notes.append(Noted(new_id(), candidate, session_id, said[0].session.head.user, said[0].said_at))
    return tuple(notes)
