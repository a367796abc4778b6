"""Names we give: `<prefix>_<ULID>`. Sortable by time; two of one millisecond keep their order within a process."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

from reverie.core.clock import Clock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


class Ids:
    """Makes ids from a clock and a source of random bits, so that tests can fix both."""

    def __init__(self, clock: Clock, bits: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._bits = bits
        self._last = 0
        self._lock = threading.Lock()

    def new(self, prefix: str) -> str:
        with self._lock:
            milliseconds = int(self._clock.now().timestamp() * 1000)
            fresh = milliseconds << _RANDOM_BITS | self._bits(_RANDOM_BITS)
            same_or_back = fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS
            self._last = self._last + 1 if same_or_back and self._last else fresh
            return f"{prefix}_{_crockford(self._last)}"


def _crockford(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
