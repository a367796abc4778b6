"""What a night needs of others: of the place whose memory it is about (files of a harness, or a memory store), and of a
Home, whose rooms it works in.

Before it lands a night knows a target by its values (`DreamTarget`) alone, so that both kinds give the same decisions
for the same sessions and entries, where limits and ownership are the same. What its steps do to a target is the port
`NightTarget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reverie.changes.queue import Review
from reverie.core.clock import Clock
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.decide import Gates, Limits
from reverie.dreams.dream import Dream, Judged
from reverie.dreams.records import Dreams, Lease, Planned, Thought
from reverie.memory.library import Memory
from reverie.memory.operation import Operation
from reverie.search.finder import Finder
from reverie.skills.library import FoundSkill, Skills
from reverie.transcripts.library import Library
from reverie.transcripts.session import Head

OWN_SKILLS = "skills"


@dataclass(frozen=True, slots=True)
class DreamTarget:
    """`owner` is the person whose memory it is; empty: it is nobody's. `surfaces` is what agents read besides, and a
    night does not change. `new_skills` is the folder of a skill that is new.

    `asks`: a person is asked about what does not land by itself. Where nobody is asked, what is only unsure is included
    and marked, what is for a person is withheld, and nothing is staged for another night. `people_needed`: how many
    people have to agree before what stands is changed, where it is nobody's; 0: its owner decides. `withheld` is what
    was kept out of it before anyone decided. `recalled` says what broader memories have about these texts, where and
    what.
    """

    name: str
    owner: str
    documents: tuple[BriefDocument, ...]
    entries: tuple[BriefEntry, ...]
    surfaces: tuple[BriefEntry, ...] = ()
    skills: tuple[FoundSkill, ...] = ()
    new_skills: str = OWN_SKILLS
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)
    search: Finder | None = None
    instructions: str = ""
    asks: bool = True
    people_needed: int = 0
    waiting: frozenset[tuple[Operation, ...]] = frozenset()
    withheld: tuple[Judged, ...] = ()
    recalled: Callable[[Iterable[str]], Iterable[tuple[str, str]]] = lambda texts: ()


class NightTarget(Protocol):
    """The target of a night, as its steps use it."""

    @property
    def at_once(self) -> bool:
        """Whether all that is to be done lands in one transaction, or each matter by itself."""
        ...

    def curator(self, lease: Lease) -> Curator:
        """The curator that decides. Raises `Ended` where the one that is asked for cannot."""
        ...

    def resume(self) -> None:
        """Finish what a crash left half landed."""
        ...

    def check(self, dream: Dream) -> None:
        """Raises where what the dream was given is not there any more."""
        ...

    def tell(self, text: str) -> None:
        """Tell who looks on how far the night is."""
        ...

    def begin(self, lease: Lease, dream: Dream) -> Dream:
        """Choose the sessions, and keep that the night runs and what it reads."""
        ...

    def described(self, dream: Dream) -> DreamTarget: ...

    def put(self, lease: Lease, dream: Dream, planned: Sequence[Planned], places: Sequence[int]) -> dict[int, Judged]:
        """Do what is planned at these places, if that was not done before. What became of it."""
        ...

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        """Keep how it ended."""
        ...

    def failed(self, dream: Dream, error: Exception) -> None:
        """Keep that it came to no end, and why."""
        ...


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
