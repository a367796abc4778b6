"""`home.tenants.stores(scope)`: which memory stores there are and what stands in them.

What a memory says is changed in `changes.stores.write`: that lands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from reverie.core.clock import Clock, TimeSpan
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.stores.rules import (
    checked_depth,
    checked_description,
    checked_prefix,
    checked_store_name,
    merged_metadata,
)
from reverie.memory.stores.store import Below, MemoryVersion, Prefix, Store, StoredMemory, StoreRecords, VersionQuery

AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Stores:
    scope: Scope
    records: StoreRecords
    ids: Ids
    clock: Clock

    def create(self, name: str, description: str = "", metadata: Mapping[str, str] | None = None) -> Store:
        now = self.clock.now()
        made = Store(
            self.ids.new("memstore"),
            self.scope.user or "",
            checked_store_name(name),
            checked_description(description),
            merged_metadata({}, metadata or {}),
            now,
            now,
        )
        self.records.add(self.of(made), made)
        return made

    def of(self, store: Store) -> Scope:
        """The scope of whose memory it is: rows are always asked for by workspace and user."""
        return self.scope.of(store.user)

    def scope_of(self, store: str) -> Scope:
        """The same by its id. It has to be looked up only by who may touch every user's."""
        return self.scope if self.scope.user is not None else self.of(self.get(store))

    def get(self, store: str) -> Store:
        found = self.records.store(self.scope, store)
        if found is None:
            raise _no_store(store)
        return found

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
        if changed is None:
            raise _no_store(store)
        return changed

    # ---- what stands in them -----------------------------------------------------------------------------------------

    def memory(self, store: str, memory: str, *, full: bool = True) -> StoredMemory:
        found = self.records.memory(self.of(self.get(store)), store, memory, full=full)
        if found is None:
            raise NotFound(f"There is no memory {memory} in {store}.")
        return found

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
        if found is None:
            raise NotFound(f"There is no version {version} in {store}.")
        return found

    def versions(
        self, store: str, chosen: VersionQuery, *, after: int | None = None, limit: int = 20, full: bool = False
    ) -> list[MemoryVersion]:
        return self.records.versions(self.of(self.get(store)), store, chosen, after, limit, full=full)


def writable(store: Store) -> Store:
    if store.archived_at is not None:
        raise BadInput(f"The memory store {store.id} is archived.", expected="a store that can be written")
    return store


def _no_store(store: str) -> NotFound:
    return NotFound(f"There is no memory store {store}.")
