"""`home.memory`: what stands in the targets now. `home.tenants.stores(scope)`: which memory stores there are and what
stands in them; what a memory says is changed in `changes.stores`: that lands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from reverie.core.clock import Clock, TimeSpan
from reverie.core.errors import BadInput, NotFound, ReverieError, required
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.store import (
    Below,
    MemoryVersion,
    Prefix,
    Store,
    StoredMemory,
    StoreRecords,
    VersionQuery,
    checked_depth,
    checked_description,
    checked_prefix,
    checked_store_name,
    merged_metadata,
)
from reverie.memory.target import Target
from reverie.memory.targets import Targets

_LOOK = "`reverie memory list` shows them."
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement in a document. Its id is ours; the file knows nothing of it.

    `since` is when its present wording came in, None if that was before Reverie first looked; `seen` is when that
    wording was first seen, so it is at least that old. `change` brought it. `said` is when the words were said that it
    rests on, where a night landed it by itself.
    """

    target: str
    document: str
    text: str
    sha256: str
    id: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: str
    said: datetime | None = None


@dataclass(frozen=True, slots=True)
class DocumentUsage:
    """The size of a document, in characters. A document that is not there yet is empty."""

    document: str
    characters: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """`touch` records what a target holds now and says what it found: reading is noticing."""

    targets: Targets
    touch: Callable[[Target], list[Entry]]

    def entries(self, target: str) -> Iterator[Entry]:
        yield from self.touch(self.target(target))

    def present(self) -> list[str]:
        """The targets that hold something."""
        return [target.name for target in self.targets.standing()]

    def default(self) -> str:
        """The target that is meant when none is named: Hermes' where there is one, else the home's own."""
        present = self.present()
        return "hermes" if "hermes" in present else "home"

    def touch_all(self) -> list[ReverieError]:
        """Look at every target, also at one whose files are gone. One that cannot be read does not keep the others from
        being looked at."""
        failed = []
        for target in self.targets.present():
            try:
                self.touch(target)
            except ReverieError as error:
                failed.append(error)
        return failed

    def entry(self, target: str, wanted: str) -> Entry:
        """The one entry meant by its id or by words that stand in no other."""
        entries = list(self.entries(target))
        found = [entry for entry in entries if entry.id == wanted] or [e for e in entries if wanted in e.text]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFound(f"No entry on {target!r} has the id or the words {wanted[:80]!r}.", next_step=_LOOK)
        shown = "; ".join(f"{entry.id} {entry.text[:40]!r}" for entry in found[:5])
        raise BadInput(f"{len(found)} entries hold {wanted[:80]!r}: {shown}.", expected="words of one only, or its id")

    def usage(self, target: str) -> list[DocumentUsage]:
        chosen = self.target(target)
        texts = ((place, (chosen.read(place.document) or b"").decode("utf-8", "replace")) for place in chosen.places())
        return [DocumentUsage(place.document, len(text), place.budget) for place, text in texts]

    def target(self, name: str) -> Target:
        return self.targets.named(name)


def budget_of(memory: Memory, path: str) -> int | None:
    """The budget of a document, in characters, by the path people call it by; None where it has none."""
    for name in memory.present():
        if path.startswith(f"{name}/"):
            places = memory.target(name).places()
            return next((one.budget for one in places if path == f"{name}/{one.document}"), None)
    return None


