"""Projecting after every change would cost more than the change: at most once a second, and at the end."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 1.0


class Throttle:
    """Calls through when the last call was long enough ago; `finish` does what is still to be done."""

    def __init__(self, project: Callable[[], object]) -> None:
        self._project = project
        self._last: float | None = None
        self._due = False

    def __call__(self) -> None:
        if self._last is not None and time.monotonic() - self._last < SECONDS:
            self._due = True
            return
        self._project()
        self._due = False
        self._last = time.monotonic()

    def finish(self) -> None:
        if self._due:
            self._project()
            self._due = False
