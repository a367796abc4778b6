"""The rooms of a Home as a night needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reverie.changes.queue import Review
from reverie.core.clock import Clock
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.decide import Gates, Limits
from reverie.dreams.records import Dreams, Lease
from reverie.dreams.target import OWN_SKILLS
from reverie.memory.library import Memory
from reverie.search.finder import Finder
from reverie.skills.library import Skills
from reverie.transcripts.library import Library
from reverie.transcripts.session import Head

RECENT_SESSIONS = 14


@dataclass(frozen=True, slots=True)
class Tuning:
    """The settings that may differ from target to target."""

    gates: Gates
    limits: Limits
    recent_sessions: int


@dataclass(frozen=True, slots=True)
class Rooms:
    """`skills` are those a lesson may amend; `surfaces` is what else is read beside a target, where and what, and not
    changed; `recent_sessions` is how many sessions a dream reads where nobody says otherwise.

    `sees` says for a target which sessions are for it. `harness` names the agent whose own transcripts a run over a
    target brings in; a run over one without an agent brings in all there are. `tuned` are a target's own settings, if
    it has some.

    `fenced` makes a review that commits nothing once someone else holds the lease. `curator` is who decides;
    `instructions` is what was asked of a dream; `ready` raises where there is to be no night at all, or none over that
    target. `recalled` asks the broader memories of the settings. `new_skills` is the folder of skills in which a skill
    that is new goes, so that the agent of a target reads it.
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
    surfaces: Callable[[str], Iterable[tuple[str, str]]] = lambda target: ()
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)
    recent_sessions: int = RECENT_SESSIONS
    fenced: Callable[[Lease], Review] | None = None
    curator: Callable[[Lease], Curator] = lambda _: BuiltInCurator()
    instructions: Callable[[str], str] = lambda _: ""
    ready: Callable[[str], None] = lambda target: None
    sees: Callable[[str], Callable[[Head], bool]] = lambda target: lambda head: True
    harness: Callable[[str], str] = lambda target: ""
    tuned: Callable[[str], Tuning | None] = lambda target: None
    recalled: Callable[[Iterable[str]], Iterable[tuple[str, str]]] = lambda texts: ()
    new_skills: Callable[[str], str] = lambda target: OWN_SKILLS
