"""What a dream wants of a memory store, landed: each matter a Change of its own, all of them in one transaction.

The rows of a store and its history are in one database, so either everything a dream decided is there or nothing is.
A Change carries the place of its matter in the dream's plan, and there is one for each place: done twice is done once.

A memory store gets the content of another: one Change that can be taken back, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.changes.artifact import Artifact
from reverie.changes.drafts import Drawn, new_texts
from reverie.changes.history.change import Edit, Grounds, Via
from reverie.changes.history.records import ChangeQuery
from reverie.changes.land import Landed, Landing, Outcome, Unchanged
from reverie.changes.outside_edits import OutsideEdits
from reverie.changes.proposal import Suggestion
from reverie.changes.stores.write import StoreTransaction, StoreWrites, Transact, flags_of, ignored, store_or_not_found
from reverie.core.clock import Clock
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.formats import words_left
from reverie.memory.library import writable
from reverie.memory.operation import Add, Applied, Conflicted, Operation, OverBudget, Remove, Unfit, applied, entry_hash
from reverie.memory.store import (
    LARGEST_MEMORY_BYTES,
    MOST_MEMORIES,
    Author,
    Below,
    Flag,
    PageDates,
    StoredMemory,
    WriteContext,
)
from reverie.memory.target import Held

POLICY = "the policy of dreams over stores"


@dataclass(frozen=True, slots=True)
class WantedChange:
    """One matter of a dream, by its place in the plan."""

    place: int
    suggestion: Suggestion


@dataclass(frozen=True, slots=True)
class DreamLanding:
    """`author` is the dream's own session. What a page is left without words is taken away."""

    scope: Scope
    transact: Transact
    ids: Ids
    clock: Clock
    author: Author

    def land(self, store: str, wanted: Sequence[WantedChange]) -> dict[int, Outcome]:
        flags = dict[bytes, tuple[Flag, ...]]()
        self._rehearse(store, wanted, flags)
        with self.transact(self.scope, store) as transaction:
            writable(store_or_not_found(transaction, self.scope, store))
            return {one.place: self._landed(transaction, store, one, flags) for one in wanted}

    def _rehearse(self, store: str, wanted: Sequence[WantedChange], flags: dict[bytes, tuple[Flag, ...]]) -> None:
        """Scan what the pages are going to say before the lock is taken: a long one takes a tenth of a second."""
        with self.transact(self.scope, store) as transaction:
            paths = dict.fromkeys(one.suggestion.subject for one in wanted)
            pages = {path: transaction.target(WriteContext(self.author)).read(path) for path in paths}
        for one in wanted:
            path = one.suggestion.subject
            after = page_after(pages[path], one.suggestion.operations)
            if isinstance(after, bytes):
                pages[path] = after
                flags[after] = flags_of(after.decode())

    def _landed(
        self, transaction: StoreTransaction, store: str, one: WantedChange, flags: dict[bytes, tuple[Flag, ...]]
    ) -> Outcome:
        wanted, name = one.suggestion, f"{one.suggestion.dream}:{one.place}"
        if before := transaction.history.find(self.scope, ChangeQuery(proposal=name, limit=1)):
            return Landed(before[0])
        page = transaction.stores.at(self.scope, store, wanted.subject)
        if page is None and (why := self._no_room(transaction, store, wanted.subject)):
            return Conflicted(None, why)
        after = page_after(page.content if page else None, wanted.operations)
        told = flags.get(after) if isinstance(after, bytes) else ()
        if told is None:
            told = flags_of(after.decode() if isinstance(after, bytes) else "")
        grounds = self._grounds(wanted, name)
        dates = dated(page.age if page else None, grounds, wanted.operations, self.clock.now())
        written = WriteContext(self.author, told, dates={wanted.subject: dates})
        artifact = Artifact(transaction.target(written), wanted.subject, lambda: [wanted.subject], "whole")
        outside = OutsideEdits(self.scope, transaction.history, self.ids, self.clock, ignored, editors=False)
        landing = Landing(self.scope, transaction.history, outside, self.ids, self.clock, ignored)
        outcome = landing.write(PageOperations(artifact, wanted.operations), grounds)
        if isinstance(outcome, Landed):
            transaction.tie(outcome.change)
        return outcome

    def _no_room(self, transaction: StoreTransaction, store: str, path: str) -> str:
        if taken := transaction.stores.in_the_way(self.scope, store, path, None):
            return f"{taken.path} is in the way"
        held = store_or_not_found(transaction, self.scope, store).held
        return f"the store holds {held:,} memories, and no more fit in" if held >= MOST_MEMORIES else ""

    def _grounds(self, wanted: Suggestion, name: str) -> Grounds:
        grounds = Grounds("dream", Via.PROPOSAL, wanted.reason, wanted.origin, wanted.evidence, name, wanted.dream)
        return replace(grounds, approved_by="policy", policy=POLICY)


