"""A memory store as the target of a night: it begins with a copy, and all that is to be done lands at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from reverie.changes.land import Landed, Outcome, Unsafe, in_words
from reverie.changes.stores import DreamLanding, WantedChange
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, BadSetting, NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.dream import Dream, DreamEnded, Failure, Fate, Judged, Read, Status
from reverie.dreams.ports import DreamTarget
from reverie.dreams.records import Lease, Planned, Thought
from reverie.dreams.run.steps import Doing, dream_of, given_up, run_dream, run_inline
from reverie.dreams.stores.dream import (
    MODEL_UNAVAILABLE,
    Clone,
    StoreDream,
    StoreDreamProgress,
    StoreDreamRecords,
    Withheld,
    as_judged,
    cleaned,
)
from reverie.dreams.stores.pages import StorePage, target_of_store
from reverie.llm.settings import BUILT_IN
from reverie.memory.formats import FORMATS
from reverie.memory.library import Stores
from reverie.memory.operation import entry_hash
from reverie.memory.store import Store, StoredMemory
from reverie.transcripts.library import Library

LONGEST = timedelta(hours=6)
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class StoreRooms:
    """The parts a dream over a store works with. `sessions` are those of its person; of everyone, where it is nobody's.
    `recorded` says whether a session of the API is there; `curator` is who decides, if a model is asked for."""

    scope: Scope
    stores: Stores
    sessions: Library
    recorded: Callable[[str], bool]
    records: StoreDreamRecords
    landing: Callable[[str], DreamLanding]
    progress: Callable[[str], StoreDreamProgress]
    clock: Clock
    ids: Ids
    curator: Callable[[Lease], Curator] = lambda _: BuiltInCurator()
    critical: Callable[[], frozenset[str]] = frozenset  # the hashes of what was marked so


@dataclass(frozen=True, slots=True)
class StoreNights:
    """The dreams over the stores of one person, or over nobody's, for a worker."""

    rooms: StoreRooms

    def get(self, dream: str) -> Dream:
        return dream_of(self.rooms, dream)

    def run(self, dream: str, do: Doing = run_inline) -> Dream:
        made = self.rooms.records.one(self.rooms.scope, dream)
        return (
            run_dream(self.rooms, dream, lambda _: StoreNightTarget(self.rooms, made), do) if made else self.get(dream)
        )


