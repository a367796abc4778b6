"""`back_up`: the whole home in one file, whichever database it uses. `restore`: a home from one, or nothing at all.

The rows are those of one moment. The files are read after them: a change that lands meanwhile is then in a file and
not in the rows, and is recorded after a restore as written from outside; the other way round it would be lost.

Of a backup everything is checked before anything is written. Then the files are laid beside their places, the rows go
in in one transaction, and the files are moved into place. The commit is the moment it is done: killed before it,
nothing was restored; killed behind it, the same command moves the rest.
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

from sqlalchemy import Connection, Engine, Table, func, inspect, select, text

from reverie.core.errors import BadInput, DiskFailed, NotFound, NotPermitted, SchemaTooNew
from reverie.storage import backup_archive as archive
from reverie.storage import backup_files as files
from reverie.storage import schema
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading_across, writing_across
from reverie.storage.migrations import CURRENT, lock_schema, schema_version, upgrade
from reverie.storage.upkeep import heads, insert_lines, lines, reflected_table, snapshot, tables
from reverie.system.files import flocked_folder, make_folder, read_file, replace_file, sync_folder

CHUNK = 4 * 2**20  # bytes of rows in one member: a tar wants to know a length before the content


@dataclass(frozen=True, slots=True)
class BackedUp:
    file: Path
    bytes: int
    manifest: archive.Manifest


def back_up(
    engine: Engine,
    home: Path,
    file: Path,
    *,
    at: datetime,
    force: bool = False,
    watch: archive.Watch | None = None,
) -> BackedUp:
    file = file.absolute()
    _refuse(home, file, force)
    with _beside(file, force) as out:
        with archive.Packing(out, at) as packing, snapshot(engine) as connection:
            manifest = _packed(packing, connection, home, at, watch or (lambda _: None))
        out.flush()
        os.fsync(out.fileno())
        archive.Unpacking(out, watch).verified()
        size = os.fstat(out.fileno()).st_size
    return BackedUp(file, size, manifest)


def _packed(
    packing: archive.Packing, connection: Connection, home: Path, at: datetime, watch: archive.Watch
) -> archive.Manifest:
    schema = schema_version(connection)
    assert schema is not None  # whoever opened the engine migrated it
    members: list[archive.Member] = []
    counts: dict[str, int] = {}
    for table in tables(connection):
        counts[table.name] = 0
        for member, rows in _rows(packing, connection, table):
            members.append(member)
            counts[table.name] += rows
            watch(archive.BackupStep(table.name, counts[table.name]))
    chain = heads(connection)
    folders, left_out = list[str](), list[str]()
    for found in files.files_to_back_up(home):
        if found.file is None or found.odd:
            (left_out if found.odd else folders).append(found.path)
            continue
        about = os.fstat(found.file.fileno())
        try:
            members.append(packing.add_file(found.path, found.file, about.st_size, bool(about.st_mode & stat.S_IXUSR)))
        except OSError as error:
            if error.errno is not None:
                raise
            why = f"{found.path} became shorter while it was read."
            raise DiskFailed(why, next_step="Nothing was changed. Try again.") from error
    manifest = archive.Manifest(schema, at, counts, chain, tuple(members), tuple(folders), tuple(left_out))
    packing.add_manifest(archive.manifest_bytes(manifest))
    return manifest


def _rows(packing: archive.Packing, connection: Connection, table: Table) -> Iterator[tuple[archive.Member, int]]:
    chunk, rows, number = bytearray(), 0, 1
    for line in lines(connection, table):
        chunk += line
        rows += 1
        if len(chunk) >= CHUNK:
            yield packing.add_rows(table.name, number, bytes(chunk)), rows
            chunk, rows, number = bytearray(), 0, number + 1
    if rows:
        yield packing.add_rows(table.name, number, bytes(chunk)), rows


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
    with files.explained(file):
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


@dataclass(frozen=True, slots=True)
class Restored:
    """`repointed`: its settings named another database. `finished`: an earlier run had done all but the last step."""

    home: Path
    manifest: archive.Manifest
    repointed: bool = False
    finished: bool = False


def read_whole_backup(file: Path, *, watch: archive.Watch | None = None) -> archive.Manifest:
    """Read all of it; what it holds if it is whole."""
    with _opened(file) as opened:
        return _readable(archive.Unpacking(opened, watch))[0]


def restore(
    file: Path, home: Path, database: str, *, named: str | None = None, watch: archive.Watch | None = None
) -> Restored:
    """`named` is the database as the restored settings shall name it; None if they shall name none."""
    home, engine = home.resolve(), make_engine(database)
    if unfinished(home) is None:
        refuse_home(home)
    try:
        with _opened(file) as opened:
            backup = archive.Unpacking(opened, watch)
            manifest, said = _readable(backup)
            # Looking at an SQLite database that is not there would make it.
            if unfinished(home) is None and _is_there(engine):
                with reading_across(engine, "upkeep") as connection:
                    refuse_rows(connection, manifest)
            make_folder(home)
            with flocked_folder(home, timeout=0), files.explained(home):
                if is_committed(engine, home, said, manifest):
                    files.move_in(home)
                    return Restored(home, manifest, finished=True)
                files.discard_stage(home)
                refuse_home(home)
                try:
                    with writing_across(engine, "upkeep") as connection:
                        place = files.stage(home, manifest.folders)
                        _put_back(backup, manifest, connection, place)
                        repointed = files.point_at(place, named)
                        replace_file(place / archive.NAME, said)  # from here on the stage is complete
                        files.sync_below(place)
                except BaseException:
                    files.discard_stage(home)
                    raise
                engine.dispose()  # its last connection writes everything to the disk
                files.move_in(home)
                return Restored(home, manifest, repointed)
    finally:
        engine.dispose()


def _put_back(backup: archive.Unpacking, manifest: archive.Manifest, connection: Connection, place: Path) -> None:
    """The rows go into the schema they were taken from; then that is brought to ours."""
    lock_schema(connection)
    there = ", ".join(f'"{table.name}"' for table in tables(connection))
    if connection.dialect.name == "postgresql" and there:  # on SQLite the transaction itself keeps others out
        connection.execute(text(f"lock table {there} in exclusive mode"))
    refuse_rows(connection, manifest)
    upgrade(connection, manifest.schema)
    ours = {*schema.metadata.tables} & {*inspect(connection).get_table_names()}
    counts = dict.fromkeys(manifest.tables, 0)
    known = {name: reflected_table(connection, name) for name in counts if name in ours}
    for member, content in backup.members(manifest):
        if member.path:
            files.put_beside(place, member, content)
        elif member.table in known:
            counts[member.table] += sum(insert_lines(connection, known[member.table], content))
        else:
            raise archive.damaged(f"schema {manifest.schema} has no table {member.table[:100]!r}")
    if counts != manifest.tables:
        raise archive.damaged("its tables do not have the rows it says")
    upgrade(connection, CURRENT)
    if heads(connection) != manifest.ledger:
        raise archive.damaged("its ledger does not end where it says, or its chain is broken")


def _readable(backup: archive.Unpacking) -> tuple[archive.Manifest, bytes]:
    manifest, said = backup.verified()
    if int(manifest.schema) > int(CURRENT):
        raise SchemaTooNew(
            f"This backup has schema {manifest.schema}; this Reverie knows up to {CURRENT}.",
            expected="a Reverie at least as new as the one that wrote it",
            next_step="Upgrade with `pip install --upgrade reverie`. Nothing was changed.",
        )
    return manifest, said


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        opened = os.fdopen(handle, "rb")
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {file}.") from error
    except OSError as error:
        raise NotPermitted(f"{file} could not be read: {error.strerror}.", expected="a backup file") from error
    with opened:
        yield opened


def refuse_home(home: Path) -> None:
    if home.exists() and not home.is_dir():
        raise files.not_empty(f"{home} is a file")
    found = files.data_in(home)
    if found:
        raise files.not_empty(f"{home} holds {', '.join(found)}")


def unfinished(home: Path) -> bytes | None:
    """The manifest a killed restore left beside, once all of its files were there."""
    return read_file(home / files.STAGE / archive.NAME)


def refuse_rows(connection: Connection, manifest: archive.Manifest) -> None:
    found, revision = _counts(connection), schema_version(connection)
    if any(found.values()):
        told = ", ".join(f"{rows:,} in {name}" for name, rows in found.items() if rows)
        raise files.not_empty(f"The database has rows: {told}")
    if found and revision is None:
        raise files.not_empty(f"The database has a table {next(iter(found))!r} that Reverie did not make")
    if revision is not None and not (revision.isdigit() and int(revision) <= int(manifest.schema)):
        raise files.not_empty(f"The database has empty tables of schema {revision}; the backup has {manifest.schema}")


def is_committed(engine: Engine, home: Path, said: bytes, manifest: archive.Manifest) -> bool:
    """Was a restore killed behind its commit? Killed before, its rows are not there and it begins again."""
    left = unfinished(home)
    if left is None or not _is_there(engine):
        return False
    with reading_across(engine, "upkeep") as connection:
        counts = _counts(connection)
        if schema_version(connection) is None or (any(manifest.tables.values()) and not any(counts.values())):
            return False
        same = left == said and counts == {**dict.fromkeys(counts, 0), **manifest.tables}
        if same and heads(connection) == manifest.ledger:
            return True
    raise BadInput(
        f"{home} has the rest of an unfinished restore in {files.STAGE}, of another backup or used since.",
        expected="the backup it was made from, and nothing done in the home since",
        next_step=f"Restore into another folder and database, or move what is in {files.STAGE} into place yourself. "
        "Nothing was changed.",
    )


def _is_there(engine: Engine) -> bool:
    return engine.dialect.name != "sqlite" or Path(engine.url.database or "").exists()


def _counts(connection: Connection) -> dict[str, int]:
    asked = {table.name: select(func.count()).select_from(table) for table in tables(connection)}
    return {name: connection.execute(one).scalar_one() for name, one in asked.items()}