@dataclass(frozen=True, slots=True)
class Stores:
    scope: Scope
    records: StoreRecords
    ids: Ids
    clock: Clock

    def create(self, name: str, description: str = "", metadata: Mapping[str, str] | None = None) -> Store:
        now, told = self.clock.now(), (checked_store_name(name), checked_description(description))
        kept = merged_metadata({}, metadata or {})
        made = Store(self.ids.new("memstore"), self.scope.user or "", *told, kept, now, now)
        self.records.add(self.of(made), made)
        return made

    def of(self, store: Store) -> Scope:
        """The scope of whose memory it is: rows are always asked for by workspace and user."""
        return self.scope.of(store.user)

    def scope_of(self, store: str) -> Scope:
        """The same by its id. It has to be looked up only by who may touch every user's."""
        return self.scope if self.scope.user is not None else self.of(self.get(store))

    def get(self, store: str) -> Store:
        return required(self.records.store(self.scope, store), NotFound(f"There is no memory store {store}."))

    def find(self, made: TimeSpan, *, archived: bool = False, after: str | None = None, limit: int = 20) -> list[Store]:
        return self.records.stores(self.scope, made, archived=archived, after=after, limit=limit)

    def update(
        self, store: str, name: str | None, description: str | None, metadata: Mapping[str, str | None] | None
    ) -> Store:
        """Change all that is not None; of the metadata only the keys that are named."""

        def updated(old: Store) -> Store:
            new = replace(
                writable(old),
                name=old.name if name is None else checked_store_name(name),
                description=old.description if description is None else checked_description(description),
                metadata=merged_metadata(old.metadata, metadata or {}),
            )
            return old if new == old else replace(new, updated_at=self.clock.now())

        return self._changed(store, updated, "updated")

    def archive(self, store: str) -> Store:
        """It can be read from now on and not written. Twice is once; there is no way back."""
        now = self.clock.now()
        return self._changed(
            store, lambda old: old if old.archived_at else replace(old, archived_at=now, updated_at=now), "archived"
        )

    def delete(self, store: str) -> None:
        self.records.delete(self.of(self.get(store)), store)

    def _changed(self, store: str, change: Callable[[Store], Store], done: str) -> Store:
        changed = self.records.change(self.of(self.get(store)), store, change, done)
        return required(changed, NotFound(f"There is no memory store {store}."))

    # ---- what stands in them -----------------------------------------------------------------------------------------

    def memory(self, store: str, memory: str, *, full: bool = True) -> StoredMemory:
        found = self.records.memory(self.of(self.get(store)), store, memory, full=full)
        return required(found, NotFound(f"There is no memory {memory} in {store}."))

    def memories(
        self,
        store: str,
        prefix: str | None = None,
        depth: int | None = None,
        *,
        after: str | None = None,
        limit: int = 20,
        full: bool = False,
    ) -> list[StoredMemory | Prefix]:
        below = Below(checked_prefix(prefix), checked_depth(depth))
        return self.records.memories(self.of(self.get(store)), store, below, after, limit=limit, full=full)

    def every(self) -> Iterator[Store]:
        """All stores that are in use, newest first."""
        last: str | None = None
        while some := self.find(TimeSpan(), after=last, limit=AT_ONCE):
            yield from some
            last = some[-1].id

    def every_memory(self, limit: int) -> Iterator[tuple[Store, StoredMemory]]:
        """The memories of all stores that are in use, newest store first, up to so many memories."""
        held = ((store, memory) for store in self.every() for memory in self.all_of(store.id))
        yield from islice(held, limit)

    def all_of(self, store: str) -> Iterator[StoredMemory]:
        after: str | None = None
        while found := self.memories(store, after=after, limit=AT_ONCE, full=True):
            yield from (one for one in found if isinstance(one, StoredMemory))
            after = found[-1].path

    def version(self, store: str, version: str, *, full: bool = True) -> MemoryVersion:
        found = self.records.version(self.of(self.get(store)), store, version, full=full)
        return required(found, NotFound(f"There is no version {version} in {store}."))

    def versions(
        self, store: str, chosen: VersionQuery, *, after: int | None = None, limit: int = 20, full: bool = False
    ) -> list[MemoryVersion]:
        return self.records.versions(self.of(self.get(store)), store, chosen, after, limit, full=full)


def writable(store: Store) -> Store:
    if store.archived_at is not None:
        raise BadInput(f"The memory store {store.id} is archived.", expected="a store that can be written")
    return store
