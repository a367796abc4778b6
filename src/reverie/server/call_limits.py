"""How much one key may ask for: a token bucket, and a number of calls and of streams at a time.

Whether a call is admitted is decided here, in memory. What other servers on the same database admitted is learnt a
moment later (`Sharing`) and taken out of the bucket, below zero if need be: over a second or two all of them together
admit what one would. Servers tell each other a few times a second and never while anyone waits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock

from reverie.core.scope import LOCAL
from reverie.server.errors import Problem
from reverie.server.periodic import every

SECONDS = 0.25
FORGOTTEN = 1.0  # who did not call here for so long begins anew: what others admitted meanwhile is over


@dataclass(slots=True)
class _Bucket:
    """`untold` calls were admitted here and no other server knows of them yet."""

    workspace: str
    tokens: float
    at: float
    untold: int = 0
    running: int = 0
    watching: int = 0


@dataclass(slots=True)
class CallLimits:
    """`at_once` stays below the server's threads: no single key can take them all."""

    per_second: float = 300
    burst: int = 600
    at_once: int = 32
    streams: int = 100
    now: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def admitted(self, key: str, workspace: str = LOCAL) -> Iterator[None]:
        with self._lock:
            bucket = self._refilled(key, workspace)
            if bucket.running >= self.at_once:
                raise _later(0.1, f"{bucket.running} calls of this key are running.")
            if bucket.tokens < 1:
                raise _later((1 - bucket.tokens) / self.per_second, "This key calls too often.")
            bucket.tokens -= 1
            bucket.untold += 1
            bucket.running += 1
        try:
            yield
        finally:
            with self._lock:
                bucket.running -= 1

    @contextmanager
    def watching(self, key: str) -> Iterator[None]:
        """One more stream, until it ends."""
        with self._lock:
            bucket = self._refilled(key)
            if bucket.watching >= self.streams:
                raise _later(1, f"{bucket.watching} streams of this key are open.")
            bucket.watching += 1
        try:
            yield
        finally:
            with self._lock:
                bucket.watching -= 1

    def untold(self) -> dict[str, dict[str, int]]:
        """By workspace and key, how many calls were admitted here since this was asked last."""
        told: dict[str, dict[str, int]] = {}
        with self._lock:
            for key, bucket in self._buckets.items():
                if bucket.untold:
                    told.setdefault(bucket.workspace, {})[key] = bucket.untold
                    bucket.untold = 0
        return told

    def elsewhere(self, key: str, calls: int) -> None:
        """So many were admitted by others. Nobody has to wait for more than a full bucket."""
        with self._lock:
            bucket = self._buckets[key]
            bucket.tokens = max(-self.burst, bucket.tokens - calls)

    def _refilled(self, key: str, workspace: str = LOCAL) -> _Bucket:
        now = self.now()
        bucket = self._buckets.setdefault(key, _Bucket(workspace, self.burst, now))
        bucket.tokens = min(self.burst, bucket.tokens + (now - bucket.at) * self.per_second)
        bucket.at = now
        return bucket


def _later(seconds: float, why: str) -> Problem:
    waits = {"retry-after": str(max(1, math.ceil(seconds))), "retry-after-ms": str(max(1, math.ceil(seconds * 1000)))}
    return Problem(429, f"{why} Try again later.", headers=waits)


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

    def going_on(self) -> AbstractContextManager[None]:
        """What fails to be shared holds here all the same; the others miss a quarter of a second."""
        return every(SECONDS, self.share, "reverie-limits", "what was admitted could not be shared")
