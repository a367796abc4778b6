"""Who does the dreams of a server: some threads of its own. What a killed server left is taken up at the next start.

The rows are the queue. Of several processes of one Home the one that gets the lock works; of several machines each
takes what no other holds.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

from reverie.dreams.stores.records import Due
from reverie.kernel.errors import ReverieError, StillLocked

LOOKING_SECONDS = 2.0  # for what other processes ask for, and for what went wrong in passing
_LOG = logging.getLogger("reverie.dreams")


@dataclass(slots=True)
class StoreWorker:
    """`alone` is the lock of those who work for this Home. `at_once`: how many dreams side by side."""

    due: Callable[[], list[Due]]
    run: Callable[[Due], None]
    alone: Callable[[], AbstractContextManager[None]]
    at_once: int = 2
    _bell: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _busy: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="reverie-dreams", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._bell.set()

    def stop(self) -> None:
        """What is under way is left behind the step it is at, if the process ends before it does."""
        self._stopping.set()
        self._bell.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        with ExitStack() as held:
            while not self._stopping.is_set():
                try:
                    held.enter_context(self.alone())
                    break
                except StillLocked:
                    self._stopping.wait(LOOKING_SECONDS)
            with ThreadPoolExecutor(self.at_once, thread_name_prefix="reverie-dream") as pool:
                while not self._stopping.is_set():
                    self._hand_out(pool)
                    self._bell.wait(LOOKING_SECONDS)
                    self._bell.clear()

    def _hand_out(self, pool: ThreadPoolExecutor) -> None:
        try:
            due = self.due()
        except ReverieError as error:
            _LOG.warning("the dreams that wait could not be looked up: %s", type(error).__name__)
            return
        with self._lock:
            fresh = [one for one in due if one.dream not in self._busy][: self.at_once - len(self._busy)]
            self._busy |= {one.dream for one in fresh}
        for one in fresh:
            pool.submit(self._one, one)

    def _one(self, due: Due) -> None:
        try:
            self.run(due)
        except Exception as error:  # noqa: BLE001 — the dream's own row says what it was; the log has no words of it
            _LOG.warning("%s was not finished: %s", due.dream, type(error).__name__)
        finally:
            with self._lock:
                self._busy.discard(due.dream)
            self._bell.set()
