"""`Night.dream`: a night from its beginning to its end, and one that was broken off, to its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.dreams.counsel import consulted
from reverie.dreams.dream import Dream, Mode, Status
from reverie.dreams.records import OVER, Asked, Stopped
from reverie.dreams.rooms import Rooms
from reverie.dreams.steps import Doing, Steps, plainly
from reverie.kernel.errors import BadInput, DatabaseUnusable, DiskFailed, NoSpace, NotFound, StillLocked

NIGHTS_LOOKED_BACK = 60
MOST_ATTEMPTS = 5  # a night that kills who dreams it must not do so every night
PASSING = (StillLocked, DatabaseUnusable, NoSpace, DiskFailed)  # what another day may go better


@dataclass(frozen=True, slots=True)
class Night(Rooms):
    """The rooms of a Home, and the nights in them."""

    def dream(
        self,
        shelf: str = "hermes",
        mode: Mode = "land",
        sessions: Sequence[str] | None = None,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        user: str | None = None,
    ) -> Dream:
        """One night over a shelf: lands what may land by itself, or only proposes. Nothing new is a quiet night."""
        return self.run(self.open(shelf, mode, self.asked(sessions, since, limit, user)).id)

    def asked(
        self,
        sessions: Sequence[str] | None = None,
        since: datetime | None = None,
        limit: int | None = None,
        user: str | None = None,
    ) -> Asked:
        names = None if sessions is None else tuple(sessions)
        return Asked(names, since, limit or self.recent_sessions, user=user)

    def open(self, shelf: str, mode: Mode, asked: Asked) -> Dream:
        """A night that is to come, over a shelf by the name that finds it from anywhere."""
        if mode not in ("land", "propose"):
            raise BadInput(f"There is no mode {mode!r}.", expected="land or propose")
        self.ready()
        dream = Dream(self.ids.new("drm"), self.memory.shelf(shelf).name, mode, Status.PENDING, self.clock.now())
        self.records.open(self.scope, dream, asked)
        return dream

    def get(self, dream: str) -> Dream:
        found = self.records.get(self.scope, dream)
        if found is None:
            raise NotFound(f"There is no dream {dream}.", next_step="`reverie status` shows the last ones.")
        return found

    def last_success(self) -> datetime | None:
        """When a night last came to its end, as far back as is looked."""
        done = (
            one for one in self.records.find(self.scope, limit=NIGHTS_LOOKED_BACK) if one.status is Status.COMPLETED
        )
        return next((one.ended_at for one in done), None)

    def run(self, dream: str, do: Doing = plainly, *, land: bool = True) -> Dream:
        """Do what is left of a night. What was killed is taken up where it was; what is over stays as it is."""
        found = self.get(dream)
        if found.status in OVER:
            return found
        lease = self.records.hold(self.scope, found)
        if lease.attempts > MOST_ATTEMPTS:
            return self._failed(found, f"it was broken off {MOST_ATTEMPTS} times")
        if lease.attempts > 1:
            self.finish_landing()
        self._done(Steps(self, lease, land), do)
        return self.get(dream)

    def _done(self, steps: Steps, do: Doing) -> None:
        try:
            steps.all(do)
        except Stopped:
            return
        except PASSING:  # the night is taken up again when that is over
            with suppress(*PASSING):
                self.records.release(steps.lease)
            raise
        except Exception as error:
            self._failed(self.get(steps.lease.dream), str(error) or type(error).__name__)
            raise

    def finish_landing(self) -> None:
        """What a crash left half landed. A shelf that is gone holds up nothing else."""
        with suppress(BadInput):
            self.review.recover()

    def cancel(self, dream: str) -> Dream:
        """End a night before anything of it has landed. Memory is as it was; its sessions wait for another."""
        found = self.get(dream)
        if found.status in OVER:
            return found
        return self.records.stop(self.scope, replace(found, status=Status.CANCELED, ended_at=self.clock.now()))

    def _failed(self, dream: Dream, why: str) -> Dream:
        told = (*dream.flaws, f"The night was given up: {why}")
        asked = consulted(self.records.calls(self.scope, dream.id))
        failed = replace(dream, status=Status.FAILED, ended_at=self.clock.now(), flaws=told, consulted=asked)
        return self.records.stop(self.scope, failed, even_landing=True)
