"""Ids: the names we give, and how people type them.

`<prefix>_<ULID>` sorts by time; two of one millisecond keep their order within a process. People may type any beginning
that only one has, with or without the word in front of the underscore.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from typing import Literal

from reverie.core.clock import Clock
from reverie.core.errors import BadInput

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
            return prefix + "_" + "".join(_ALPHABET[self._last >> shift & 31] for shift in range(125, -1, -5))


IdKind = Literal["proposal", "change", "dream", "session", "entry", "candidate"]
HEADS: dict[IdKind, str] = {"proposal": "prop_", "change": "chg_", "dream": "drm_", "entry": "ent_", "session": ""}
_MOST_SHOWN = 6


def beginnings(kind: IdKind, typed: str) -> list[str]:
    """The beginnings the id that is meant may have. Ours are in capitals behind their head."""
    head = HEADS.get(kind, "")
    if not head or not typed:
        return [typed] if typed else []
    rest = typed[len(head) :] if typed.lower().startswith(head) else typed
    return [typed, f"{head}{rest.upper()}"]


def full_id(kind: IdKind, typed: str, known: Iterable[str]) -> str:
    """The one id of those known that is meant; what was typed if there is none, so that it can be told as missing."""
    wanted = beginnings(kind, typed)
    found = sorted({one for one in known if any(one.startswith(start) for start in wanted)})
    exact = [one for one in wanted if one in found]
    if exact or len(found) <= 1:
        return (exact or found or [typed])[0]
    more = f" and {len(found) - _MOST_SHOWN:,} more" if len(found) > _MOST_SHOWN else ""
    noun = {"entry": "entries"}.get(kind, f"{kind}s")
    raise BadInput(
        f"{typed!r} is the beginning of {len(found):,} {noun}: {', '.join(found[:_MOST_SHOWN])}{more}.",
        expected="as much of one of them as no other has",
    )