def dated(before: PageDates | None, grounds: Grounds, operations: Sequence[Operation], now: datetime) -> PageDates:
    """How old the statements of a page are that a dream writes to: each as old as the words it rests on, where these
    are known."""
    before = before or PageDates(now, now)
    gone = {one.old_sha256 for one in operations if not isinstance(one, Add)}
    left = {name: at for name, at in before.said.items() if name not in gone}
    at = grounds.said_at or now
    if grounds.tidies:
        at = max((before.said[name] for name in gone & before.said.keys()), default=before.since or before.seen)
    new = {entry_hash(one.text): at for one in operations if not isinstance(one, Remove)}
    return PageDates(before.since, before.seen, left | new)


@dataclass(frozen=True, slots=True)
class PageOperations:
    """Operations on the statements of a page, which to history is one statement: a memory."""

    artifact: Artifact
    operations: tuple[Operation, ...]

    def drawn(self, held: Held) -> Drawn | Conflicted | OverBudget | Unfit:
        path = self.artifact.subject
        before = held.read(path)
        after = page_after(before, self.operations)
        if after is not None and not isinstance(after, bytes):
            return after
        edits = (Edit(path, before, after),) if after != before else ()
        return Drawn(edits, (), new_texts(self.operations))


def page_after(before: bytes | None, operations: Sequence[Operation]) -> bytes | Conflicted | OverBudget | Unfit | None:
    """The page as it would read; None where nothing but headings would be left."""
    outcome = applied(before or b"", "page", operations)
    if not isinstance(outcome, Applied):
        return outcome
    if len(outcome.after) > max(LARGEST_MEMORY_BYTES, len(before or b"")):
        return OverBudget(len(outcome.after), LARGEST_MEMORY_BYTES)
    return words_left(outcome.after)


AT_ONCE = 500
_ALL = Below("/", 0)


@dataclass(frozen=True, slots=True)
class Swap:
    """`written` is how many versions `store` had when `output` was made from it; `dream` made it."""

    store: str
    output: str
    written: int
    dream: str

    @property
    def name(self) -> str:
        return f"{self.dream}:accepted"


def swap(storing: StoreWrites, wanted: Swap) -> Outcome:
    """Conflicted, if anyone has written to the store since. Twice is once."""
    scope = storing.stores.scope_of(wanted.store)
    with storing.transact(scope, wanted.store) as transaction:
        if done := next(iter(transaction.history.find(scope, ChangeQuery(proposal=wanted.name, limit=1))), None):
            return Landed(done)
        store = writable(store_or_not_found(transaction, scope, wanted.store))
        if store.written != wanted.written:
            return Conflicted(
                None, f"{store.id} was written to since the dream began ({store.written - wanted.written} versions)"
            )
        edits, written = _edits(transaction, scope, wanted, storing.author)
        if not edits:
            return Unchanged("the output says what the input says")
        grounds = replace(
            storing.grounds(scope, ()),
            reason=f"accepts what {wanted.dream} made of it",
            dream=wanted.dream,
            proposal=wanted.name,
        )
        return storing.write(transaction, scope, written, edits, grounds)


def _edits(
    transaction: StoreTransaction, scope: Scope, wanted: Swap, author: Author
) -> tuple[tuple[Edit, ...], WriteContext]:
    """The edits, removals first, so that nothing is in the way of what comes. What comes is as old as in the output."""
    old = {one.path: one for one in _memories(transaction, scope, wanted.store)}
    new = {one.path: one for one in _memories(transaction, scope, wanted.output)}
    gone = [Edit(path, old[path].content, None) for path in sorted(old.keys() - new.keys())]
    came = [
        Edit(path, old[path].content if path in old else None, one.content)
        for path, one in new.items()
        if path not in old or old[path].sha256 != one.sha256
    ]
    flags, dates = {path: one.flags for path, one in new.items()}, {path: one.age for path, one in new.items()}
    return (*gone, *came), WriteContext(author, each=flags, dates=dates)


def _memories(transaction: StoreTransaction, scope: Scope, store: str) -> Iterator[StoredMemory]:
    after: str | None = None
    while found := transaction.stores.memories(scope, store, _ALL, after, limit=AT_ONCE, full=True):
        yield from (one for one in found if isinstance(one, StoredMemory))
        after = found[-1].path