@dataclass(frozen=True, slots=True)
class StoreNightTarget:
    """Implements `NightTarget`."""

    rooms: StoreRooms
    made: StoreDream
    at_once: bool = True

    @property
    def progress(self) -> StoreDreamProgress:
        return self.rooms.progress(self.made.session)

    def tell(self, text: str) -> None:
        self.progress.say(text)

    def curator(self, lease: Lease) -> Curator:
        if self.made.model == BUILT_IN:
            return BuiltInCurator()
        try:
            return self.rooms.curator(lease)
        except BadSetting as error:  # a model that cannot be asked is for the operator to fix: nothing is begun
            raise DreamEnded(MODEL_UNAVAILABLE, str(error)) from None

    def resume(self) -> None:
        """All of it lands in one transaction: nothing is ever half landed."""

    def check(self, dream: Dream) -> None:
        """Whether what it was given is there and its time is not up."""
        if self.rooms.clock.now() - dream.started_at > LONGEST:
            raise DreamEnded("timeout", f"The dream took longer than {LONGEST.total_seconds() / 3600:.0f} hours.")
        self._input()
        for _ in self._read():
            continue

    def begin(self, lease: Lease, dream: Dream) -> Dream:
        """Clone the input, unless it is rewritten itself."""
        rooms, made = self.rooms, self.made
        self.progress.begin()
        read, store = tuple(self._read()), self._input()
        dream = replace(dream, status=Status.RUNNING, started_at=rooms.clock.now(), sessions=read)
        begun = rooms.records.begin(lease, dream, made, None if made.in_place else self._clone(store))
        copied = "It is rewritten in place" if made.in_place else f"Copied it to {made.output}"
        withheld = f", but for {len(begun.withheld)} that look unsafe" if begun.withheld else ""
        held = f"{store.id} holds {store.held:,} memories"
        self.tell(f"{held}. {copied}{withheld}; {len(read)} sessions to read.")
        return dream

    def described(self, dream: Dream) -> DreamTarget:
        made = self.made
        critical = self.rooms.critical()
        pages = [_page(one, critical) for one in self._memories(made.output)]
        target = target_of_store(dream.target, made.user, pages, made.instructions or "")
        confirmed = self.rooms.records.confirmed(self.rooms.scope, dream.target.replace(made.output, made.store))
        entries = tuple(replace(one, confirmed=confirmed.get(one.text, 0)) for one in target.entries)
        target = replace(target, entries=entries)
        return replace(target, withheld=tuple(as_judged(one, in_place=made.in_place) for one in self._withheld()))

    def put(self, lease: Lease, dream: Dream, planned: Sequence[Planned], places: Sequence[int]) -> dict[int, Judged]:
        """In one transaction."""
        wanted = [WantedChange(place, one) for place in places if (one := planned[place].suggestion)]
        landed = self.rooms.landing(self.made.session).land(self.made.output, wanted)
        return {place: _became(planned[place], one) for place, one in landed.items()}

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        records = self.rooms.records
        records.alter(self.rooms.scope, dream.id, lambda one: replace(one, reader=thought.curator))
        records.end(lease, dream, thought)
        self.progress.end(self.made, dream.diary)

    def failed(self, dream: Dream, error: Exception) -> None:
        """Keep what was written of the output, to be looked at."""
        rooms, why = self.rooms, Failure("internal_error", f"The dream failed ({type(error).__name__}).")
        if isinstance(error, DreamEnded):
            why = error.failure
        rooms.records.alter(rooms.scope, dream.id, lambda one: replace(one, error=why))
        with suppress(BadInput):  # it was canceled in the same moment
            given_up(rooms, dream, why.message)
            self.progress.end(replace(self.made, error=why), why.message)

    # ---- what it works on --------------------------------------------------------------------------------------------

    def _clone(self, store: Store) -> Clone:
        """Look for what is to be withheld before the store is locked: a long page takes a tenth of a second."""
        made, clean = self.made, cache(cleaned)
        for one in self._memories(store.id):
            if one.flags:
                clean(one.path, one.content or b"")
        output = replace(
            store,
            id=made.output,
            metadata=dict(store.metadata),
            created_at=made.created_at,
            updated_at=made.created_at,
            held=0,
            written=0,
        )
        return Clone(output, clean)

    def _input(self) -> Store:
        try:
            found = self.rooms.stores.get(self.made.store)
        except NotFound:
            raise DreamEnded("input_memory_store_unavailable", f"{self.made.store} was deleted.") from None
        if found.archived_at is not None:
            raise DreamEnded("input_memory_store_unavailable", f"{self.made.store} was archived.")
        return found

    def _read(self) -> Iterator[Read]:
        """The sessions as they are now. One in which nothing was said yet has nothing to be read."""
        for name in self.made.sessions:
            found = self.rooms.sessions.records.known(self.rooms.sessions.scope, name)
            if found is not None and not found.removed:
                yield Read(found.user, name, found.revision, found.turns)
            elif not self.rooms.recorded(name):
                raise DreamEnded("input_session_unavailable", f"{name} was deleted.")

    def _withheld(self) -> Sequence[Withheld]:
        """The unsafe pages of the input: kept out of the output, or left where they stand if there is no other."""
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


def _page(memory: StoredMemory, critical: frozenset[str]) -> StorePage:
    content, age = memory.content or b"", memory.age
    marked = bool(critical) and any(entry_hash(text) in critical for text in FORMATS["whole"].read(content).entries)
    return StorePage(memory.path, content, age.seen, age.since, marked, age.said)


def _became(one: Planned, outcome: Outcome) -> Judged:
    match outcome:
        case Landed(change):
            why = f"{in_words(outcome)} Not sure: {one.judged.why}" if one.judged.unsure else in_words(outcome)
            return replace(one.judged, fate=Fate.LANDED, why=why, ref=change.id)
        case Unsafe():
            return replace(one.judged, fate=Fate.WITHHELD, why="Withheld: the safety scan would keep it out.")
        case _:
            return replace(one.judged, fate=Fate.NOT_DONE, why=in_words(outcome))
