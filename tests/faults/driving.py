"""Runs a driver in a process of its own and counts what it found."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run_python
from tests.faults.tallying import Tally

MEMORY_DISK = Path("/dev/shm")


@contextmanager
def quick_folder() -> Iterator[Path]:
    """In memory where that is possible: who is killed cannot tell the difference, and syncing costs nothing."""
    where = MEMORY_DISK if os.access(MEMORY_DISK, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="rv-", dir=where))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def driven(tally: Tally, driver: str, *words: object) -> dict[str, Any]:
    """`words` follow the folder the driver works in."""
    with quick_folder() as folder:
        done = run_python(["-m", f"tests.faults.{driver}", str(folder), *map(str, words)])
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] | None = json.loads(done.stdout)
    if found is None:
        pytest.skip("strace is not here, or may not trace")
    tally.points += found["points"]
    tally.add(found["problems"])
    return found
