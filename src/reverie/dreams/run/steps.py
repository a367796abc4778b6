"""A dream from wherever it stands to its end, whatever its target. Each step can be done again after a crash: it finds
what is done and does nothing twice.

What they hand on are numbers; what they found is in the rows of the night.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from reverie.core.clock import Clock
from reverie.core.errors import DatabaseUnusable, DiskFailed, NoSpace, NotFound, StillLocked
from reverie.core.scope import Scope
from reverie.dreams.brief.select_sessions import UNREAD, not_noticed_yet, noticed_in
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.diary import diary
from reverie.dreams.dream import Consulted, Dream, DreamEnded, Read, Status
from reverie.dreams.ports import NightTarget
from reverie.dreams.records import OVER, Dreams, Lease, ModelReport, Planned, Stopped, Thought
from reverie.dreams.run.think import NightSources, think
from reverie.llm.budget import Call, totals

PASSING = (StillLocked, DatabaseUnusable, NoSpace, DiskFailed)  # what another day may go better
MOST_ATTEMPTS = 5  # a night that kills who dreams it must not do so every night


class Doing(Protocol):
    """The way a step is done: inline, or by an engine that remembers its number."""

    def __call__(self, name: str, step: Callable[[], int], /) -> int: ...


def run_inline(name: str, step: Callable[[], int]) -> int:
    return step()


class NightRooms(NightSources, Protocol):
    """The parts the steps work with beside the target."""

    @property
    def clock(self) -> Clock: ...


def dream_of(rooms: NightRooms, dream: str) -> Dream:
    found = rooms.records.get(rooms.scope, dream)
    if found is None:
        raise NotFound(f"There is no dream {dream}.", next_step="`reverie status` shows the last ones.")
    return found


def run_dream(
    rooms: NightRooms, dream: str, target_of: Callable[[Dream], NightTarget], do: Doing = run_inline
) -> Dream:
    """Do what is left of a dream. What was killed is taken up where it was; what is over stays as it is. What may pass
    is raised, and the dream is taken up another time."""
    found = dream_of(rooms, dream)
    if found.status in OVER:
        return found
    lease = rooms.records.hold(rooms.scope, found)
    target = target_of(found)
    if error := _error_of(rooms, lease, target, do):
        target.failed(dream_of(rooms, dream), error)
        if not isinstance(error, DreamEnded):
            raise error
    return dream_of(rooms, dream)


def _error_of(rooms: NightRooms, lease: Lease, target: NightTarget, do: Doing) -> Exception | None:
    if lease.attempts > MOST_ATTEMPTS:
        return DreamEnded("internal_error", f"it was broken off {MOST_ATTEMPTS} times")
    if lease.attempts > 1:
        target.resume()
    try:
        curator = target.curator(lease)
    except DreamEnded as error:
        return error
    return Steps(rooms, lease, target, curator).run(do)


def given_up(rooms: NightRooms, dream: Dream, why: str) -> Dream:
    """Keep that a dream failed, with what models took until then."""
    told = (*dream.flaws, f"The night was given up: {why}")
    failed = replace(dream, status=Status.FAILED, ended_at=rooms.clock.now(), flaws=told)
    return rooms.records.stop(rooms.scope, with_costs(rooms.records, rooms.scope, failed), even_landing=True)


def canceled(records: Dreams, scope: Scope, dream: Dream, now: datetime) -> Dream:
    """End a dream before anything of it has landed, with what models took until then. Memory is as it was."""
    stopped = replace(dream, status=Status.CANCELED, ended_at=now)
    return records.stop(scope, with_costs(records, scope, stopped))


def with_costs(records: Dreams, scope: Scope, dream: Dream) -> Dream:
    return replace(dream, consulted=consulted(records.calls(scope, dream.id)))


@dataclass(frozen=True, slots=True)
class Steps:
    rooms: NightRooms
    lease: Lease
    target: NightTarget
    curator: Curator = field(default_factory=BuiltInCurator)
    _begun: list[Dream] = field(default_factory=list)  # read once: with a thousand sessions it is long
    _chosen: list[tuple[Read, int | None]] = field(default_factory=list)
    _plan: list[Planned] = field(default_factory=list)  # as its rows have it, once something is to be done

    def run(self, do: Doing) -> Exception | None:
        """All that is left of the night; returned is what makes it impossible. What may pass is raised, and the night
        is taken up again when it has."""
        try:
            self.all(do)
        except Stopped:
            return None
        except PASSING:
            with suppress(*PASSING):
                self.rooms.records.release(self.lease)
            raise
        except Exception as error:  # noqa: BLE001 — whoever runs the night keeps it as failed, and raises it again
            return error
        return None

    def all(self, do: Doing) -> None:
        """The order of a night. Whoever runs it again goes the same way."""
        for place in range(do("begin", self.begin)):
            do("light", partial(self.light, place))
        for place in range(do("think", self.think)):
            do("land" if self.target.at_once else "put", partial(self.put, place))
        do("end", self.end)

    def begin(self) -> int:
        """Write down which sessions are read. How many they are."""
        dream = self._dream()
        if dream.status is Status.PENDING:
            dream = self.target.begin(self.lease, dream)
        return len(dream.sessions)

    def light(self, place: int) -> int:
        """Write down what is noticed in one session. How much that is. A night that was stopped has none chosen."""
        if not self._begun:
            self._begun.append(self._dream())
            self._chosen.extend(self.rooms.records.chosen(self.rooms.scope, self.lease.dream))
        self.target.check(self._begun[0])
        if place >= len(self._chosen):
            raise Stopped
        read, found = self._chosen[place]
        if found is not None:
            return found
        notes, told = noticed_in(self.rooms.sessions, read, self.rooms.ids)
        self.rooms.records.note(self.lease, place, notes, told)
        self.target.tell(f"Light: {read.session_id}, {read.turns} turns, {len(notes)} noticed.")
        return len(notes)

    def think(self) -> int:
        """Write down what is to be done. How often something is put: once for all, or for each matter."""
        dream, rooms = self._checked(), self.rooms
        thought = rooms.records.thought(rooms.scope, dream.id)
        if thought is None:
            self.target.tell("Deep and REM: what was noticed is held against what the store says.")
            fresh = rooms.records.noticed(rooms.scope, dream.id)
            carried = not_noticed_yet(fresh, rooms.records.staged(rooms.scope, dream.target))
            target = self.target.described(dream)
            # Where nobody is asked, somebody asked for the dream: it puts the memory in order even if nothing was said.
            worth = dream.sessions or not target.asks
            thought = think(rooms, target, dream, fresh, carried, curator=self.curator) if worth else Thought()
            rooms.records.plan(self.lease, thought)
        return 1 if self.target.at_once else sum(one.suggestion is not None for one in thought.planned)

    def put(self, number: int) -> int:
        """Do one matter of those to be done, or all of them, if that was not done. How much came of it."""
        dream, records = self._checked(), self.rooms.records
        if not self._plan:
            self._plan.extend(self._thought(dream).planned)
        places = [place for place, one in enumerate(self._plan) if one.suggestion]
        places = places if self.target.at_once else places[number : number + 1]
        wanted = [place for place in places if not self._plan[place].done]
        if wanted:
            records.landing(self.lease)
            became = self.target.put(self.lease, dream, self._plan, wanted)
            records.became(self.lease, became)
            for place, judged in became.items():
                self._plan[place] = replace(self._plan[place], judged=judged, done=True)
        return sum(bool(self._plan[place].judged.ref) for place in places)

    def end(self) -> int:
        """Tell the night in its diary, and keep it. How many matters it was about."""
        dream, rooms = self._dream(), self.rooms
        thought = self._thought(dream)
        told = together([*rooms.records.told(rooms.scope, dream.id), thought.told])
        unread = tuple(why for why in told.dropped if why.startswith(UNREAD))
        done = replace(
            dream,
            status=Status.COMPLETED,
            ended_at=rooms.clock.now(),
            noticed=thought.noticed,
            carried=thought.carried,
            themes=thought.themes,
            judged=tuple(one.judged for one in thought.planned),
            enough=told.enough,
            duplicates=thought.duplicates,
            reduced=thought.reduced,
            dropped={why: times for why, times in told.dropped.items() if why not in unread},
            flaws=(*dream.flaws, *(f"{why}. The night went on without it; please report it." for why in unread)),
        )
        done = with_costs(rooms.records, rooms.scope, done)
        self.target.end(self.lease, replace(done, diary=diary(done)), thought)
        return len(done.judged)

    def _dream(self) -> Dream:
        found = self.rooms.records.get(self.rooms.scope, self.lease.dream)
        if found is None or found.status in OVER:
            raise Stopped
        return found

    def _checked(self) -> Dream:
        dream = self._dream()
        self.target.check(dream)
        return dream

    def _thought(self, dream: Dream) -> Thought:
        return self.rooms.records.thought(self.rooms.scope, dream.id) or Thought()


# ---- what models took, added up for the account of a night -----------------------------------------------------------


def consulted(calls: Iterable[Call]) -> tuple[Consulted, ...]:
    """Per role."""
    every = list(calls)
    return tuple(
        Consulted(
            role,
            tuple(sorted({one.model for one in every if one.role == role})),
            total.calls,
            total.failed,
            total.usage.tokens_in,
            total.usage.tokens_out,
            total.usage.cached,
            None if total.cost is None else float(total.cost),
            round(total.seconds, 3),
            round(total.share, 4),
            {one.prompt: one.prompt_sha256 for one in every if one.role == role},
            total.sent,
            total.whole,
        )
        for role, total in totals(every).items()
    )


def together(told: Iterable[ModelReport]) -> ModelReport:
    """The reports of all steps, as one of the whole night."""
    every = list(told)
    dropped = sum((Counter(one.dropped) for one in every), Counter[str]())
    return ModelReport(dict(dropped.most_common()), next((one.enough for one in every if one.enough), ""))
