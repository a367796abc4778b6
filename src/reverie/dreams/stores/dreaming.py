"""`home.tenants.dreams(scope)`: dreams over memory stores asked for, seen, canceled, archived. A worker does them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from reverie.changes.land import Landed, Unchanged, in_words
from reverie.changes.ledger import HistoryReader
from reverie.changes.stores import StoreWrites, Swap, swap
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Status
from reverie.dreams.run.steps import canceled
from reverie.dreams.stores.dream import (
    AlreadyDreamt,
    Decided,
    DreamQuery,
    MovedOn,
    PageDiff,
    StoreDream,
    StoreDreamProgress,
    StoreDreamRecords,
    StoreWish,
    diffs,
    dreaming_agent,
)
from reverie.memory.library import Stores, writable
from reverie.transcripts.library import Library
from reverie.transcripts.recorded_library import Recording

MOST_SESSIONS = 100
LONGEST_MODEL, LONGEST_INSTRUCTIONS = 256, 4_096
LANDING_SECONDS = 30.0  # that a cancel waits for a dream that is landing: it may have lost the race


@dataclass(frozen=True, slots=True)
class StoreDreaming:
    """`wake` tells the worker that there is something to do; `ready` raises where there is to be no dreaming."""

    scope: Scope
    stores: Stores
    records: StoreDreamRecords
    library: Callable[[Scope], Library]
    recording: Callable[[Scope], Recording]
    key: Callable[[Scope, str], str]
    ids: Ids
    clock: Clock
    wake: Callable[[], None]
    history: HistoryReader
    ready: Callable[[], None] = lambda: None

    def create(self, wish: StoreWish) -> StoreDream:
        _check(wish)
        self.ready()
        store = writable(self.stores.get(wish.store))
        scope = self.stores.of(store)
        for name in wish.sessions:
            self._session(scope if store.user else self.scope, name)
        now, output = self.clock.now(), store.id if wish.in_place else self.ids.new("memstore")
        own = self.recording(scope).own(dreaming_agent(wish.model), f"Dream over {store.name}"[:255])
        made = StoreDream(
            self.ids.new("drm"),
            store.user,
            store.id,
            output,
            own.id,
            tuple(sorted(wish.sessions)),
            wish.model,
            now,
            wish.speed,
            wish.instructions,
            wish.in_place,
            cloned=wish.in_place,
        )
        night = Dream(made.id, self.key(scope, output), "land", Status.PENDING, now)
        if rival := self.records.add(scope, made, night, own):
            raise AlreadyDreamt(
                f"{rival.id} rewrites {store.id} and is {rival.status}.",
                expected="one such dream at a time",
                next_step="Wait for it, or cancel it.",
            )
        self.wake()
        return made

    def _session(self, scope: Scope, name: str) -> None:
        """It is there, and it is the store's person who speaks in it. What is nobody's may learn from everyone."""
        if self._there(scope, name):
            return
        if self.scope.user is None and self._there(self.scope, name):
            raise BadInput(
                f"{name} belongs to another person than the memory store.",
                expected="sessions of the person whose memory it is",
            )
        raise NotFound(f"There is no session {name}.")

    def _there(self, scope: Scope, name: str) -> bool:
        found = self.library(scope).records.known(scope, name)
        return (found is not None and not found.removed) or self.recording(scope).records.one(scope, name) is not None

    def get(self, dream: str) -> StoreDream:
        found = self.records.one(self.scope, dream)
        if found is None:
            raise NotFound(f"There is no dream {dream}.")
        return found

    def account(self, dream: str) -> Dream:
        """The account of what it did and why, as far as it came."""
        made = self.get(dream)
        found = self.records.get(self.of(made), made.id)
        assert found is not None
        return found

    def diff(self, dream: str) -> list[PageDiff]:
        """Every page that reads otherwise than before, from the Changes it landed and what it withheld."""
        made = self.get(dream)
        landed = (self.history.get(self.of(made), ref) for ref in self.account(dream).changes)
        return diffs((change for change in landed if change is not None), made.withheld)

    def find(self, which: DreamQuery, *, after: str | None = None, limit: int = 20) -> list[StoreDream]:
        return self.records.listed(self.scope, which, after, limit)

    def of(self, made: StoreDream) -> Scope:
        return self.scope.of(made.user)

    def cancel(self, dream: str) -> StoreDream:
        """At once, as long as it has not begun to land; from then on it is over in a moment by itself."""
        made = self.get(dream)
        if made.status is Status.CANCELED:
            return made
        if made.over:
            raise BadInput(f"{dream} is {made.status}.", expected="a dream that is pending or running")
        night = self.account(dream)
        with suppress(BadInput):  # it lost the race
            canceled(self.records, self.of(made), night, self.clock.now())
            canceled_now = self.get(dream)
            StoreDreamProgress(self.recording(self.of(made)), made.session).end(canceled_now, "The dream was canceled.")
            return canceled_now
        return self._landed(dream)

    def _landed(self, dream: str) -> StoreDream:
        until = time.monotonic() + LANDING_SECONDS
        while not (found := self.get(dream)).over and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def archive(self, dream: str) -> StoreDream:
        """It is not listed any more. Twice is once; its output is not touched."""
        made = self.get(dream)
        if not made.over:
            raise BadInput(f"{dream} is {made.status}.", expected="a dream that is completed, failed or canceled")
        now = self.clock.now()
        archived = self.records.alter(
            self.of(made), dream, lambda one: one if one.archived_at else replace(one, archived_at=now)
        )
        assert archived is not None
        return archived

    # ---- what becomes of the output ----------------------------------------------------------------------------------

    def accept(self, dream: str, storing: StoreWrites) -> StoreDream:
        """The input gets the content of the output, as one Change. Twice is once."""
        made = self._undecided(dream, "accepted")
        if made.decided is not None:
            return made
        outcome = swap(storing, Swap(made.store, made.output, made.written, made.id))
        if isinstance(outcome, Landed):
            return self._decided(made, "accepted", outcome.change.id)
        if isinstance(outcome, Unchanged):
            return self._decided(made, "accepted", None)
        raise MovedOn(
            f"{dream} was not accepted: {in_words(outcome)}",
            expected="the store as it was when the dream began",
            next_step="Dream again over what it says now, or use the output as it is.",
        )

    def discard(self, dream: str) -> StoreDream:
        """The output is archived: it can be read, and is not in the way. Twice is once."""
        made = self._undecided(dream, "discarded")
        if made.decided is not None:
            return made
        self.stores.archive(made.output)
        return self._decided(made, "discarded", None)

    def _undecided(self, dream: str, wanted: Decided) -> StoreDream:
        made = self.get(dream)
        if made.in_place:
            raise BadInput(
                f"{dream} rewrote its input.",
                expected="a dream with an output of its own",
                next_step="Take its changes back one by one; `changes` names them.",
            )
        if made.decided not in (None, wanted):
            raise BadInput(f"{dream} is {made.decided} already.", expected="a dream nobody has decided about")
        done = made.status is Status.COMPLETED if wanted == "accepted" else made.over and made.cloned
        if not done:
            raise BadInput(f"{dream} is {made.status}.", expected="a dream that has an output and is over")
        return made

    def _decided(self, made: StoreDream, decided: Decided, change: str | None) -> StoreDream:
        altered = self.records.alter(self.of(made), made.id, lambda one: replace(one, decided=decided, change=change))
        assert altered is not None
        return altered


def _check(wish: StoreWish) -> None:
    if not 1 <= len(wish.sessions) <= MOST_SESSIONS or len(set(wish.sessions)) < len(wish.sessions):
        raise BadInput(
            f"session_ids: {len(wish.sessions)}, {len(set(wish.sessions))} of them different.",
            expected=f"1 to {MOST_SESSIONS}, each once",
        )
    if not 1 <= len(wish.model) <= LONGEST_MODEL:
        raise BadInput(f"model: {len(wish.model)} characters.", expected=f"1 to {LONGEST_MODEL}")
    if wish.instructions is not None and not 1 <= len(wish.instructions) <= LONGEST_INSTRUCTIONS:
        raise BadInput(f"instructions: {len(wish.instructions)} characters.", expected=f"1 to {LONGEST_INSTRUCTIONS:,}")
