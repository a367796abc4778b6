"""The steps of a dream over a store. Each can be done again after a crash: it finds what is done, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial

from reverie.dreams.choosing import noticed_in
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.diary import diary
from reverie.dreams.dream import Dream, Fate, Judged, Read, Status
from reverie.dreams.records import OVER, Lease, Planned, Stopped, Thought
from reverie.dreams.spending import consulted, together
from reverie.dreams.steps import Doing
from reverie.dreams.stores.dream import Ended, StoreDream, Usage, Withheld
from reverie.dreams.stores.pages import Page, target_of_store
from reverie.dreams.stores.records import Clone, StoreDreamRecords
from reverie.dreams.stores.telling import Telling
from reverie.dreams.stores.withholding import as_judged, cleaned
from reverie.dreams.thinking import think
from reverie.kernel.clock import Clock
from reverie.kernel.errors import NotFound
from reverie.kernel.ids import Ids
from reverie.kernel.scope import Scope
from reverie.memory.store import Store, StoredMemory
from reverie.memory.store_library import Stores
from reverie.review.dreamt import Dreamt, Wanted
from reverie.review.outcome import Landed, Outcome, Unsafe, in_words
from reverie.sessions.library import Library

LONGEST = timedelta(hours=6)
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class StoreRooms:
    """What a dream over a store works with. `sessions` are those of its person; of everyone, where it is nobody's.
    `recorded` says whether a session of the API is there; `curator` is who decides, if a model is asked for."""

    scope: Scope
    stores: Stores
    sessions: Library
    recorded: Callable[[str], bool]
    records: StoreDreamRecords
    landing: Callable[[str], Dreamt]
    telling: Callable[[str], Telling]
    clock: Clock
    ids: Ids
    curator: Callable[[Lease], Curator] = lambda _: BuiltInCurator()


@dataclass(frozen=True, slots=True)
class StoreSteps:
    """The steps of a night, over a store: it begins with a copy, and lands everything at once."""

    rooms: StoreRooms
    lease: Lease
    made: StoreDream
    curator: Curator

    def all(self, do: Doing) -> None:
        for place in range(do("begin", self.begin)):
            do("light", partial(self.light, place))
        do("think", self.think)
        do("land", self.land)
        do("end", self.end)

    @property
    def telling(self) -> Telling:
        return self.rooms.telling(self.made.session)

    def begin(self) -> int:
        """Clone the input, unless it is rewritten itself, and write down what is read. How many sessions that are."""
        dream, rooms, made = self._dream(), self.rooms, self.made
        if dream.status is Status.PENDING:
            self.telling.begin()
            read, store = tuple(self._read()), self._input()
            now = rooms.clock.now()
            dream = replace(dream, status=Status.RUNNING, started_at=now, sessions=read)
            begun = rooms.records.begin(self.lease, dream, made, None if made.in_place else self._clone(store))
            copied = "It is rewritten in place" if made.in_place else f"Copied it to {made.output}"
            withheld = f", but for {len(begun.withheld)} that look unsafe" if begun.withheld else ""
            held = f"{store.id} holds {store.held:,} memories"
            self.telling.say(f"{held}. {copied}{withheld}; {len(read)} sessions to read.")
        return len(dream.sessions)

    def _clone(self, store: Store) -> Clone:
        """What is to be withheld is looked for before the store is locked: a long page takes a tenth of a second."""
        clean = cache(cleaned)
        for one in self._memories(store.id):
            if one.flags:
                clean(one.path, one.content or b"")
        return Clone(_output(self.made, store), clean)

    def light(self, place: int) -> int:
        """Write down what is noticed in one session. How much that is."""
        self._check()
        read, found = self.rooms.records.chosen(self.rooms.scope, self.lease.dream, place)
        if found is not None:
            return found
        notes, told = noticed_in(self.rooms.sessions, read, self.rooms.ids)
        self.rooms.records.note(self.lease, place, notes, told)
        self.telling.say(f"Light: {read.session_id}, {read.turns} turns, {len(notes)} noticed.")
        return len(notes)

    def think(self) -> int:
        """Write down what is to be done. How many matters there are."""
        dream, rooms, made = self._check(), self.rooms, self.made
        thought = rooms.records.thought(rooms.scope, dream.id)
        if thought is None:
            self.telling.say("Deep and REM: what was noticed is held against what the store says.")
            fresh = rooms.records.noticed(rooms.scope, dream.id)
            pages = [_page(one) for one in self._memories(made.output)]
            target = target_of_store(dream.shelf, made.user, pages, made.instructions or "")
            thought = think(rooms, target, dream, fresh, curator=self.curator)
            unsafe = (Planned(as_judged(one, in_place=made.in_place), done=True) for one in self._withheld())
            # Each dream is over the sessions it is given: nothing is staged for another.
            thought = replace(thought, planned=(*thought.planned, *unsafe), staged=(), settled=(), extra=())
            rooms.records.plan(self.lease, thought)
        return len(thought.planned)

    def land(self) -> int:
        """Land all that is to be done, in one transaction. How many Changes that were."""
        dream, rooms = self._check(), self.rooms
        planned = self._thought(dream).planned
        wanted = [Wanted(place, one.suggestion) for place, one in enumerate(planned) if one.suggestion and not one.done]
        if wanted:
            rooms.records.became(self.lease, wanted[0].place, None)
            landed = rooms.landing(self.made.session).land(self.made.output, wanted)
            rooms.records.settled(self.lease, {place: _became(planned[place], one) for place, one in landed.items()})
        return len(wanted)

    def end(self) -> int:
        dream, rooms = self._dream(), self.rooms
        thought = self._thought(dream)
        told = together([*rooms.records.told(rooms.scope, dream.id), thought.told])
        calls = consulted(rooms.records.calls(rooms.scope, dream.id))
        done = replace(
            dream, status=Status.COMPLETED, ended_at=rooms.clock.now(), noticed=thought.noticed,
            themes=thought.themes, judged=tuple(one.judged for one in thought.planned), consulted=calls,
            enough=told.enough, duplicates=thought.duplicates, reduced=thought.reduced, dropped=told.dropped,
        )  # fmt: skip
        taken = Usage(
            sum(one.tokens_in - one.cached for one in calls), sum(one.tokens_out for one in calls),
            sum(one.cached for one in calls),
        )  # fmt: skip
        rooms.records.alter(rooms.scope, dream.id, lambda one: replace(one, usage=taken, reader=thought.curator))
        done = replace(done, diary=diary(done))
        rooms.records.end(self.lease, done)
        self.telling.end(self.made, done.diary)
        return len(done.judged)

    # ---- what it works on --------------------------------------------------------------------------------------------

    def _dream(self) -> Dream:
        found = self.rooms.records.get(self.rooms.scope, self.lease.dream)
        if found is None or found.status in OVER:
            raise Stopped
        return found

    def _thought(self, dream: Dream) -> Thought:
        return self.rooms.records.thought(self.rooms.scope, dream.id) or Thought()

    def _check(self) -> Dream:
        """The dream, as long as what it was given is there and its time is not up."""
        dream = self._dream()
        if self.rooms.clock.now() - dream.started_at > LONGEST:
            raise Ended("timeout", f"The dream took longer than {LONGEST.total_seconds() / 3600:.0f} hours.")
        self._input()
        for _ in self._read():
            continue
        return dream

    def _input(self) -> Store:
        try:
            found = self.rooms.stores.get(self.made.store)
        except NotFound:
            raise Ended("input_memory_store_unavailable", f"{self.made.store} was deleted.") from None
        if found.archived_at is not None:
            raise Ended("input_memory_store_unavailable", f"{self.made.store} was archived.")
        return found

    def _read(self) -> Iterator[Read]:
        """The sessions as they are now. One in which nothing was said yet has nothing to be read."""
        for name in self.made.sessions:
            found = self.rooms.sessions.records.known(self.rooms.sessions.scope, name)
            if found is not None and not found.removed:
                yield Read(found.user, name, found.revision, found.turns)
            elif not self.rooms.recorded(name):
                raise Ended("input_session_unavailable", f"{name} was deleted.")

    def _withheld(self) -> Sequence[Withheld]:
        """What looks unsafe in the input: kept out of the output, or left where it stands if there is no other."""
        if not self.made.in_place:
            made = self.rooms.records.one(self.rooms.scope, self.made.id)
            return made.withheld if made else ()
        found = (cleaned(one.path, one.content or b"") for one in self._memories(self.made.store) if one.flags)
        return [one.withheld for one in found if one]

    def _memories(self, store: str) -> Iterator[StoredMemory]:
        after: str | None = None
        while found := self.rooms.stores.memories(store, after=after, limit=AT_ONCE, full=True):
            yield from (one for one in found if isinstance(one, StoredMemory))
            after = found[-1].path


def _page(memory: StoredMemory) -> Page:
    """What was never rewritten may be older than its row: people bring their memories along."""
    rewritten = memory.updated_at != memory.created_at
    return Page(memory.path, memory.content or b"", memory.updated_at, memory.updated_at if rewritten else None)


def _output(made: StoreDream, store: Store) -> Store:
    return replace(
        store, id=made.output, name=store.name, metadata=dict(store.metadata), created_at=made.created_at,
        updated_at=made.created_at, held=0, written=0,
    )  # fmt: skip


def _became(one: Planned, outcome: Outcome) -> Judged:
    match outcome:
        case Landed(change):
            why = f"{in_words(outcome)} Not sure: {one.judged.why}" if one.judged.unsure else in_words(outcome)
            return replace(one.judged, fate=Fate.LANDED, why=why, ref=change.id)
        case Unsafe():
            return replace(one.judged, fate=Fate.WITHHELD, why="Withheld: the safety scan would keep it out.")
        case _:
            return replace(one.judged, fate=Fate.NOT_DONE, why=in_words(outcome))
