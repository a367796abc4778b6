"""Counts for Prometheus, as plain text. No tenant, key or content is in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[tuple[str, str], list[int]] = {}
        self._seconds: Counter[tuple[str, str]] = Counter()
        self._running = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        self._running += 1  # on the event loop only
        try:
            yield
        finally:
            self._running -= 1

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, route, status] += 1
            buckets = self._times.setdefault((method, route), [0] * (len(BOUNDS) + 1))
            buckets[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[method, route] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        with self._lock:
            return "\n".join([*self._counts(), *self._histogram(), *self._gauge()]) + "\n"

    def _counts(self) -> Iterator[str]:
        yield "# TYPE reverie_http_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'reverie_http_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'

    def _histogram(self) -> Iterator[str]:
        yield "# TYPE reverie_http_request_seconds histogram"
        for (method, route), buckets in sorted(self._times.items()):
            labels, total = f'method="{method}",route="{route}"', 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += count
                yield f'reverie_http_request_seconds_bucket{{{labels},le="{bound}"}} {total}'
            yield f"reverie_http_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"reverie_http_request_seconds_count{{{labels}}} {total}"

    def _gauge(self) -> Iterator[str]:
        yield "# TYPE reverie_http_requests_running gauge"
        yield f"reverie_http_requests_running {self._running}"
