"""What the server needs of a Home, and who is woken when a session has news."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock

from reverie.app import Home
from reverie.core.keys import Keyring
from reverie.server.call_limits import CallLimits, Sharing
from reverie.server.periodic import every

DAY_SECONDS = 24 * 3600


class Wakeups:
    """Wakes who waits for news of a session when this process writes some. What another wrote is found by looking."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: defaultdict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = defaultdict(set)

    def wake(self, name: str) -> None:
        """From any thread."""
        with self._lock:
            for loop, event in self._waiting.get(name, ()):
                loop.call_soon_threadsafe(event.set)

    def anyone(self) -> bool:
        """Whether anyone waits."""
        with self._lock:
            return bool(self._waiting)

    @contextmanager
    def waiting_for(self, name: str) -> Iterator[asyncio.Event]:
        waiting = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting[name].add(waiting)
        try:
            yield waiting[1]
        finally:
            with self._lock:
                self._waiting[name].discard(waiting)
                if not self._waiting[name]:
                    del self._waiting[name]


@dataclass(frozen=True, slots=True)
class House:
    """`wakeups` tell this process when a session has news."""

    home: Home
    wakeups: Wakeups = field(default_factory=Wakeups)

    @property
    def keys(self) -> Keyring:
        return self.home.keys

    @contextmanager
    def working(self, at_once: int = 2) -> Iterator[None]:
        """While this lasts, dreams are done here. What an earlier process left is taken up first."""
        worker = self.home.queue.server_worker(self.wakeups.wake, at_once)
        worker.start()
        try:
            yield
        finally:
            worker.stop()

    def sharing(self, limits: CallLimits) -> AbstractContextManager[None]:
        """While this lasts, the limits hold for all servers on this database together."""
        return Sharing(limits, lambda workspace, calls: self.home.tenants.keys(workspace).called(calls)).going_on()

    def expiring(self) -> AbstractContextManager[None]:
        """While this lasts, transcripts older than their workspace keeps them are erased, once a day. Who starts a
        second server on the database finds nothing left to do."""
        erase = self.home.erase
        work = erase.expire if self.home.config.values["retention"].text else lambda: None
        return every(DAY_SECONDS, work, "reverie-retention", "what is older than `retention` allows was not erased")

    def look(self) -> None:
        """Raises if the database does not answer."""
        self.keys.any()
