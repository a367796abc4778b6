"""`home.dream`: a night, and what is shown of it afterwards. One night on a shelf at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reverie.dreams.choosing import choose, is_named, not_there
from reverie.dreams.dream import Dream, Mode, Status
from reverie.dreams.estimating import Estimate, estimated
from reverie.dreams.night import Night
from reverie.dreams.records import Asked
from reverie.dreams.steps import Doing, plainly
from reverie.dreams.views import NIGHTS_SHOWN, views
from reverie.history.records import Looking
from reverie.kernel.errors import BadInput, StillLocked
from reverie.sessions.as_if_refreshed import as_if_refreshed

NIGHTS_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Due:
    """What calls for a night: that none was since then, or that so many sessions are new; either, where both are
    given."""

    at: datetime | None = None
    sessions: int = 0


class Shown(Protocol):
    """Where the views of a shelf's nights are written, and the lock of a night."""

    def alone(self) -> AbstractContextManager[None]: ...

    def write(self, files: Mapping[str, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class Dreaming:
    night: Night
    changes: Looking
    shown: Callable[[str], Shown]

    def __call__(
        self, shelf: str = "hermes", mode: Mode = "land", sessions: Sequence[str] | None = None,
        *, since: datetime | None = None, limit: int | None = None, user: str | None = None,
    ) -> Dream:  # fmt: skip
        """One night over a shelf, after the one that was broken off. Nothing new is a quiet night."""
        shown, asked = self.shown(shelf), self._asked(sessions, since, limit, user)
        with shown.alone():
            return self._dream(shelf, mode, asked)

    def if_due(self, due: Due, shelf: str = "hermes", mode: Mode = "land") -> Dream | None:
        """A night, if one is due. None if not, or while one is under way: who looks every hour looks again."""
        with ExitStack() as held:
            try:
                held.enter_context(self.shown(shelf).alone())
            except StillLocked:
                return None
            return self._dream(shelf, mode, self.night.asked()) if self.is_due(shelf, due) else None

    def _dream(self, shelf: str, mode: Mode, asked: Asked) -> Dream:
        self._finish(shelf, land=mode == "land")
        dream = self.night.run(self.night.open(shelf, mode, asked).id)
        self.show(shelf)
        return dream

    def later(
        self, shelf: str = "hermes", mode: Mode = "land", sessions: Sequence[str] | None = None,
        *, since: datetime | None = None, limit: int | None = None, user: str | None = None,
    ) -> Dream:  # fmt: skip
        """A night for a worker to do."""
        self.shown(shelf)  # a shelf there is not is refused now, not in the worker
        asked = self._asked(sessions, since, limit, user)
        return self.night.open(shelf, mode, replace(asked, queued=True))

    def _asked(
        self, sessions: Sequence[str] | None, since: datetime | None, limit: int | None, user: str | None
    ) -> Asked:
        """Raises where who or what is named is not there, even after what is new was brought in."""
        asked, library = self.night.asked(sessions, since, limit, user), self.night.sessions
        if not_there(library, asked):
            library.refresh()
            if missing := not_there(library, asked):
                raise missing
        return asked

    def run(self, dream: str, do: Doing = plainly) -> Dream:
        """Do what is left of one night."""
        shelf = self.night.get(dream).shelf
        with self.shown(shelf).alone():
            done = self.night.run(dream, do)
            self.show(shelf)
        return done

    def recover(self) -> list[Dream]:
        """Finish the nights that were broken off, on every shelf. Twice does nothing more."""
        finished, gone = list[Dream](), list[BadInput]()
        for dream in self.night.records.unfinished(self.night.scope):
            try:
                finished.append(self.run(dream.id))
            except BadInput as error:  # its shelf is not there now: the others do not wait for it
                gone.append(error)
        if gone:
            raise gone[0]
        return finished

    def cancel(self, dream: str) -> Dream:
        """End a night that has not begun to land. Memory is as it was; its sessions wait for another night."""
        canceled = self.night.cancel(dream)
        with suppress(BadInput):  # a night can be canceled whose shelf is gone
            self.show(canceled.shelf)
        return canceled

    def _finish(self, shelf: str, *, land: bool) -> None:
        """What was broken off, before a new one begins. Where nothing is to land now, its rest is only proposed."""
        for dream in self.night.records.unfinished(self.night.scope, shelf):
            self.night.run(dream.id, land=land)

    def is_due(self, shelf: str, due: Due) -> bool:
        """Whether no night has ended since it was due, or enough sessions are new. One that failed is not tried every
        hour: it waits for the next time."""
        nights = self.night.records.find(self.night.scope, shelf, NIGHTS_LOOKED_AT)
        ended = {one.status for one in nights if due.at and one.started_at >= due.at} & {
            Status.COMPLETED,
            Status.FAILED,
        }
        if due.at and not ended:
            return True
        return due.sessions > 0 and Status.FAILED not in ended and self.new_sessions(shelf) >= due.sessions

    def estimate(
        self, shelf: str = "hermes", sessions: Sequence[str] | None = None, since: datetime | None = None,
        limit: int | None = None, user: str | None = None,
    ) -> Estimate:  # fmt: skip
        """What a night would read, with what it would bring in first, and what models would cost. Writes nothing, asks
        nobody."""
        night = self.night
        self.shown(shelf)
        read, asked = night.records.read(night.scope, shelf), night.asked(sessions, since, limit, user)
        then = as_if_refreshed(night.sessions, asked.limit, lambda head: is_named(head.id, asked))
        if missing := not_there(then.library, asked):
            raise missing
        chosen = choose(then.library, read, asked)
        return estimated(then, shelf, chosen)

    def new_sessions(self, shelf: str) -> int:
        """How many sessions a night over this shelf would find that none has read."""
        self.night.sessions.refresh()
        read = self.night.records.read(self.night.scope, shelf)
        chosen = choose(self.night.sessions, read, self.night.asked())
        return len(chosen.sessions) + chosen.left

    def show(self, shelf: str) -> None:
        """Write the views anew from what is recorded; git, too, where the night only saw what others wrote."""
        records, scope = self.night.records, self.night.scope
        dreams = records.find(scope, shelf, NIGHTS_SHOWN)
        landed = {ref: self.changes.get(scope, ref) for dream in dreams for ref in dream.changes}
        known = {ref: change for ref, change in landed.items() if change is not None}
        self.shown(shelf).write(views(dreams, records.staged(scope, shelf), known))
        self.night.review.landing.project()
