"""The engine, as a night knows it: something that shares queued nights among workers and remembers their steps.

A night needs none: its rows say what is done, and the next start goes on from there. The rows are the queue, too: a
night that waits for a worker is one that is pending and marked so, and nothing else has to be told. Nights over files
and dreams over memory stores wait in the same queue, and the same workers do them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from reverie.core.errors import EngineBusy, ReverieError, StillLocked
from reverie.dreams.dream import Dream
from reverie.dreams.records import Queued
from reverie.dreams.run.steps import Doing

LOOKING_SECONDS = 2.0  # for what other processes ask for, and for what went wrong in passing
_LOG = logging.getLogger("reverie.dreams")


class Nights(Protocol):
    """The nights of one target, to be done by a worker."""

    def run(self, dream: str, do: Doing, /) -> Dream: ...

    def get(self, dream: str, /) -> Dream: ...


NightsOf = Callable[[str, str, str], Nights]  # of a workspace, a user and a dream


class WaitingNights(Protocol):
    def waiting(self) -> list[Queued]:
        """The dreams that wait for a worker, or whose worker has not been heard of for too long; oldest first."""
        ...

    def unfinished(self) -> bool:
        """Whether there is anything for a worker to do, or to go on with."""
        ...


class Engine(Protocol):
    def follow(self, workspace: str, user: str, dream: str) -> None:
        """Until a night is over: done by who works for this Home, or here if nobody does."""
        ...

    def work(self, *, until_idle: bool = False) -> int:
        """Do what is queued, here, until told to stop or nothing is left. How many nights that were."""
        ...

    def wake(self) -> None:
        """Something is queued: look at once."""
        ...

    def stop(self) -> None:
        """From a signal or another thread: nights are left behind the step they are at."""
        ...

    def reap(self, executor: str) -> int:
        """Have others go on with what a dead worker left. How many nights that were."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class ServerWorker:
    """The engine in a thread of a server. It is loaded when there is something to do. Of several processes of a Home on
    SQLite the one that gets its lock works, and the others wait for that."""

    engine: Callable[[], Engine]
    queue: WaitingNights
    _bell: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _running: Engine | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="reverie-worker", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._bell.set()
        if self._running is not None:
            self._running.wake()

    def stop(self) -> None:
        """Leave what is under way behind the step it is at."""
        self._stopping.set()
        while self._thread is not None and self._thread.is_alive():
            self.wake()
            if self._running is not None:
                self._running.stop()  # again, in case it was just being launched
            self._thread.join(0.2)

    def _work(self) -> None:
        with ExitStack() as held:
            while not self._stopping.is_set():
                try:
                    if self.queue.unfinished():
                        self._running = self._running or self._loaded(held)
                        self._running.work()
                except (
                    StillLocked,
                    EngineBusy,
                ) as error:  # someone else works for this Home, or this process elsewhere
                    _LOG.debug("not working now: %s", error)
                except ReverieError as error:
                    _LOG.warning("the dreams that wait could not be looked up: %s", type(error).__name__)
                self._bell.wait(LOOKING_SECONDS)
                self._bell.clear()

    def _loaded(self, held: ExitStack) -> Engine:
        engine = self.engine()
        held.callback(engine.close)
        return engine
