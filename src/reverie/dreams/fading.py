"""How long something stays staged: what was said once, long ago, is let go, and there is a most of them.

What is said again begins anew; what landed, waits or was rejected is not staged in the first place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reverie.deep.decision import Decision

FADES_AFTER = timedelta(days=90)
MOST_STAGED = 400  # statements of one shelf; a night thinks all of them over
MOST_OF_ONE = 20  # of one matter: what is said all the time needs no more to speak for it
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Staying:
    """`notes` are the names of the statements that stay staged; `let_go` says why a decision's do not, by its id()."""

    notes: frozenset[str]
    let_go: dict[int, str]


def staying(left: Sequence[Decision], now: datetime) -> Staying:
    """Of what was not used, what another night may find more of. What was said last stays first."""
    notes: set[str] = set()
    let_go: dict[int, str] = {}
    for decision in sorted(left, key=_said_last, reverse=True):
        matter = decision.matter
        names = [note.id for note in (*matter.said[-MOST_OF_ONE:], *matter.again[-MOST_OF_ONE:])]
        days = (now - _said_last(decision)).days
        if _said_last(decision) != _LONG_AGO and days > FADES_AFTER.days:
            let_go[id(decision)] = f"Let go: it was last said {days} days ago, and not again."
        elif len(notes) + len(names) > MOST_STAGED:
            let_go[id(decision)] = f"Let go: {MOST_STAGED} newer statements are staged."
        else:
            notes.update(names)
    return Staying(frozenset(notes), let_go)


def _said_last(decision: Decision) -> datetime:
    return max((note.said_at for note in decision.matter.every if note.said_at), default=_LONG_AGO)
