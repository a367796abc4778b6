"""`home.index`: keeps what is derived for search in step with the records.

Index and vectors each remember how far they have followed the order of changes, so they can be deleted, killed or
left behind at any time and catch up from there. One process at a time writes the index; whoever does not get its lock
within a moment searches what is there. Two that fill vectors at once do the same work twice, to the same end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from reverie.core.scope import Scope
from reverie.search.search import IndexedSession, IndexedTurn
from reverie.transcripts.records import Records
from reverie.transcripts.session import heard

PATIENCE_SECONDS = 1.0
SLICE_SECONDS = 1.0  # vectors are filled in slices: a question waits for one at most
TURNS_PER_COMMIT = 50_000


class Derived(Protocol):
    """Something rebuilt from the records. `cursor` is 0 when it has to start again."""

    @property
    def cursor(self) -> int: ...

    def replace(self, entry: IndexedSession) -> None: ...

    def remove(self, user: str, session_id: str) -> None: ...

    def commit(self, cursor: int) -> None: ...

    @property
    def erasures(self) -> int: ...

    def start_again(self, erasures: int) -> bool:
        """Empty, as of so many erasures. False while another process writes it."""


class LockedDerived(Derived, Protocol):
    def try_writer(self) -> bool: ...

    def close(self) -> None: ...


Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class IndexSync:
    scope: Scope
    records: Records
    index: LockedDerived
    vectors: Derived

    def before_a_search(self) -> None:
        """All the words, and a slice of the meaning: a question is never kept waiting for a long backlog."""
        self.renew()
        self.catch_up_words()
        self._follow(self.vectors, seconds=SLICE_SECONDS)

    def catch_up_words(self, watch: Watch | None = None) -> None:
        if self.behind(1) and self._locked():
            try:
                self._follow(self.index, watch=watch)
            finally:
                self.index.close()

    def catch_up(self, watch: Watch | None = None) -> None:
        """Everything. `watch` is told the number of sessions done."""
        self.renew()
        self.catch_up_words(watch)
        while self._follow(self.vectors, seconds=SLICE_SECONDS, watch=watch):
            pass

    def renew(self) -> None:
        """Begin again where something was erased since, on whichever machine: nothing says which words those were."""
        erased = self.records.erasures(self.scope)
        for derived in (self.index, self.vectors):
            until = time.monotonic() + PATIENCE_SECONDS
            while derived.erasures != erased and not derived.start_again(erased) and time.monotonic() < until:
                time.sleep(0.05)

    def behind(self, most: int = 1000) -> int:
        """The number of sessions the index has not seen yet, up to so many."""
        return len(list(islice(self.records.changed_since(self.scope, self.index.cursor), most)))

    def _follow(self, derived: Derived, seconds: float | None = None, watch: Watch | None = None) -> bool:
        """Go through what changed, for so long at most. True if there is more to do."""
        start, uncommitted, stored = time.monotonic(), 0, None
        for done, stored in enumerate(self.records.changed_since(self.scope, derived.cursor), 1):
            head, turns = stored.head, self.records.every_turn(self.scope, stored)
            if stored.removed:
                derived.remove(stored.user, head.id)
            else:
                said = (
                    IndexedTurn(turn.number, turn.role, turn.said.name, turn.at, heard(turn.said.whole))
                    for turn in turns
                    if not turn.noise
                )
                derived.replace(IndexedSession(stored.user, head.id, head.harness, head.title, head.started_at, said))
            uncommitted += stored.turns
            if watch:
                watch(done)
            if seconds is not None and time.monotonic() - start > seconds:
                derived.commit(stored.changed)
                return True
            if uncommitted >= TURNS_PER_COMMIT:
                derived.commit(stored.changed)
                uncommitted = 0
        if stored is not None:
            derived.commit(stored.changed)
        return False

    def _locked(self) -> bool:
        """Whether the work is ours. Another process at it is usually done in a moment."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.index.try_writer():
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True
