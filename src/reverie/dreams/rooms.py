"""The rooms of a Home as a night needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reverie.deep.material import Known
from reverie.dreams.records import Dreams, Lease
from reverie.kernel.clock import Clock
from reverie.kernel.ids import Ids
from reverie.kernel.scope import Scope
from reverie.language.finding import Finder
from reverie.memory.library import Memory
from reverie.rem.gates import Gates, Limits
from reverie.review.queue import Review
from reverie.sessions.library import Library
from reverie.skills.library import Skills

RECENT_SESSIONS = 14


@dataclass(frozen=True, slots=True)
class Rooms:
    """`skills` are those a lesson may amend; `surfaces` is what else is read beside a shelf, and not changed;
    `recent_sessions` is how many sessions a night reads where nobody says otherwise.

    `fenced` makes a review that commits nothing once someone else holds the lease. `ready` raises where
    there is to be no night.
    """

    scope: Scope
    owner: str
    sessions: Library
    memory: Memory
    review: Review
    records: Dreams
    clock: Clock
    ids: Ids
    search: Finder | None = None
    skills: Skills | None = None
    surfaces: Callable[[str], Iterable[Known]] = lambda shelf: ()
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)
    recent_sessions: int = RECENT_SESSIONS
    fenced: Callable[[Lease], Review] | None = None
    ready: Callable[[], None] = lambda: None
