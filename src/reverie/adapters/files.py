"""Files that are complete-old or complete-new, and locks that others honour."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


def remove_file(path: Path) -> None:
    with suppress(FileNotFoundError):
        _regular(path.lstat().st_mode, path)
        path.unlink()
        sync_folder(path.parent)


def read_file(path: Path) -> bytes | None:
    """The bytes of a regular file, or None when there is none. A link, a pipe or a device is refused, not read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _irregular(path) from error
        raise
    with os.fdopen(handle, "rb") as file:
        _regular(os.fstat(file.fileno()).st_mode, path)
        return file.read()


class HeldFiles:
    """Files under a lock that someone else took: implements `reverie.memory.shelf.Held`."""

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        self._path_of = path_of

    def read(self, document: str) -> bytes | None:
        return read_file(self._path_of(document))

    def write(self, document: str, content: bytes | None) -> None:
        path = self._path_of(document)
        if content is None:
            remove_file(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)


def _mode(path: Path) -> int:
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return NEW_FILE_MODE
    _regular(found, path)
    return stat.S_IMODE(found)


def _regular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise _irregular(path)


def _irregular(path: Path) -> NotPermitted:
    return NotPermitted(
        f"{path} is not a regular file.", expected="a file of its own", next_step="A link is not followed."
    )


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
