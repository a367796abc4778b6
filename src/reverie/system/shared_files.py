"""Files that others write too, some of them without a lock: implements `reverie.memory.target.Held`.

The new bytes are written and synced beside the file. Then, under the lock of whoever owns the file and for no longer:
it is read once more, exchanged with the new one in one step, and what came out is compared with what was read. What an
editor saved in between goes back to its place, and the caller is told. Linux exchanges two names in one step
(`renameat2`), macOS too (`renameatx_np`); so does not every file system. Where it cannot be done the nearest thing is.

An editor may still hold the file that was displaced open, and write to it. So that file stays beside under a name of
its own (`.reverie-….kept`) for as long as someone can write to it, or for a day where the system cannot tell. Its name
says which document it was, the hash of the bytes it had, and the inode of the file it was exchanged for: the file with
that inode was never exchanged, only prepared. Whatever comes to stand in such a file is `Displaced`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from reverie.core.errors import NotFound, NotPermitted, ReverieError
from reverie.core.ids import sha256
from reverie.memory.target import Displaced
from reverie.system.files import OpenFolder, explained, make_folder

_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)  # EPERM: in some containers
_CALLS = {"linux": ("renameat2", 2, 1), "darwin": ("renameatx_np", 2, 4)}  # with the flags to exchange, and to keep
KEPT_SECONDS = 24 * 3600  # where it cannot be found out whether someone writes to a file
LONGEST_KEPT_SECONDS = 30 * KEPT_SECONDS  # where it is said that someone does: some file systems say so of every file
_KEPT = re.compile(r"\.reverie-(?P<of>[0-9a-f]{16})-(?P<base>[0-9a-f]{64})-(?P<inode>[0-9a-f]+)-[0-9a-f]{8}\.kept")
Alone = Callable[[str], AbstractContextManager[None]]
Locked = Callable[[], AbstractContextManager[None]]


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
    """From one moment to the next; exchanged, each name means what the other meant. False: it cannot be done here."""
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


@dataclass(frozen=True, slots=True)
class DisplacedFile:
    """A file that was displaced: its name beside the document, the hash of the bytes it had then, what it says now."""

    name: str
    base: str
    content: bytes


class HeldFiles:
    """`alone` takes the lock of the program that owns a document. What is written goes into the very folder that was
    read from, or nowhere."""

    def __init__(self, path_of: Callable[[str], Path], alone: Alone = lambda _: nullcontext()) -> None:
        self._path_of = path_of
        self._alone = alone
        self._held: set[str] = set()
        self._met: dict[Path, tuple[int, int]] = {}

    def read(self, document: str) -> bytes | None:
        path = self._path_of(document)
        try:
            with self._same(path.parent) as folder:
                return folder.read(path.name)
        except NotFound:
            return None

    def write(self, document: str, content: bytes | None, expected: bytes | None) -> bool:
        path = self._path_of(document)
        make_folder(path.parent)
        with self._same(path.parent) as folder:
            if content is None:
                return _taken_away(folder, path.name, expected, lambda: self.alone(document))
            return _put(folder, path.name, content, expected, lambda: self.alone(document))

    @contextmanager
    def alone(self, document: str) -> Iterator[None]:
        if document in self._held:
            yield
            return
        with self._alone(document):
            self._held.add(document)
            try:
                yield
            finally:
                self._held.discard(document)

    def displaced(self, document: str) -> list[Displaced]:
        return [
            Displaced(one.base, one.content, partial(self.recorded, document, one)) for one in self.with_news(document)
        ]

    def with_news(self, document: str) -> list[DisplacedFile]:
        """The kept files that say something else than when they were displaced. The others are let go, if they may."""
        path, found = self._path_of(document), list[DisplacedFile]()
        with suppress(NotFound), self._same(path.parent) as folder:
            for name in _names_of(folder, path.name):
                told, there = _KEPT.fullmatch(name), _regular(folder, name)
                if told is None or there is None:
                    continue
                with explained(folder.path / name, "read"):
                    stands = _regular(folder, path.name)
                    if there.st_ino == int(told["inode"], 16) or (stands and os.path.samestat(stands, there)):
                        # Prepared and never used; or linked, and not replaced after all.
                        os.unlink(name, dir_fd=folder.handle)
                        continue
                    content = folder.read(name) or b""
                    if sha256(content) != told["base"]:
                        found.append(DisplacedFile(name, told["base"], content))
                    else:
                        _let_go(folder, name, content)
        return found

    def recorded(self, document: str, kept: DisplacedFile) -> None:
        """It goes, or waits under another name for what may yet be written to it."""
        path = self._path_of(document)
        with self._same(path.parent) as folder, explained(path.with_name(kept.name), "removed"):
            if not _let_go(folder, kept.name, kept.content):
                _rename_kept(folder, kept.name, _kept_name(path.name, sha256(kept.content)))

    def clean_displaced(self, document: str, clean: Callable[[bytes], bytes]) -> int:
        """Take words out of the files it displaced, in their places: whoever has one open goes on writing to it."""
        path = self._path_of(document)
        try:
            with self._same(path.parent) as folder, explained(path, "cleaned"):
                return sum(_cleaned(folder, path.name, name, clean) for name in _names_of(folder, path.name))
        except NotFound:
            return 0

    @contextmanager
    def _same(self, path: Path) -> Iterator[OpenFolder]:
        with OpenFolder(path, itself=True) as folder:
            if self._met.setdefault(path, folder.identity) != folder.identity:
                raise NotPermitted(f"{path} was exchanged for another folder meanwhile.", next_step="Try again.")
            yield folder


def is_kept(name: str) -> bool:
    return _KEPT.fullmatch(name) is not None


def has_displaced_files(path: Path) -> bool:
    """Whether files are kept that this one displaced: whoever looks at it takes the lock and looks at them too."""
    try:
        with os.scandir(path.parent) as entries:
            return any(_is_of(path.name, entry.name) for entry in entries)
    except OSError:
        return False


def modified_at(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _put(folder: OpenFolder, name: str, content: bytes, expected: bytes | None, alone: Locked) -> bool:
    beside = folder.prepared(name, content)
    with explained(folder.path / name, "written"):
        inode = os.stat(beside, dir_fd=folder.handle).st_ino
        kept = _kept_name(name, sha256(expected or b""), inode)
        os.rename(beside, kept, src_dir_fd=folder.handle, dst_dir_fd=folder.handle)
        exchange = _Exchange(folder, name, kept, content, expected)
        try:
            with alone():
                done = folder.read(name) == expected and exchange.made()
        finally:
            exchange.tidy(inode)
    if done:
        folder.sync_change(name, "is in its place")
    return done


@dataclass(slots=True)
class _Exchange:
    """`kept` holds our bytes until the exchange, and what came out after it."""

    folder: OpenFolder
    name: str
    kept: str
    content: bytes
    expected: bytes | None
    shown: bool = False  # ours has stood under the name of the document, for however short a time

    def made(self) -> bool:
        if self.expected is None:
            try:
                move_if_free(self.folder.handle, self.kept, self.name)
            except FileExistsError:
                return False
            return True
        if not self._swap():
            return self._replaced_at_the_last_moment()
        try:
            out = self.folder.read(self.kept)
        except ReverieError:  # a link, or a disk that fails: all as it was
            self._swap()
            raise
        if out == self.expected:
            return True
        self._swap()  # an editor saved in between: theirs goes back to its place
        if self.folder.read(self.kept) != self.content:
            self._swap()  # and once more, over ours: the newest of all stays, the one before is kept
        return False

    def _swap(self) -> bool:
        done = _renamed(self.folder.handle, self.kept, self.name, exchange=True)
        self.shown = self.shown or done
        return done

    def _replaced_at_the_last_moment(self) -> bool:
        """Where names cannot be exchanged: a second name for the old file, one more look, and a move over it. An
        editor that writes into the old file is still noticed; one that replaces it must come before the last look."""
        handle, aside = self.folder.handle, _kept_name(self.name, sha256(self.expected or b""))
        try:
            os.link(self.name, aside, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=False)
        except OSError:  # a file system without links
            aside = ""
        if self.folder.read(aside or self.name) != self.expected:
            if aside:
                os.unlink(aside, dir_fd=handle)
            return False
        os.rename(self.kept, self.name, src_dir_fd=handle, dst_dir_fd=handle)
        if aside:
            _let_go(self.folder, aside, self.expected or b"")
        return True

    def tidy(self, inode: int) -> None:
        """Ours goes, if it was not used and nobody could have written to it; what was displaced, if nobody can."""
        with suppress(OSError, ReverieError):
            there = self.folder.status_of(self.kept)
            if there is None:
                return
            if there.st_ino != inode:
                _let_go(self.folder, self.kept, self.expected or b"")
            elif not self.shown:
                os.unlink(self.kept, dir_fd=self.folder.handle)
            elif not _let_go(self.folder, self.kept, self.content):
                _rename_kept(self.folder, self.kept, _kept_name(self.name, sha256(self.content)))


def _taken_away(folder: OpenFolder, name: str, expected: bytes | None, alone: Locked) -> bool:
    with explained(folder.path / name, "removed"):
        if folder.replaceable(name) is None:
            return expected is None
        kept = _kept_name(name, sha256(expected or b""))
        with alone():
            if folder.read(name) != expected:
                return False
            os.rename(name, kept, src_dir_fd=folder.handle, dst_dir_fd=folder.handle)
            if _or_nothing(folder, kept) != expected:
                with suppress(FileExistsError):  # someone made a new one: then what was taken stays beside it
                    move_if_free(folder.handle, kept, name)
                return False
    folder.sync_change(name, "is gone")
    with explained(folder.path / name, "removed"):
        _let_go(folder, kept, expected or b"")
    return True


def _or_nothing(folder: OpenFolder, name: str) -> bytes | None:
    try:
        return folder.read(name)
    except ReverieError:
        return None


def _kept_name(document: str, base: str, inode: int = 0) -> str:
    return f".reverie-{_mark(document)}-{base}-{inode:x}-{os.urandom(4).hex()}.kept"


def _mark(document: str) -> str:
    return sha256(document.encode("utf-8", "surrogateescape"))[:16]


def _is_of(document: str, name: str) -> bool:
    found = _KEPT.fullmatch(name)
    return found is not None and found["of"] == _mark(document)


def _names_of(folder: OpenFolder, document: str) -> list[str]:
    with explained(folder.path, "listed"), os.scandir(folder.handle) as entries:
        return sorted(entry.name for entry in entries if _is_of(document, entry.name))


def _cleaned(folder: OpenFolder, document: str, kept: str, clean: Callable[[bytes], bytes]) -> bool:
    """The name is changed first: who is killed in between leaves a file with a base that nobody knows, and cleans it
    the next time."""
    content = (_or_nothing(folder, kept) if _regular(folder, kept) else None) or b""
    new = clean(content)
    if new == content:
        return False
    name = _kept_name(document, sha256(new))
    _rename_kept(folder, kept, name)
    handle = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder.handle)
    with os.fdopen(handle, "wb") as file:
        file.write(new)
        file.truncate()
        file.flush()
        os.fsync(handle)
    _let_go(folder, name, new)
    return True


def _regular(folder: OpenFolder, name: str) -> os.stat_result | None:
    with suppress(NotPermitted):  # someone put a link or a folder under this name: it is none of ours
        return folder.status_of(name)
    return None


def _let_go(folder: OpenFolder, name: str, recorded: bytes) -> bool:
    """Remove it if it says what is recorded and nobody can write to it any more. Asked in this order: who writes and
    closes in between has written what is read then."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder.handle)
    except FileNotFoundError:
        return True
    try:
        elsewhere = written_elsewhere(handle)
        if elsewhere is not False:
            limit = LONGEST_KEPT_SECONDS if elsewhere else KEPT_SECONDS
            elsewhere = time.time() - os.fstat(handle).st_ctime < limit
    finally:
        os.close(handle)
    if elsewhere or folder.read(name) != recorded:
        return False
    os.unlink(name, dir_fd=folder.handle)
    return True


def _rename_kept(folder: OpenFolder, old: str, new: str) -> None:
    os.rename(old, new, src_dir_fd=folder.handle, dst_dir_fd=folder.handle)
