"""Files that are complete-old or complete-new, and locks that others honour."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.kernel.errors import NotPermitted

NEW_FILE_MODE = 0o600


def replace_file(path: Path, content: bytes) -> None:
    """Write beside, sync, move over, sync the folder. The mode of what was there is kept."""
    mode = _mode(path)
    handle, beside = tempfile.mkstemp(prefix=".reverie-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _mode(path: Path) -> int:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return NEW_FILE_MODE
    if not stat.S_ISREG(found.st_mode):
        raise NotPermitted(
            f"{path} is not a regular file.", expected="a file of its own", next_step="A link is not followed."
        )
    return stat.S_IMODE(found.st_mode)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def flocked(path: Path) -> Iterator[None]:
    """Hold an exclusive `flock` on a lock file, as Hermes does for its memory. Waits for whoever has it."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, NEW_FILE_MODE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # closing releases the lock
