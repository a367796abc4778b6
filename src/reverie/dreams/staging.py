"""What is kept for another night: what was held, for ninety days after it was staged, and no more than 400 of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from reverie.dreams.decide import Decided
from reverie.light.candidate import Candidate, Kind, Noted
from reverie.light.spans import Span

EXPIRES_AFTER = timedelta(days=90)
MOST_STAGED = 400
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def staged(held: Iterable[Noted], since: Mapping[str, datetime], now: datetime) -> frozenset[str]:
    """The ids of what stays staged, newest first. What is said again begins anew: it has a new id."""
    kept = [one for one in held if now - since.get(one.id, now) <= EXPIRES_AFTER]
    newest = sorted(kept, key=lambda one: one.said_at or _LONG_AGO, reverse=True)
    return frozenset(one.id for one in newest[:MOST_STAGED])


def as_noted(one: Decided, name: str) -> Noted:
    """What a curator saw and Light did not, so that it is not forgotten when it is held."""
    first = one.case.support[0]
    spans: Sequence[Span] = first.spans
    marks = tuple(sorted({mark for span in spans for mark in span.marks}))
    kind = Kind(one.item.kind) if one.item.kind in list(Kind) else Kind.PROJECT_FACT
    candidate = Candidate(kind, first.sentence, 0.6, 0.6, one.case.evidence, marks=marks)
    return Noted(name, candidate, first.evidence.session_id, first.session.head.user, first.said_at)
