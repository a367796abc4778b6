"""Files that are complete-old or complete-new, locks that others honour, and which repository a folder is in.

A folder is opened once and all is done inside it by its handle, so that a name swapped for a link meanwhile leads
nowhere else. Links, pipes and devices are refused. So is a file that has several names (hard links): replacing it
would part them silently, and writing into it would not be whole. What a write left behind when it was killed is
swept by the next write in that folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from reverie.core.errors import DiskFailed, NoSpace, NotFound, NotPermitted, NotSynced, StillLocked
from reverie.transcripts.session import project_name

NEW_FILE_MODE = 0o600
NEW_FOLDER_MODE = 0o700
STALE_SECONDS = 3600  # where no lock says whether somebody still writes
NEW_SECONDS = 5  # between making a file and locking it, or filling and moving it
PATIENCE_SECONDS = 30.0  # with who holds a lock: longer than any write takes
_BESIDE = re.compile(r"\.reverie-[0-9a-z_]+\.tmp")
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
_IRREGULAR = (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.EOPNOTSUPP)
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY)
_SOON, _LATER = 0.001, 0.02  # seconds until a lock is asked for again
_LONGEST_POINTER = 4096  # of the small files git points with
_FILE, _FOLDER = "regular file", "folder"


def replace_file(path: Path, content: bytes) -> None:
    """Write beside, sync, move over, sync the folder. Mode, owner and group of what was there are kept if we may."""
    with OpenFolder(path.parent, itself=True) as folder:
        folder.replace(path.name, content)


def remove_file(path: Path) -> None:
    with suppress(NotFound), OpenFolder(path.parent, itself=True) as folder:
        folder.remove(path.name)


def read_file(path: Path) -> bytes | None:
    """The bytes of a regular file, or None when there is none. A link, a pipe or a device is refused, not read."""
    try:
        with OpenFolder(path.parent) as folder:
            return folder.read(path.name)
    except NotFound:
        return None


def make_folder(folder: Path) -> None:
    """If it is not there: for its owner alone, and to stay, as everything above it that had to be made."""
    with explained(folder, "made", _FOLDER):
        if folder.is_dir():
            return
        make_folder(folder.parent)
        folder.mkdir(NEW_FOLDER_MODE, exist_ok=True)
    with suppress(NotPermitted):  # one may make a folder where one may not look
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    with OpenFolder(folder) as opened:
        opened.sync()


@contextmanager
def flocked(path: Path, timeout: float | None = None) -> Iterator[None]:
    """Hold an exclusive `flock` on a lock file, as Hermes does for its memory. Waits `timeout` seconds, or for ever."""
    make_folder(path.parent)
    with OpenFolder(path.parent) as folder:
        handle = folder.locked(path.name, _deadline(timeout))
        try:
            yield
        finally:
            os.close(handle)  # closing releases the lock


@contextmanager
def flocked_folder(path: Path, timeout: float | None = None) -> Iterator[None]:
    """Hold an exclusive `flock` on a folder itself. It leaves no lock file in a folder that is not ours."""
    make_folder(path)
    with OpenFolder(path, itself=True) as folder:
        _lock(folder.handle, path, _deadline(timeout))
        yield


class OpenFolder:
    """A folder held open. `itself` refuses a link in its place."""

    def __init__(self, path: Path, *, itself: bool = False) -> None:
        self.path = path
        with explained(path, "opened", _FOLDER):
            self.handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (os.O_NOFOLLOW if itself else 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)

    @property
    def identity(self) -> tuple[int, int]:
        return identity_of(os.fstat(self.handle))

    def read(self, name: str) -> bytes | None:
        path = self.path / name
        with explained(path, "read"):
            try:
                handle = os.open(name, os.O_RDONLY | _CAREFULLY, dir_fd=self.handle)
            except FileNotFoundError:
                return None
            with os.fdopen(handle, "rb") as file:
                refuse_irregular(os.fstat(handle), path)
                return file.read()

    def replace(self, name: str, content: bytes) -> None:
        beside = self.prepared(name, content)
        with explained(self.path / name, "written"), self._or_without(beside):
            os.rename(beside, name, src_dir_fd=self.handle, dst_dir_fd=self.handle)
        self.sync_change(name, "is in its place")

    def prepared(self, name: str, content: bytes) -> str:
        """The name of a file beside that holds the bytes, synced, with the mode and owner of what it is to replace."""
        with explained(self.path / name, "written"):
            self._sweep()
            old = self.replaceable(name)
            beside = f".reverie-{os.urandom(8).hex()}.tmp"
            handle = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFULLY, NEW_FILE_MODE, dir_fd=self.handle
            )
            with self._or_without(beside):
                with suppress(OSError):  # a file system without locks: then its age says when nobody writes any more
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _fill(handle, content, old)
        return beside

    @contextmanager
    def _or_without(self, beside: str) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=self.handle)
            raise

    def remove(self, name: str) -> None:
        with explained(self.path / name, "removed"):
            if self.replaceable(name) is None:
                return
            os.unlink(name, dir_fd=self.handle)
        self.sync_change(name, "is gone")

    def sync(self) -> None:
        with explained(self.path, "synced"):
            _sync_names(self.handle)

    def locked(self, name: str, deadline: float | None) -> int:
        """The handle of a lock file, locked: of the one that has this name now, not of one thrown away meanwhile."""
        path = self.path / name
        with explained(path, "locked"):
            while True:
                handle = os.open(name, os.O_RDWR | os.O_CREAT | _CAREFULLY, NEW_FILE_MODE, dir_fd=self.handle)
                try:
                    refuse_irregular(os.fstat(handle), path)
                    _lock(handle, path, deadline)
                    found = self.status_of(name)
                    if found is not None and identity_of(found) == identity_of(os.fstat(handle)):
                        return handle
                except BaseException:
                    os.close(handle)
                    raise
                os.close(handle)

    def status_of(self, name: str) -> os.stat_result | None:
        try:
            found = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        refuse_irregular(found, self.path / name)
        return found

    def replaceable(self, name: str) -> os.stat_result | None:
        """A move over a file asks nobody but its folder; someone who made the file read-only meant it."""
        found = self.status_of(name)
        if found is None:
            return None
        if found.st_nlink > 1:
            raise NotPermitted(
                f"{self.path / name} is one of {found.st_nlink} names of the same file (hard links).",
                expected="a file of its own",
                next_step="Replacing it would part them: make a copy and move it over this name.",
            )
        os.close(os.open(name, os.O_WRONLY | _CAREFULLY, dir_fd=self.handle))
        return found

    def _sweep(self) -> None:
        """What a killed write left: it holds all of a document. Not what somebody writes right now."""
        with os.scandir(self.handle) as entries:
            left = [entry.name for entry in entries if _BESIDE.fullmatch(entry.name)]
        for name in left:
            with suppress(OSError):
                found = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
                age = time.time() - found.st_mtime
                if stat.S_ISREG(found.st_mode) and (age > STALE_SECONDS or (age > NEW_SECONDS and self._is_free(name))):
                    os.unlink(name, dir_fd=self.handle)

    def _is_free(self, name: str) -> bool:
        handle = os.open(name, os.O_RDONLY | _CAREFULLY, dir_fd=self.handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

    def sync_change(self, name: str, how: str) -> None:
        try:
            _sync_names(self.handle)
        except OSError as error:
            raise NotSynced(
                f"{self.path / name} {how}, but its folder could not be synced: {error.strerror}.",
                next_step="Whether that outlives a power cut is not known: check the disk, then the file.",
            ) from error


def _fill(handle: int, content: bytes, old: os.stat_result | None) -> None:
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if old is not None:
            # Owner and group are kept where we may. Rights of a group that cannot be kept are no other group's.
            mode = stat.S_IMODE(old.st_mode)
            for owner in (old.st_uid, -1):
                with suppress(OSError):
                    os.fchown(handle, owner, old.st_gid)
                    break
            else:
                mode &= ~stat.S_IRWXG
            os.fchmod(handle, mode)
        _sync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    if sys.platform == "darwin":  # there fsync leaves the bytes in the drive's cache
        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:
                raise
    os.fsync(handle)


def _sync_names(handle: int) -> None:
    """Some file systems have no such thing as syncing a folder, and say so."""
    try:
        _sync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _lock(handle: int, path: Path, deadline: float | None) -> None:
    with explained(path, "locked"):
        if deadline is None:
            fcntl.flock(handle, fcntl.LOCK_EX)
            return
        pause = _SOON
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if time.monotonic() >= deadline:
                raise StillLocked(
                    f"{path} is locked by another program.", next_step=f"Wait for it to end; `fuser {path}` names it."
                )
            time.sleep(pause)
            pause = min(pause * 2, _LATER)


def identity_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def refuse_irregular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _irregular(path)


def _irregular(path: Path, wanted: str = _FILE) -> NotPermitted:
    return NotPermitted(
        f"{path} is a link, or no {wanted}.",
        expected=f"a {wanted} of its own",
        next_step="A link is not followed; name what it points to.",
    )


@contextmanager
def explained(path: Path, done: str, wanted: str = _FILE) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        found = f"{path} could not be {done}: {error.strerror or error}."
        if error.errno in _FULL:
            raise NoSpace(found, next_step="Nothing was changed. Make room, then try again.") from error
        if error.errno in _DENIED:
            raise NotPermitted(found, next_step="Check the owner and mode of it and of its folder.") from error
        if error.errno in _IRREGULAR:
            raise _irregular(path, wanted) from error
        if error.errno == errno.ENOENT:
            raise NotFound(found) from error
        raise DiskFailed(found, next_step="Nothing was changed. Check the disk, then try again.") from error


def repository_root(folder: str) -> str:
    """The folder that has the `.git`, of a worktree the main one's; the folder itself where there is none.

    What is not there any more is looked for above. A home folder is no project, also if it is kept in git.
    """
    path = Path(folder)
    if not path.is_absolute() or "\0" in folder:
        return folder
    for above in (path, *path.parents):
        if project_name(str(above)) is None:
            break
        try:
            if (above / ".git").is_dir():
                return str(above)
            if (above / ".git").is_file():
                return str(_main_of(above))
        except OSError:  # a folder nobody may look into, or a name too long to be one
            break
    return folder


def _main_of(worktree: Path) -> Path:
    """Where git says its main folder is. A submodule is a repository of its own, and so is what points to itself."""
    pointer = _small(worktree / ".git")
    if not pointer.startswith("gitdir:"):
        return worktree
    own = (worktree / pointer.removeprefix("gitdir:").strip()).resolve()
    if not (own / "commondir").is_file():
        return worktree
    common = (own / _small(own / "commondir")).resolve()
    listed = own.parent == common / "worktrees" and _small(own / "gitdir") == str(worktree.resolve() / ".git")
    return common.parent if listed and common.name == ".git" else worktree


def _small(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_LONGEST_POINTER).strip()
