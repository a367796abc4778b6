"""How much one key may ask for: a token bucket, a number of calls and of streams at a time, in this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from reverie.api.errors import Problem


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    running: int = 0
    watching: int = 0


@dataclass(slots=True)
class Limits:
    """`at_once` stays below the server's threads: no single key can take them all."""

    per_second: float = 300
    burst: int = 600
    at_once: int = 32
    streams: int = 100
    now: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def admitted(self, key: str) -> Iterator[None]:
        with self._lock:
            bucket = self._refilled(key)
            if bucket.running >= self.at_once:
                raise _later(0.1, f"{bucket.running} calls of this key are running.")
            if bucket.tokens < 1:
                raise _later((1 - bucket.tokens) / self.per_second, "This key calls too often.")
            bucket.tokens -= 1
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

    def _refilled(self, key: str) -> _Bucket:
        now = self.now()
        bucket = self._buckets.setdefault(key, _Bucket(self.burst, now))
        bucket.tokens = min(self.burst, bucket.tokens + (now - bucket.at) * self.per_second)
        bucket.at = now
        return bucket


def _later(seconds: float, why: str) -> Problem:
    waits = {"retry-after": str(max(1, math.ceil(seconds))), "retry-after-ms": str(max(1, math.ceil(seconds * 1000)))}
    return Problem(429, f"{why} Try again later.", headers=waits)
