"""How large a file may be and how long reading it may take, wherever in the reading that is noticed.

The limits hold for the file that is read now (`limited`); what walks through it calls `check_time` as it goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from reverie.core.errors import BadInput

MEGABYTE = 1_000_000
MEGABYTES = 2_000
SECONDS = 600


class FileRefused(BadInput):
    """A file that is too large, takes too long, or is of a kind that is not read from where it came."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """`databases`: whether SQLite files are read at all. Those that someone sent are not: a database can hold a query
    that never ends."""

    megabytes: int = MEGABYTES
    seconds: int = SECONDS
    databases: bool = True


@dataclass(frozen=True, slots=True)
class _Running:
    limits: FileLimits
    until: float


_running: ContextVar[_Running | None] = ContextVar("reverie_file_limits", default=None)


@contextmanager
def limited(limits: FileLimits) -> Iterator[None]:
    token = _running.set(_Running(limits, time.monotonic() + limits.seconds))
    try:
        yield
    finally:
        _running.reset(token)


def check_time() -> None:
    running = _running.get()
    if running and time.monotonic() > running.until:
        raise FileRefused(f"Reading took longer than {running.limits.seconds:,} seconds and was given up.")


def seconds_left() -> float:
    running = _running.get()
    return running.until - time.monotonic() if running else SECONDS


def check_size(size: int, limits: FileLimits) -> None:
    if size > limits.megabytes * MEGABYTE:
        raise FileRefused(
            f"It has {size / MEGABYTE:,.0f} MB; the most that is read is {limits.megabytes:,} MB.",
            next_step="`transcript_megabytes` in reverie.toml sets the limit.",
        )


def check_databases() -> None:
    running = _running.get()
    if running and not running.limits.databases:
        raise FileRefused(
            "A SQLite database was sent; those are read on the machine of their harness only.",
            next_step="Add it there with `reverie sessions add`, or send the sessions as JSON.",
        )
