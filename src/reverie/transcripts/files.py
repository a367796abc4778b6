"""Files of strangers: how large one may be, how long reading it may take, and its name as it can be kept and shown.

The limits hold for the file that is read now (`limited`); what walks through it calls `check_time` as it goes on. On
Unix a name is bytes, and not every one of them is text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from reverie.core.errors import BadInput
from reverie.core.ids import sha256

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


LONGEST_NAME = 1_000  # of what a transcript says about itself
_AS_ADDRESS = "file://"


def kept_name(path: Path) -> str:
    """The path as text; one that is no text as its address, `file:///logs/%FF.jsonl`. Every path has its own."""
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        return path.absolute().as_uri()
    return name


def path_of(name: str) -> Path:
    """The path of a kept name."""
    if name.startswith(_AS_ADDRESS):
        return Path(os.fsdecode(unquote_to_bytes(name.removeprefix(_AS_ADDRESS))))
    return Path(name)


def kept_id(text: str) -> str:
    """A name that a database can hold and a person can read, and no other name's. Ids are made of file names, too."""
    text = text.replace("\0", "␀").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 30]}~{sha256(text)[:24]}"
