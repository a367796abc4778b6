"""One dream over a store, from wherever it stands to its end: the steps of every night, and how it fails on the
wire."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.dream import Dream
from reverie.dreams.records import OVER, Lease
from reverie.dreams.steps import MOST_ATTEMPTS, Doing, Steps, given_up, plainly
from reverie.dreams.stores.dream import MODEL_UNAVAILABLE, Ended, Failure, StoreDream
from reverie.dreams.stores.target import StoreRooms, StoreTarget
from reverie.kernel.errors import BadInput, BadSetting, NotFound
from reverie.models.choice import BUILT_IN


@dataclass(frozen=True, slots=True)
class StoreNight:
    rooms: StoreRooms

    def get(self, dream: str) -> Dream:
        found = self.rooms.records.get(self.rooms.scope, dream)
        if found is None:
            raise NotFound(f"There is no dream {dream}.")
        return found

    def run(self, dream: str, do: Doing = plainly) -> Dream:
        """Do what is left of it. What is passing is raised, and the dream is taken up another time."""
        records, scope = self.rooms.records, self.rooms.scope
        found, made = self.get(dream), records.one(scope, dream)
        if made is None or found.status in OVER:
            return found
        error = self._run(made, records.hold(scope, found), do)
        if isinstance(error, Ended):
            self._failed(made, error.failure)
        elif error:
            self._failed(made, Failure("internal_error", f"The dream failed ({type(error).__name__})."))
            raise error
        return self.get(dream)

    def _run(self, made: StoreDream, lease: Lease, do: Doing) -> Exception | None:
        if lease.attempts > MOST_ATTEMPTS:
            return Ended("internal_error", f"The dream was broken off {MOST_ATTEMPTS} times.")
        try:
            curator = BuiltInCurator() if made.model == BUILT_IN else self.rooms.curator(lease)
        except BadSetting as error:  # a model that cannot be asked is for the operator to fix: nothing is begun
            return Ended(MODEL_UNAVAILABLE, str(error))
        return Steps(self.rooms, lease, StoreTarget(self.rooms, made), curator).run(do)

    def _failed(self, made: StoreDream, why: Failure) -> None:
        """What was written of the output stays, to be looked at."""
        rooms = self.rooms
        rooms.records.alter(rooms.scope, made.id, lambda one: replace(one, error=why))
        with suppress(BadInput, NotFound):  # it was canceled in the same moment, or is gone with its store
            given_up(rooms, self.get(made.id), why.message)
            rooms.telling(made.session).end(replace(made, error=why), why.message)
