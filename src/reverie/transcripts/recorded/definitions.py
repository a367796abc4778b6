"""`home.tenants.definitions(scope, kind)`: agents and environments, as far as sessions need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reverie.core.clock import Clock, TimeSpan
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.transcripts.recorded.records import DefinitionRecords
from reverie.transcripts.recorded.rules import VersionPassed, checked_definition_name, checked_storable, patch_metadata
from reverie.transcripts.recorded.session import Definition, Kind, Walk

_PREFIX: Mapping[Kind, str] = {"agent": "agent", "environment": "env"}


@dataclass(frozen=True, slots=True)
class Definitions:
    scope: Scope
    kind: Kind
    records: DefinitionRecords
    ids: Ids
    clock: Clock

    def create(self, told: Mapping[str, Any]) -> Definition:
        checked_definition_name(told["name"])
        now, kept = self.clock.now(), checked_storable({**told, "metadata": patch_metadata({}, told.get("metadata"))})
        made = Definition(self.ids.new(_PREFIX[self.kind]), self.scope.user or "", kept, now, now)
        self.records.add(self.scope.of(made.user), self.kind, made)
        return made

    def get(self, name: str, version: int | None = None) -> Definition:
        found = None if "\0" in name else self.records.one(self.scope, self.kind, checked_storable(name), version)
        if found is None:
            raise self._missing(name)
        return found

    def find(self, made: TimeSpan, walk: Walk, *, archived: bool = False) -> list[Definition]:
        return self.records.find(self.scope, self.kind, made, walk, archived=archived)

    def versions(self, name: str, walk: Walk) -> list[Definition]:
        return self.records.versions(self.get(name), self.scope, self.kind, walk)

    def update(self, name: str, patch: Mapping[str, Any], version: int | None = None) -> Definition:
        """Change all that is in the patch; of the metadata only the keys that are named."""

        def updated(old: Definition) -> Definition:
            if old.archived_at is not None:
                raise BadInput(f"The {self.kind} {name} is archived.", expected="one that can be changed")
            if version not in (None, old.version):
                raise VersionPassed(f"The {self.kind} is at version {old.version}, not {version}. Read it again.")
            metadata = patch_metadata(old.told["metadata"], patch.get("metadata"))
            told = checked_storable({**old.told, **patch, "metadata": metadata})
            checked_definition_name(told["name"])
            if told == old.told:
                return old
            return replace(old, told=told, version=old.version + 1, updated_at=self.clock.now())

        return self._changed(name, updated)

    def archive(self, name: str) -> Definition:
        """No new session is made from it. Twice is once; there is no way back."""
        now = self.clock.now()
        return self._changed(
            name, lambda old: old if old.archived_at else replace(old, archived_at=now, updated_at=now)
        )

    def delete(self, name: str) -> None:
        """Sessions made from it stay."""
        if not self.records.delete(self._own(name), self.kind, name):
            raise self._missing(name)

    def _changed(self, name: str, change: Callable[[Definition], Definition]) -> Definition:
        changed = self.records.change(self._own(name), self.kind, name, change)
        if changed is None:
            raise self._missing(name)
        return changed

    def _own(self, name: str) -> Scope:
        return self.scope if self.scope.user is not None else self.scope.of(self.get(name).user)

    def _missing(self, name: str) -> NotFound:
        return NotFound(f"There is no {self.kind} {name[:80]!r}.")
