"""The steps of a night. Each can be done again after a crash: it finds what is done and does nothing twice.

What they hand on are numbers; what they found is in the rows of the night.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from reverie.dreams.choosing import UNREAD, as_read, gathered, not_noticed_yet, noticed_in
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.diary import diary
from reverie.dreams.dream import Dream, Status
from reverie.dreams.putting import put, put_before
from reverie.dreams.records import OVER, Lease, Stopped, Thought
from reverie.dreams.rooms import Rooms
from reverie.dreams.spending import consulted, together
from reverie.dreams.target import target_of_files
from reverie.dreams.thinking import think
from reverie.kernel.errors import NotFound


class Doing(Protocol):
    """How a step is done: plainly, or by an engine that remembers its number."""

    def __call__(self, name: str, step: Callable[[], int], /) -> int: ...


def plainly(name: str, step: Callable[[], int]) -> int:
    return step()


@dataclass(frozen=True, slots=True)
class Steps:
    """`land`: whether what may land by itself does, if the night was to land at all. `brought`: what could not be read
    when the sources were, if that is done already."""

    rooms: Rooms
    lease: Lease
    land: bool = True
    curator: Curator = field(default_factory=BuiltInCurator)
    brought: tuple[str, ...] | None = None

    def all(self, do: Doing) -> None:
        """The order of a night. Whoever runs it again goes the same way."""
        for place in range(do("begin", self.begin)):
            do("light", partial(self.light, place))
        for place in range(do("think", self.think)):
            do("put", partial(self.put, place))
        do("end", self.end)

    def begin(self) -> int:
        """Bring in what is new and write down which sessions are read. How many they are."""
        dream, rooms = self._dream(), self.rooms
        if dream.status is Status.PENDING:
            asked = rooms.records.asked(rooms.scope, dream.id)
            brought = self.brought
            if brought is None:
                brought = rooms.sessions.refresh(harness=rooms.harness(dream.shelf)).unread
            chosen = gathered(rooms, dream.shelf, asked)
            dream = replace(
                dream, status=Status.RUNNING, started_at=rooms.clock.now(), sessions=as_read(chosen.sessions),
                left=chosen.left, left_out=len(chosen.left_out), partial=asked.partial, flaws=brought,
            )  # fmt: skip
            rooms.records.chose(self.lease, dream, as_read(chosen.left_out) if dream.mode == "land" else ())
        return len(dream.sessions)

    def light(self, place: int) -> int:
        """Write down what is noticed in one session. How much that is."""
        read, found = self.rooms.records.chosen(self.rooms.scope, self.lease.dream, place)
        if found is not None:
            return found
        notes, told = noticed_in(self.rooms.sessions, read, self.rooms.ids)
        self.rooms.records.note(self.lease, place, notes, told)
        return len(notes)

    def think(self) -> int:
        """Write down what is to be done. How many matters there are up to the last that is put to review."""
        dream, rooms = self._dream(), self.rooms
        thought = rooms.records.thought(rooms.scope, dream.id)
        if thought is None:
            fresh = rooms.records.noticed(rooms.scope, dream.id)
            carried = not_noticed_yet(fresh, rooms.records.staged(rooms.scope, dream.shelf))
            target = target_of_files(rooms, dream.shelf, rooms.instructions(dream.id))
            thought = think(rooms, target, dream, fresh, carried, curator=self.curator) if dream.sessions else Thought()
            rooms.records.plan(self.lease, thought)
        return max((place for place, one in enumerate(thought.planned, 1) if one.suggestion), default=0)

    def put(self, place: int) -> int:
        """Put one matter to review, if it was not. Whether something came of it."""
        dream, rooms = self._dream(), self.rooms
        planned = self._thought(dream).planned
        if planned[place].done:
            return bool(planned[place].judged.ref)
        rooms.records.became(self.lease, place, None)
        became = None
        if self.lease.attempts > 1:
            others = [one.judged for one in planned if one.done]
            became = put_before(rooms.review.past(), planned[place], others)
        review = rooms.fenced(self.lease) if rooms.fenced else rooms.review
        became = became or put(review, planned[place], land=self.land and dream.mode == "land")
        rooms.records.became(self.lease, place, became)
        return bool(became.ref)

    def end(self) -> int:
        """Tell the night in its diary, and keep it. How many matters it was about."""
        dream, rooms = self._dream(), self.rooms
        thought = self._thought(dream)
        told = together([*rooms.records.told(rooms.scope, dream.id), thought.told])
        unread = tuple(why for why in told.dropped if why.startswith(UNREAD))
        done = replace(
            dream, status=Status.COMPLETED, ended_at=rooms.clock.now(), noticed=thought.noticed,
            carried=thought.carried, themes=thought.themes, judged=tuple(one.judged for one in thought.planned),
            consulted=consulted(rooms.records.calls(rooms.scope, dream.id)), enough=told.enough,
            duplicates=thought.duplicates, reduced=thought.reduced,
            dropped={why: times for why, times in told.dropped.items() if why not in unread},
            flaws=(*dream.flaws, *(f"{why}. The night went on without it; please report it." for why in unread)),
        )  # fmt: skip
        rooms.records.end(self.lease, replace(done, diary=diary(done)))
        return len(done.judged)

    def _dream(self) -> Dream:
        found = self.rooms.records.get(self.rooms.scope, self.lease.dream)
        if found is None:
            raise NotFound(f"There is no dream {self.lease.dream}.")
        if found.status in OVER:
            raise Stopped
        return found

    def _thought(self, dream: Dream) -> Thought:
        return self.rooms.records.thought(self.rooms.scope, dream.id) or Thought()
