"""The files of a home that a backup keeps: found without following a link, and put back beside their place first."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reverie.core.errors import BadInput, DiskFailed, NoSpace, NotPermitted
from reverie.storage.backup_archive import KEPT, NAME, Member, damaged
from reverie.system.files import make_folder, replace_file, sync_folder

SETTINGS = "reverie.toml"
STAGE = ".restoring"
_OTHERS = ("index", "history", "dreaming", "engine.db")
_CAREFULLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file or folder at `path`. Without an open `file` it is a folder, or (`odd`) nothing that can be kept."""

    path: str
    file: IO[bytes] | None = None
    odd: bool = False


def files_to_back_up(home: Path) -> Iterator[FoundFile]:
    """Every file and folder. A link, a pipe or a device is named, not followed; what vanished is not missed."""
    handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in KEPT:
            yield from _below(handle, name, name)
    finally:
        os.close(handle)


def _below(parent: int, name: str, path: str) -> Iterator[FoundFile]:
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            yield FoundFile(path, odd=True)
            return
        handle = os.open(name, os.O_RDONLY | _CAREFULLY, dir_fd=parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DiskFailed(
            f"{path} could not be read: {error.strerror}.", next_step="Check its owner and mode, then try again."
        ) from error
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        try:
            yield FoundFile(path)
            for child in sorted(os.listdir(handle)):  # noqa: PTH208 - a handle, not a path
                yield from _below(handle, child, f"{path}/{child}")
        finally:
            os.close(handle)
        return
    with os.fdopen(handle, "rb") as file:
        yield FoundFile(path, file, odd=not stat.S_ISREG(os.fstat(handle).st_mode))


def data_in(home: Path) -> list[str]:
    """Name what of Reverie's is in this folder already. Settings that set nothing are nothing."""
    return [name for name in (SETTINGS, *KEPT[1:], *_OTHERS) if _holds_something(home / name)]


def _holds_something(path: Path) -> bool:
    if path.is_symlink() or not path.exists():
        return path.is_symlink()
    if path.is_dir():
        return any(path.iterdir())
    try:
        return path.name != SETTINGS or bool(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return True


def stage(home: Path, folders: tuple[str, ...]) -> Path:
    """A folder beside the places, for what will be moved there at once."""
    for folder in ("", *folders):
        make_folder(home / STAGE / folder)
    return home / STAGE


def discard_stage(home: Path) -> None:
    place = home / STAGE
    if place.is_symlink():
        raise BadInput(f"{place} is a link.", expected="no such name", next_step="Move it away. Nothing was changed.")
    if place.exists():
        shutil.rmtree(place)


def is_half_restored(home: Path) -> bool:
    """Whether something still lies beside its place. An empty folder is what a restore leaves that is done, or had not
    begun."""
    try:
        with os.scandir(home / STAGE) as left:
            return any(left)
    except FileNotFoundError:
        return False
    except OSError:  # whatever stands there is not to be built on
        return True


def put_beside(place: Path, member: Member, content: IO[bytes]) -> None:
    path = place / member.path
    make_folder(path.parent)
    try:
        mode = 0o700 if member.executable else 0o600
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFULLY, mode)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(handle)
    except FileExistsError as error:
        raise damaged(f"two of its files have one name here: {member.path!r}") from error


def point_at(place: Path, database: str | None) -> bool:
    """Let the restored settings name this database, or none. True if they had to be changed for it."""
    path = place / SETTINGS
    text = path.read_text("utf-8") if path.exists() else ""
    try:
        said = tomllib.loads(text)
    except ValueError:
        return False  # never usable; it is for its owner to mend
    if said.get("database") == database:
        return False
    wanted = {name: value for name, value in said.items() if name != "database"}
    kept_lines = [line for line in text.splitlines() if line.partition("=")[0].strip(" \t\"'") != "database"]
    text = "".join(f"{line}\n" for line in kept_lines)
    if database is not None:
        text = f"database = {_quoted(database)}\n{text}"
        wanted["database"] = database
    written = None
    with suppress(ValueError):
        written = tomllib.loads(text)
    if written != wanted:  # a value over several lines
        text = _written(wanted)
    replace_file(path, text.encode())
    return True


def _written(said: Mapping[str, object]) -> str:
    """Settings as TOML: texts and numbers, then tables of them."""
    tables = {name: value for name, value in said.items() if isinstance(value, dict)}
    plain = "".join(f"{name} = {_quoted(str(value))}\n" for name, value in said.items() if name not in tables)
    return plain + "".join(f"[{name}]\n{_written(inner)}" for name, inner in tables.items())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def sync_below(place: Path) -> None:
    for folder, _, _ in os.walk(place):
        sync_folder(Path(folder))


def move_in(home: Path) -> None:
    """From beside into place, one name after the other; a name that is done is no longer beside."""
    place = home / STAGE
    waiting = [name for name in KEPT if (place / name).exists()]
    taken = set(waiting) & set(data_in(home))
    if taken:
        raise not_empty(f"{home} has got {', '.join(sorted(taken))} while a restore was unfinished")
    for name in waiting:
        if (home / name).is_dir():
            (home / name).rmdir()
        (place / name).rename(home / name)
    sync_folder(home)
    for left in (path for path in place.iterdir() if path.name != NAME):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    (place / NAME).unlink()  # the last of it: as long as it is there, the restore is unfinished
    place.rmdir()


def not_empty(found: str) -> BadInput:
    return BadInput(
        f"{found}.",
        expected="a home and a database without data",
        next_step="Name another folder with --home or another database with --database, or move this one away. "
        "Nothing was changed.",
    )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """The system's word for a file that cannot be written, with what to do about it."""
    try:
        yield
    except OSError as error:
        found = f"{error.filename or path} could not be written: {error.strerror or error}."
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NoSpace(found, next_step="Make room, then try again.") from error
        if isinstance(error, PermissionError):
            raise NotPermitted(found, next_step="Check the owner and mode of it and of its folder.") from error
        raise DiskFailed(found, next_step="Check the disk, then try again.") from error
