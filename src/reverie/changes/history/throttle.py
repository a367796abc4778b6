"""Projecting after every change would cost more than the change: at most once a second, and at the end."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 1.0


class Seldom:
    """Calls through when the last call was long enough ago; `finish` does what is still to be done."""

    def __init__(self, project: Callable[[], object], now: Callable[[], float] = time.monotonic) -> None:
        self._project = project
        self._now = now
        self._last: float | None = None
        self._due = False

    def __call__(self) -> None:
        if self._last is not None and self._now() - self._last < SECONDS:
            self._due = True
            return
        self._project()
        self._due = False
        self._last = self._now()

    def finish(self) -> None:
        if self._due:
            self._project()
            self._due = False
