"""A memory store gets the content of another: one Change that can be taken back, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reverie.changes.history.change import Edit
from reverie.changes.history.records import ChangeQuery
from reverie.changes.landing_result import Landed, Outcome, Unchanged
from reverie.changes.stores.write import StoreTransaction, Storing, store_or_not_found
from reverie.core.scope import Scope
from reverie.memory.operation import Conflicted
from reverie.memory.stores.library import writable
from reverie.memory.stores.store import Below, Flag, StoredMemory, WriteContext

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


def swap(storing: Storing, wanted: Swap) -> Outcome:
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
        edits, each = _edits(transaction, scope, wanted)
        if not edits:
            return Unchanged("the output says what the input says")
        grounds = replace(
            storing.grounds(scope, ()),
            reason=f"accepts what {wanted.dream} made of it",
            dream=wanted.dream,
            proposal=wanted.name,
        )
        return storing.write(transaction, scope, WriteContext(storing.author, each=each), edits, grounds)


def _edits(
    transaction: StoreTransaction, scope: Scope, wanted: Swap
) -> tuple[tuple[Edit, ...], dict[str, tuple[Flag, ...]]]:
    """The edits, removals first, so that nothing is in the way of what comes."""
    old = {one.path: one for one in _memories(transaction, scope, wanted.store)}
    new = {one.path: one for one in _memories(transaction, scope, wanted.output)}
    gone = [Edit(path, old[path].content, None) for path in sorted(old.keys() - new.keys())]
    came = [
        Edit(path, old[path].content if path in old else None, one.content)
        for path, one in new.items()
        if path not in old or old[path].sha256 != one.sha256
    ]
    return (*gone, *came), {path: one.flags for path, one in new.items()}


def _memories(transaction: StoreTransaction, scope: Scope, store: str) -> Iterator[StoredMemory]:
    after: str | None = None
    while found := transaction.stores.memories(scope, store, _ALL, after, limit=AT_ONCE, full=True):
        yield from (one for one in found if isinstance(one, StoredMemory))
        after = found[-1].path
