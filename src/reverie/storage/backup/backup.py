"""`back_up`: the whole home in one file, whichever database it uses.

The rows are those of one moment. The files are read after them: a change that lands meanwhile is then in a file and
not in the rows, and is recorded after a restore as written from outside; the other way round it would be lost.
"""

from __future__ import annotations

import fcntl
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, Engine, Table

from reverie.core.errors import BadInput, DiskFailed, NotFound, NotPermitted
from reverie.storage.backup.archive import Packing, Unpacking
from reverie.storage.backup.files import explained, files_to_back_up
from reverie.storage.backup.manifest import BackupStep, Manifest, Member, Watch, manifest_bytes
from reverie.storage.backup.tables import heads, lines, snapshot, tables
from reverie.storage.database.migrations import schema_version
from reverie.system.files import sync_folder

CHUNK = 4 * 2**20  # bytes of rows in one member: a tar wants to know a length before the content


@dataclass(frozen=True, slots=True)
class BackedUp:
    file: Path
    bytes: int
    manifest: Manifest


def back_up(
    engine: Engine, home: Path, file: Path, *, at: datetime, force: bool = False, watch: Watch | None = None
) -> BackedUp:
    file = file.absolute()
    _refuse(home, file, force)
    with _beside(file, force) as out:
        with Packing(out, at) as archive, snapshot(engine) as connection:
            manifest = _packed(archive, connection, home, at, watch or (lambda _: None))
        out.flush()
        os.fsync(out.fileno())
        Unpacking(out, watch).verified()
        size = os.fstat(out.fileno()).st_size
    return BackedUp(file, size, manifest)


def _packed(archive: Packing, connection: Connection, home: Path, at: datetime, watch: Watch) -> Manifest:
    schema = schema_version(connection)
    assert schema is not None  # whoever opened the engine migrated it
    members: list[Member] = []
    counts: dict[str, int] = {}
    for table in tables(connection):
        counts[table.name] = 0
        for member, rows in _rows(archive, connection, table):
            members.append(member)
            counts[table.name] += rows
            watch(BackupStep(table.name, counts[table.name]))
    chain = heads(connection)
    files, folders, left_out = _files(archive, home)
    manifest = Manifest(schema, at, counts, chain, (*members, *files), tuple(folders), tuple(left_out))
    archive.add_manifest(manifest_bytes(manifest))
    return manifest


def _rows(archive: Packing, connection: Connection, table: Table) -> Iterator[tuple[Member, int]]:
    chunk, rows, number = bytearray(), 0, 1
    for line in lines(connection, table):
        chunk += line
        rows += 1
        if len(chunk) >= CHUNK:
            yield archive.add_rows(table.name, number, bytes(chunk)), rows
            chunk, rows, number = bytearray(), 0, number + 1
    if rows:
        yield archive.add_rows(table.name, number, bytes(chunk)), rows


def _files(archive: Packing, home: Path) -> tuple[list[Member], list[str], list[str]]:
    members: list[Member] = []
    folders: list[str] = []
    left_out: list[str] = []
    for found in files_to_back_up(home):
        if found.odd:
            left_out.append(found.path)
        elif found.file is None:
            folders.append(found.path)
        else:
            members.append(_file(archive, found.path, found.file))
    return members, folders, left_out


def _file(archive: Packing, path: str, file: IO[bytes]) -> Member:
    about = os.fstat(file.fileno())
    try:
        return archive.add_file(path, file, about.st_size, bool(about.st_mode & stat.S_IXUSR))
    except OSError as error:
        if error.errno is not None:
            raise
        raise DiskFailed(
            f"{path} became shorter while it was read.", next_step="Nothing was changed. Try again."
        ) from error


# ---- the file --------------------------------------------------------------------------------------------------------


def _refuse(home: Path, file: Path, force: bool) -> None:
    if not file.parent.is_dir():
        raise NotFound(f"There is no folder {file.parent}.", next_step="Make it, or name another file.")
    if any(file.is_relative_to(home / name) for name in ("memory", "skills")):
        raise BadInput(f"{file} is inside what is backed up.", next_step="Name a file outside the home.")
    try:
        found = file.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise NotPermitted(f"{file} is a link, or not a regular file.", next_step="Name another file.")
    if not force:
        raise BadInput(
            f"{file} exists already.",
            expected="a new name",
            next_step="Say --force to replace it. Nothing was changed.",
        )


@contextmanager
def _beside(file: Path, force: bool) -> Iterator[IO[bytes]]:
    """A file that takes its name when all of it is on the disk. What a killed run left behind is cleared."""
    part = file.with_name(f".{file.name[:200]}.{os.urandom(8).hex()}.part")
    with explained(file):
        for left in file.parent.glob(f".{glob.escape(file.name[:200])}.*.part"):
            with suppress(OSError), left.open("rb") as opened:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a run that is alive holds it
                left.unlink()
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "r+b") as out:
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield out
                if not force and file.exists():
                    raise BadInput(
                        f"{file} was written by someone else meanwhile.", next_step="Nothing was changed; try again."
                    )
                part.rename(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    sync_folder(file.parent)
