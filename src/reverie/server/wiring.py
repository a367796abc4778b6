"""What the server needs of a Home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from reverie.app import Home
from reverie.core.keys import Keyring
from reverie.server.limits.calls import CallLimits
from reverie.server.limits.shared import Sharing
from reverie.server.wakeups import Bells


@dataclass(frozen=True, slots=True)
class House:
    """`bells` ring in this process when a session has news."""

    home: Home
    bells: Bells = field(default_factory=Bells)

    @property
    def keys(self) -> Keyring:
        return self.home.keys

    @contextmanager
    def working(self, at_once: int = 2) -> Iterator[None]:
        """While this lasts, dreams are done here. What an earlier process left is taken up first."""
        worker = self.home.queue.server_worker(self.bells.ring, at_once)
        worker.start()
        try:
            yield
        finally:
            worker.stop()

    def sharing(self, limits: CallLimits) -> AbstractContextManager[None]:
        """While this lasts, the limits hold for all servers on this database together."""
        return Sharing(limits, lambda workspace, calls: self.home.tenants.keys(workspace).called(calls)).going_on()

    def look(self) -> None:
        """Raises if the database does not answer."""
        self.keys.any()
