"""Who waits for news of a session is woken when this process writes some. What another wrote is found by looking."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Bells:
    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: defaultdict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = defaultdict(set)

    def ring(self, name: str) -> None:
        """From any thread."""
        with self._lock:
            for loop, bell in self._waiting.get(name, ()):
                loop.call_soon_threadsafe(bell.set)

    def anyone(self) -> bool:
        """Whether anyone waits."""
        with self._lock:
            return bool(self._waiting)

    @contextmanager
    def heard(self, name: str) -> Iterator[asyncio.Event]:
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
