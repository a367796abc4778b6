"""How long something stays staged: what was noticed once, long ago, is let go, and there is a most of them.

The days count from the night that staged it, not from when it was said: who brings in a year of transcripts loses
none of it. What cleared its gate only waits for its turn and stays. What is said again begins anew; what landed, waits
or was rejected is not staged in the first place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reverie.deep.decision import Decision
from reverie.rem.gates import SPENT, Weighed

FADES_AFTER = timedelta(days=90)
MOST_STAGED = 400  # statements of one shelf; a night thinks all of them over
MOST_OF_ONE = 20  # of one matter: what is said all the time needs no more to speak for it
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Staying:
    """`notes` are the names of the statements that stay staged; `let_go` says why a decision's do not, by its id()."""

    notes: frozenset[str]
    let_go: dict[int, str]


def waits_its_turn(one: Weighed) -> bool:
    """It cleared its gate; only the limits of one night held it."""
    return one.held_back == SPENT


def staying(
    turns: Sequence[Decision], unsure: Sequence[Decision], since: Mapping[str, datetime], now: datetime
) -> Staying:
    """Of what was not used, what another night may find more of. What was said last stays first.

    `turns` only wait for theirs. `since` is when each statement of an earlier night was staged; tonight's are new."""
    notes = {name for decision in turns for name in _names(decision)}
    let_go: dict[int, str] = {}
    for decision in sorted(unsure, key=_said_last, reverse=True):
        names = _names(decision)
        days = (now - max(since.get(note.id, now) for note in decision.matter.every)).days
        if days > FADES_AFTER.days:
            let_go[id(decision)] = f"Let go: it was staged {days} days ago, and not said again."
        elif len(notes) + len(names) > MOST_STAGED:
            let_go[id(decision)] = f"Let go: {MOST_STAGED} newer statements are staged."
        else:
            notes.update(names)
    return Staying(frozenset(notes), let_go)


def _names(decision: Decision) -> list[str]:
    matter = decision.matter
    return [note.id for note in (*matter.said[-MOST_OF_ONE:], *matter.again[-MOST_OF_ONE:])]


def _said_last(decision: Decision) -> datetime:
    return max((note.said_at for note in decision.matter.every if note.said_at), default=_LONG_AGO)
