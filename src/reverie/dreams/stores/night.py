"""One dream over a store, from wherever it stands to its end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from reverie.dreams.curators import Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.dream import Dream, Status
from reverie.dreams.records import OVER, Lease, Stopped
from reverie.dreams.runner import MOST_ATTEMPTS, PASSING
from reverie.dreams.steps import Doing, plainly
from reverie.dreams.stores.dream import MODEL_UNAVAILABLE, Ended, Failure, StoreDream
from reverie.dreams.stores.steps import StoreRooms, StoreSteps
from reverie.kernel.errors import BadInput, BadSetting, NotFound
from reverie.models.choice import BUILT_IN

BROKEN_OFF = Failure("internal_error", f"The dream was broken off {MOST_ATTEMPTS} times.")


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
        self._run(dream, do)
        return self.get(dream)

    def _run(self, dream: str, do: Doing) -> None:
        records, scope = self.rooms.records, self.rooms.scope
        found, made = self.get(dream), records.one(scope, dream)
        if made is None or found.status in OVER:
            return
        lease = records.hold(scope, found)
        if lease.attempts > MOST_ATTEMPTS:
            self._failed(made, BROKEN_OFF)
            return
        try:
            StoreSteps(self.rooms, lease, made, self._curator(lease, made)).all(do)
        except Stopped:
            return
        except PASSING:
            with suppress(*PASSING):
                records.release(lease)
            raise
        except Ended as error:
            self._failed(made, error.failure)
        except Exception as error:
            self._failed(made, Failure("internal_error", f"The dream failed ({type(error).__name__})."))
            raise

    def _curator(self, lease: Lease, made: StoreDream) -> Curator:
        """Who decides, before anything is begun: a model that cannot be asked is a setting for the operator to fix."""
        try:
            return BuiltInCurator() if made.model == BUILT_IN else self.rooms.curator(lease)
        except BadSetting as error:
            raise Ended(MODEL_UNAVAILABLE, str(error)) from error

    def _failed(self, made: StoreDream, why: Failure) -> None:
        """What was written of the output stays, to be looked at."""
        rooms = self.rooms
        rooms.records.alter(rooms.scope, made.id, lambda one: replace(one, error=why))
        found = rooms.records.get(rooms.scope, made.id)
        if found is None:
            return
        told = (*found.flaws, f"The dream was given up: {why.message}")
        failed = replace(found, status=Status.FAILED, ended_at=rooms.clock.now(), flaws=told)
        with suppress(BadInput):  # it was canceled in the same moment
            rooms.records.stop(rooms.scope, failed, even_landing=True)
            rooms.telling(made.session).end(replace(made, error=why), why.message)
