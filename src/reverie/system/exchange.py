"""What the system can do with two names at once, and whether someone still writes to a file.

Linux exchanges two names in one step (`renameat2`), macOS too (`renameatx_np`); so does not every file system. Where it
cannot be done the caller is told, and does the nearest thing.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import sys
from collections.abc import Callable
from functools import cache

_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)  # EPERM: in some containers
_CALLS = {"linux": ("renameat2", 2, 1), "darwin": ("renameatx_np", 2, 4)}  # with the flags to exchange, and to keep


def swap_files(folder: int, one: str, other: str) -> bool:
    """Each name means what the other meant, from one moment to the next. False: it cannot be done here."""
    return _renamed(folder, one, other, exchange=True)


def move_if_free(folder: int, old: str, new: str) -> None:
    """Rename, unless the new name means something already: then FileExistsError, and nothing is changed."""
    if _renamed(folder, old, new, exchange=False):
        return
    os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(old, dir_fd=folder)


def written_elsewhere(handle: int) -> bool | None:
    """Whether anyone else has this file open to write to it; None where that cannot be found out.

    Linux grants a lease for reading only while nobody can write. It is given back at once; who would break it in
    between sends a signal that nobody minds.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False


def _renamed(folder: int, old: str, new: str, *, exchange: bool) -> bool:
    found = _call()
    if found is None:
        return False
    rename, exchanging, keeping = found
    if rename(folder, os.fsencode(old), folder, os.fsencode(new), exchanging if exchange else keeping) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), new)


@cache
def _call() -> tuple[Callable[..., int], int, int] | None:
    name, exchanging, keeping = _CALLS.get(sys.platform, ("", 0, 0))
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if function is None:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return function, exchanging, keeping
