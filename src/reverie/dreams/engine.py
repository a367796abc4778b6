"""The engine, as a night knows it: something that shares queued nights among workers and remembers their steps.

A night needs none: its rows say what is done, and the next start goes on from there. The rows are the queue, too: a
night that waits for a worker is one that is pending and marked so, and nothing else has to be told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reverie.dreams.dreaming import Dreaming

Nights = Callable[[str, str], Dreaming]  # of a workspace and a user


class Engine(Protocol):
    def follow(self, workspace: str, user: str, dream: str) -> None:
        """Until a night is over: done by who works for this Home, or here if nobody does."""
        ...

    def work(self, *, until_idle: bool = False) -> int:
        """Do what is queued, here, until told to stop or nothing is left. How many nights that were."""
        ...

    def stop(self) -> None:
        """From a signal or another thread: nights are left behind the step they are at."""
        ...

    def reap(self, executor: str) -> int:
        """Have others go on with what a dead worker left. How many nights that were."""
        ...

    def close(self) -> None: ...
