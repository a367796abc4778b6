"""Servers on one database tell each other what they admitted, a few times a second and never while anyone waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from reverie.core.errors import ReverieError
from reverie.server.limits.calls import CallLimits

SECONDS = 0.25
FORGOTTEN = 1.0  # who did not call here for so long begins anew: what others admitted meanwhile is over
_LOG = logging.getLogger("reverie.server")


@dataclass(slots=True)
class Sharing:
    """`called` adds to the counts of a workspace's keys and says what they are. A server where nobody calls asks for
    nothing. `_seen` is the count of each key and when it was looked at; what came since, less our own, is others'."""

    limits: CallLimits
    called: Callable[[str, Mapping[str, int]], dict[str, int]]
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def share(self) -> None:
        for workspace, calls in self.limits.untold().items():
            for key, count in self.called(workspace, calls).items():
                now, ours = self.limits.now(), calls[key]
                before, at = self._seen.get(key, (count - ours, now))
                self._seen[key] = (count, now)
                if now - at < FORGOTTEN:
                    self.limits.elsewhere(key, count - before - ours)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._work, args=(over,), name="reverie-limits", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _work(self, over: threading.Event) -> None:
        while not over.wait(SECONDS):
            try:
                self.share()
            except ReverieError as error:  # they hold here; the others miss a quarter of a second
                _LOG.warning("what was admitted could not be shared: %s", type(error).__name__)
