"""`Night.dream`: the order of the phases. What is written is written by review and by the records of dreams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie.deep.decision import STAGED, Decision
from reverie.deep.judging import Deepened, Mind, deepen
from reverie.deep.material import Known, Noted
from reverie.deep.subjects import about
from reverie.dreams.choosing import as_read, choose, not_noticed_yet, noticed
from reverie.dreams.diary import diary
from reverie.dreams.dream import Dream, Fate, Judged, Mode, Status
from reverie.dreams.judged import judged_of
from reverie.dreams.putting import put
from reverie.dreams.records import Dreams, Kept
from reverie.kernel.clock import Clock
from reverie.kernel.errors import BadInput
from reverie.kernel.ids import Ids
from reverie.kernel.scope import Scope
from reverie.language.finding import Finder
from reverie.memory.library import Memory
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Limits, Weighed
from reverie.rem.suggesting import weigh
from reverie.review.queue import Review
from reverie.sessions.library import Library
from reverie.skills.library import Skills

RECENT_SESSIONS = 14
OWN_SKILLS = "skills"
_ENOUGH_SHARED = 2


@dataclass(frozen=True, slots=True)
class Night:
    """`skills` are those a lesson may amend; `surfaces` is what else the agent reads."""

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
    surfaces: Callable[[], Iterable[Known]] = tuple
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)

    def dream(
        self,
        shelf: str = "hermes",
        mode: Mode = "land",
        sessions: Sequence[str] | None = None,
        since: datetime | None = None,
        limit: int = RECENT_SESSIONS,
    ) -> Dream:
        """One night over a shelf: lands what may land by itself, or only proposes. Nothing new is a quiet night."""
        if mode not in ("land", "propose"):
            raise BadInput(f"There is no mode {mode!r}.", expected="land or propose")
        dream = Dream(self.ids.new("drm"), shelf, mode, Status.RUNNING, self.clock.now())
        added = self.sessions.refresh()
        flaws = tuple(f"{flaw.path}: {flaw.why}" for flaw in added.flaws)
        chosen = choose(self.sessions, self.records.read(self.scope, shelf), sessions, since, limit)
        dream = replace(dream, sessions=as_read(chosen.sessions), left=chosen.left, flaws=flaws)
        if not chosen.sessions:
            return self._kept(dream, (), ())
        fresh = list(noticed(self.sessions, chosen.sessions, self.ids))
        carried = not_noticed_yet(fresh, self.records.staged(self.scope, shelf))
        return self._thought_over(replace(dream, noticed=len(fresh), carried=len(carried)), fresh, carried)

    def _thought_over(self, dream: Dream, fresh: Sequence[Noted], carried: Sequence[Noted]) -> Dream:
        known = (*self._entries(dream.shelf), *self.surfaces())
        skills = tuple(self.skills.every()) if self.skills else ()
        mind = Mind(known, self._documents(dream.shelf), dream.started_at, skills, self.owner)
        deepened = deepen([*carried, *fresh], mind)
        weighed = weigh(deepened.decisions, self._weighing(dream, known, deepened), self.gates, self.limits)
        judged = [put(self.review, one, dream, self._new_skills(dream.shelf)) for one in weighed]
        judged += [_rejected(one) for one in deepened.decisions if one.rejected]
        staged = {note.id for one in _left_over(deepened, weighed) for note in one.matter.said}
        every = [*carried, *fresh]
        return self._kept(
            replace(dream, themes=len(deepened.themes), judged=tuple(judged)),
            tuple(one for one in every if one.id in staged),
            tuple(one.id for one in every if one.id not in staged),
        )

    def _kept(self, dream: Dream, staged: tuple[Noted, ...], settled: tuple[str, ...]) -> Dream:
        done = replace(dream, status=Status.COMPLETED, ended_at=self.clock.now())
        done = replace(done, diary=diary(done))
        self.records.keep(self.scope, Kept(done, staged, settled))
        return done

    def _entries(self, shelf: str) -> list[Known]:
        return [
            Known(one.document, one.text, one.document, one.sha256, one.since, one.seen, one.critical)
            for one in self.memory.entries(shelf)
        ]

    def _documents(self, shelf: str) -> Mapping[str, str]:
        """Where what is about the person goes, and where the rest: a shelf with one document takes both."""
        names = [place.document for place in self.memory.shelf(shelf).places()]
        person = next((name for name in names if name.upper().startswith("USER")), names[0])
        world = next((name for name in names if name.upper().startswith("MEMORY")), names[0])
        return {"person": person, "world": world}

    def _new_skills(self, shelf: str) -> str:
        """The folder a new skill goes to: the one beside the shelf, or the home's own."""
        folders = self.skills.folders if self.skills else {}
        return f"{shelf}-skills" if f"{shelf}-skills" in folders else OWN_SKILLS

    def _weighing(self, dream: Dream, known: tuple[Known, ...], deepened: Deepened) -> Weighing:
        room = {
            one.document: (one.budget if one.budget is not None else 1_000_000) - one.characters
            for one in self.memory.usage(dream.shelf)
        }
        asked = {one.matter.last.id: self._asked(one) for one in deepened.decisions if not one.rejected}
        return Weighing(dream.started_at, known, room, asked, self.limits.max_new_chars)

    def _asked(self, decision: Decision) -> int:
        """In how many other sessions a person touched on it."""
        if self.search is None or not decision.text:
            return 0
        language = decision.matter.language
        wanted = about(decision.text, language)
        hits = self.search(decision.text, role="user", limit=20, around=0)
        near = {hit.session_id for hit in hits if len(about(hit.text, language) & wanted) >= _ENOUGH_SHARED}
        return len(near - decision.matter.sessions)


def _rejected(decision: Decision) -> Judged:
    fate = Fate.HELD_BACK if decision.verb in STAGED else Fate.NOT_KEPT
    return judged_of(decision, fate, decision.reason)


def _left_over(deepened: Deepened, weighed: Sequence[Weighed]) -> list[Decision]:
    """Decisions whose candidates stay staged: not sure enough, or too much for one night."""
    staged = [one for one in deepened.decisions if one.verb in STAGED]
    return staged + [one.decision for one in weighed if not one.passes]
