"""Changes to memory stores: written by a caller (`home.tenants.writes(…)`), by a dream, or all at once.

A memory store's rows are in the database that history is in, so one transaction holds both: the memory, its version,
the Change and the ledger's row are there together or not at all, and a crash leaves nothing to finish. Of what a dream
wants each matter is a Change of its own, all of them in one transaction; it carries the place of its matter in the
dream's plan, and there is one for each place: done twice is done once. A store that gets the content of another gets it
in one Change that can be taken back, or not at all.

What the scan finds. Anthropic's API takes any text, and programs rely on that: a write that comes over the wire is
never refused for what it says. It lands with the findings on its version (`flags`) and in the reason of its Change, in
words that do not repeat the text. "Nothing unapproved is injected" binds where Reverie builds a prompt: who reads a
store into one (context, dreams) heeds the flags and scans again.

Whose words they are. A key that is bound to the person whose store it is speaks for that person: Origin `owner`. Any
other key is a program of the workspace, whoever's words it carries: Origin `member`, on which nothing lands by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reverie.changes.drafts import Artifact, Draft, Drawn, new_texts
from reverie.changes.land import Landed, Landing, Outcome, Unchanged, already_undone, undone_by
from reverie.changes.ledger import Change, ChangeQuery, Edit, Grounds, HistoryRecords, Via
from reverie.changes.outside_edits import OutsideEdits
from reverie.changes.proposal import Suggestion
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound, ReverieError, required
from reverie.core.ids import Ids, sha256
from reverie.core.scope import Origin, Scope
from reverie.memory.formats import words_left
from reverie.memory.library import Stores, writable
from reverie.memory.operation import Add, Applied, Conflicted, Operation, OverBudget, Remove, Unfit, applied, entry_hash
from reverie.memory.store import (
    LARGEST_MEMORY_BYTES,
    MOST_MEMORIES,
    Author,
    Below,
    Flag,
    MemoryVersion,
    PageDates,
    PathTaken,
    Refused,
    Store,
    StoredMemory,
    StoreRecords,
    WriteContext,
    checked_content,
    checked_path,
    checked_sha256,
    outdated,
)
from reverie.memory.target import Held, Target
from reverie.safety.scan import Report, scan

POLICY = "the policy of dreams over stores"
AT_ONCE = 500
_ALL = Below("/", 0)


class StoreTransaction(Protocol):
    """One store under its lock, and everything that is written about it in one transaction."""

    @property
    def history(self) -> HistoryRecords: ...

    @property
    def stores(self) -> StoreRecords: ...

    def target(self, context: WriteContext) -> Target: ...

    def tie(self, change: Change) -> None:
        """Note on the versions written here by which Change they came."""


Transact = Callable[[Scope, str], AbstractContextManager[StoreTransaction]]


@dataclass(frozen=True, slots=True)
class StoreWrites:
    """`author` is who writes, for the versions; the actor of the Changes is the Scope's.

    `speaks_for` is the person the writer is known to be, '' when it is a program that anyone may be behind.
    """

    stores: Stores
    transact: Transact
    ids: Ids
    clock: Clock
    author: Author
    speaks_for: str = ""

    def create(self, store: str, path: str, content: str) -> StoredMemory | Refused:
        path, raw = checked_path(path), checked_content(content)
        scope, flags = self.stores.scope_of(store), flags_of(content)
        with self.transact(scope, store) as transaction:
            there = writable(store_or_not_found(transaction, scope, store))
            if taken := transaction.stores.in_the_way(scope, store, path, None):
                return PathTaken(taken.id, taken.path)
            if there.held >= MOST_MEMORIES:
                raise BadInput(f"{store} holds {there.held:,} memories.", expected=f"at most {MOST_MEMORIES:,}")
            self._land(transaction, scope, flags, Edit(path, None, raw))
            return _at(transaction, scope, store, path)

    def update(
        self, store: str, memory: str, path: str | None = None, content: str | None = None, expected: str | None = None
    ) -> StoredMemory | Refused:
        """Rewrite, rename or both. Who asks for what is there already gets it, and no new version."""
        path = None if path is None else checked_path(path)
        raw = None if content is None else checked_content(content)
        expected = None if expected is None else checked_sha256("precondition.content_sha256", expected)
        scope, flags = self.stores.scope_of(store), None if content is None else flags_of(content)
        with self.transact(scope, store) as transaction:
            writable(store_or_not_found(transaction, scope, store))
            old = _still(transaction, scope, store, memory)
            new = (path or old.path, old.content if raw is None else raw)
            if stale := outdated(old, expected, (new[0], sha256(new[1] or b""))):
                return stale
            if new == (old.path, old.content):
                return old
            if new[0] != old.path and (taken := transaction.stores.in_the_way(scope, store, new[0], old.id)):
                return PathTaken(taken.id, taken.path)
            edits = [Edit(old.path, old.content, new[1])]
            if new[0] != old.path:
                edits = [Edit(old.path, old.content, None), Edit(new[0], None, new[1])]
            dates = {new[0]: old.age} if new[1] == old.content else None  # a new name makes nothing of it newer
            self._land(transaction, scope, old.flags if flags is None else flags, *edits, dates=dates)
            return _at(transaction, scope, store, new[0])

    def delete(self, store: str, memory: str, expected: str | None = None) -> Refused | None:
        """Its versions stay."""
        expected = None if expected is None else checked_sha256("expected_content_sha256", expected)
        scope = self.stores.scope_of(store)
        with self.transact(scope, store) as transaction:
            store_or_not_found(transaction, scope, store)
            old = _still(transaction, scope, store, memory)
            if stale := outdated(old, expected):
                return stale
            self._land(transaction, scope, (), Edit(old.path, old.content, None))
        return None

    def redact(self, store: str, version: str) -> MemoryVersion:
        """Delete the text of a version, from history too; that it was, when and by whom stays. Twice is once."""
        scope = self.stores.scope_of(store)
        with self.transact(scope, store) as transaction:
            missing = NotFound(f"There is no version {version} in {store}.")
            found = required(transaction.stores.version(scope, store, version, full=False), missing)
            if found.redacted_at is not None:
                return found
            memory = transaction.stores.memory(scope, store, found.memory, full=False)
            if memory is not None and memory.version == version:
                raise BadInput(f"{version} is what {memory.id} says now.", expected="a version that was replaced")
            now = self.clock.now()
            transaction.stores.redact(scope, found, self.author, now)
            gone = replace(found, path=None, sha256=None, size=None, flags=())
            return replace(gone, redacted_at=now, redacted_by=self.author)

    def undo(self, store: str, change: str, because: str = "") -> Outcome:
        """Take a Change of this store back, byte for byte, if nothing came after it. Twice is once. A renamed memory
        keeps its id."""
        scope = self.stores.scope_of(store)
        with self.transact(scope, store) as transaction:
            writable(store_or_not_found(transaction, scope, store))
            undone = transaction.history.get(scope, change)
            if undone is None or undone.target != transaction.target(WriteContext(self.author)).key:
                raise NotFound(f"There is no change {change} in {store}.")
            if by := undone_by(transaction.history, scope, change):
                return already_undone(change, by)
            edits = tuple(edit.opposite for edit in undone.edits)
            each = {edit.document: flags_of((edit.after or b"").decode()) for edit in edits}
            # The memories where the edits would bring something, unless it is the memory that moves there.
            moving = next((there for old in _moves(edits) if (there := transaction.stores.at(scope, store, old))), None)
            brought = [edit.document for edit in edits if edit.before is None]
            ours = moving.id if moving else None
            found = (transaction.stores.in_the_way(scope, store, path, ours) for path in brought)
            if taken := next(filter(None, found), None):
                return Conflicted(None, f"{taken.path} is in the way")
            why = because or f"takes back {change}"
            grounds = replace(self.grounds(scope, ()), via=Via.UNDO, undoes=change, reason=why, because=because)
            return self.write(transaction, scope, WriteContext(self.author, (), _moves(edits), each), edits, grounds)

    # ---- landing -----------------------------------------------------------------------------------------------------

    def grounds(self, scope: Scope, flags: tuple[Flag, ...]) -> Grounds:
        origin = Origin.OWNER if self.speaks_for and self.speaks_for == scope.user else Origin.MEMBER
        found = ", ".join(sorted({flag.category for flag in flags}))
        reason = f"written over the API; flagged: {found}" if found else "written over the API"
        return Grounds(scope.actor, Via.DIRECT, reason, origin, approved_by=scope.actor)

    def _land(
        self,
        transaction: StoreTransaction,
        scope: Scope,
        flags: tuple[Flag, ...],
        *edits: Edit,
        dates: dict[str, PageDates] | None = None,
    ) -> None:
        context = WriteContext(self.author, flags, _moves(edits), dates=dates or {})
        outcome = self.write(transaction, scope, context, edits, self.grounds(scope, flags))
        if not isinstance(outcome, Landed):
            raise ReverieError(f"{edits[-1].document} was changed by someone who did not hold the store: {outcome}.")

    def write(
        self,
        transaction: StoreTransaction,
        scope: Scope,
        context: WriteContext,
        edits: tuple[Edit, ...],
        grounds: Grounds,
    ) -> Outcome:
        documents = [edit.document for edit in edits]
        artifact = _Scanned(transaction.target(context), documents[-1], lambda: documents, "whole")
        return landed(transaction, self, scope, ExactEdits(artifact, edits), grounds)


def landed(
    transaction: StoreTransaction, by: StoreWrites | DreamLanding, scope: Scope, draft: Draft, grounds: Grounds
) -> Outcome:
    def ignored(*_: object) -> None:
        """Rows are the truth: nothing comes from outside. And a store has no git."""

    outside = OutsideEdits(scope, transaction.history, by.ids, by.clock, ignored, editors=False)
    outcome = Landing(scope, transaction.history, outside, by.ids, by.clock, ignored).write(draft, grounds)
    if isinstance(outcome, Landed):
        transaction.tie(outcome.change)
    return outcome


@dataclass(frozen=True, slots=True)
class ExactEdits:
    """Edits that are made to the bytes they were written against, or not at all: a memory is one statement."""

    artifact: Artifact
    edits: tuple[Edit, ...]

    def drawn(self, held: Held) -> Drawn | Conflicted:
        for edit in self.edits:
            if held.read(edit.document) != edit.before:
                return Conflicted(None, f"{edit.document} was changed since")
        new = {edit.document: edit.after for edit in self.edits if edit.after is not None}
        return Drawn(tuple(edit for edit in self.edits if edit.before != edit.after), (), new)


class _Scanned(Artifact):
    """Its new text was scanned before the lock was taken: a long one takes a tenth of a second."""

    def scanned(self, texts: dict[str, bytes]) -> Report:
        return Report(False, False, ())


def flags_of(content: str) -> tuple[Flag, ...]:
    found = scan(content, "memory").findings if content else ()
    return tuple(dict.fromkeys(Flag(one.category, one.severity) for one in found))


def _moves(edits: tuple[Edit, ...]) -> dict[str, str]:
    """A Change that takes one document away and brings another is a rename: one memory, one version."""
    match edits:
        case (Edit(old, _, None), Edit(new, None, _)) | (Edit(new, None, _), Edit(old, _, None)):
            return {old: new}
        case _:
            return {}


def store_or_not_found(transaction: StoreTransaction, scope: Scope, store: str) -> Store:
    return required(transaction.stores.store(scope, store), NotFound(f"There is no memory store {store}."))


def _still(transaction: StoreTransaction, scope: Scope, store: str, memory: str) -> StoredMemory:
    found = transaction.stores.memory(scope, store, memory, full=True)
    return required(found, NotFound(f"There is no memory {memory} in {store}."))


def _at(transaction: StoreTransaction, scope: Scope, store: str, path: str) -> StoredMemory:
    found = transaction.stores.at(scope, store, path)
    assert found is not None
    return found


# ---- what a dream wants, and the content of another store ------------------------------------------------------------


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
        if page is None:
            if taken := transaction.stores.in_the_way(self.scope, store, wanted.subject, None):
                return Conflicted(None, f"{taken.path} is in the way")
            held = store_or_not_found(transaction, self.scope, store).held
            if held >= MOST_MEMORIES:
                return Conflicted(None, f"the store holds {held:,} memories, and no more fit in")
        after = page_after(page.content if page else None, wanted.operations)
        told = flags.get(after) if isinstance(after, bytes) else ()
        if told is None:
            told = flags_of(after.decode() if isinstance(after, bytes) else "")
        grounds = Grounds("dream", Via.PROPOSAL, wanted.reason, wanted.origin, wanted.evidence, name, wanted.dream)
        grounds = replace(grounds, approved_by="policy", policy=POLICY)
        dates = dated(page.age if page else None, grounds, wanted.operations, self.clock.now())
        written = WriteContext(self.author, told, dates={wanted.subject: dates})
        artifact = Artifact(transaction.target(written), wanted.subject, lambda: [wanted.subject], "whole")
        draft = PageOperations(artifact, wanted.operations)
        return landed(transaction, self, self.scope, draft, grounds)


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
        # The edits, removals first, so that nothing is in the way of what comes. What comes is as old as in the
        # output.
        old = {one.path: one for one in _memories(transaction, scope, wanted.store)}
        new = {one.path: one for one in _memories(transaction, scope, wanted.output)}
        gone = [Edit(path, old[path].content, None) for path in sorted(old.keys() - new.keys())]
        came = [
            Edit(path, old[path].content if path in old else None, one.content)
            for path, one in new.items()
            if path not in old or old[path].sha256 != one.sha256
        ]
        flags, dates = {path: one.flags for path, one in new.items()}, {path: one.age for path, one in new.items()}
        edits, written = (*gone, *came), WriteContext(storing.author, each=flags, dates=dates)
        if not edits:
            return Unchanged("the output says what the input says")
        grounds = replace(
            storing.grounds(scope, ()),
            reason=f"accepts what {wanted.dream} made of it",
            dream=wanted.dream,
            proposal=wanted.name,
        )
        return storing.write(transaction, scope, written, edits, grounds)


def _memories(transaction: StoreTransaction, scope: Scope, store: str) -> Iterator[StoredMemory]:
    after: str | None = None
    while found := transaction.stores.memories(scope, store, _ALL, after, limit=AT_ONCE, full=True):
        yield from (one for one in found if isinstance(one, StoredMemory))
        after = found[-1].path
