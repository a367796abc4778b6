"""`restore`: a home from a backup, or nothing at all.

Everything is checked before anything is written. Then the files are laid beside their places, the rows go in in one
transaction, and the files are moved into place. The commit is the moment it is done: killed before it, nothing was
restored; killed behind it, the same command moves the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, Engine, func, inspect, select, text

from reverie.core.errors import BadInput, NotFound, NotPermitted, SchemaTooNew
from reverie.storage.backup.archive import Unpacking
from reverie.storage.backup.files import (
    STAGE,
    data_in,
    discard_stage,
    explained,
    move_in,
    not_empty,
    point_at,
    put_beside,
    stage,
    sync_below,
)
from reverie.storage.backup.manifest import NAME, Manifest, Watch, damaged
from reverie.storage.backup.tables import heads, insert_lines, reflected_table, tables
from reverie.storage.database import schema
from reverie.storage.database.engine import engine as make_engine
from reverie.storage.database.migrations import CURRENT, lock_schema, schema_version, upgrade
from reverie.storage.database.transactions import reading_across, writing_across
from reverie.system.files import flocked_folder, make_folder, read_file, replace_file


@dataclass(frozen=True, slots=True)
class Restored:
    """`repointed`: its settings named another database. `finished`: an earlier run had done all but the last step."""

    home: Path
    manifest: Manifest
    repointed: bool = False
    finished: bool = False


def read_whole_backup(file: Path, *, watch: Watch | None = None) -> Manifest:
    """Read all of it; what it holds if it is whole."""
    with _opened(file) as opened:
        return _readable(Unpacking(opened, watch))[0]


def restore(file: Path, home: Path, database: str, *, named: str | None = None, watch: Watch | None = None) -> Restored:
    """`named` is the database as the restored settings shall name it; None if they shall name none."""
    home, engine = home.resolve(), make_engine(database)
    if unfinished(home) is None:
        refuse_home(home)
    try:
        with _opened(file) as opened:
            backup = Unpacking(opened, watch)
            return _Restoring(backup, *_readable(backup), engine, home, named).run()
    finally:
        engine.dispose()


@dataclass(frozen=True, slots=True)
class _Restoring:
    backup: Unpacking
    manifest: Manifest
    said: bytes
    engine: Engine
    home: Path
    named: str | None

    def run(self) -> Restored:
        if unfinished(self.home) is None:
            refuse_database(self.engine, self.manifest)
        make_folder(self.home)
        with flocked_folder(self.home, timeout=0), explained(self.home):
            if is_committed(self.engine, self.home, self.said, self.manifest):
                move_in(self.home)
                return Restored(self.home, self.manifest, finished=True)
            discard_stage(self.home)
            refuse_home(self.home)
            return self._restored()

    def _restored(self) -> Restored:
        try:
            with writing_across(self.engine, "upkeep") as connection:
                place = stage(self.home, self.manifest.folders)
                self._rows_and_files(connection, place)
                repointed = point_at(place, self.named)
                replace_file(place / NAME, self.said)  # from here on the stage is complete
                sync_below(place)
        except BaseException:
            discard_stage(self.home)
            raise
        self.engine.dispose()  # its last connection writes everything to the disk
        move_in(self.home)
        return Restored(self.home, self.manifest, repointed)

    def _rows_and_files(self, connection: Connection, place: Path) -> None:
        """The rows go into the schema they were taken from; then that is brought to ours."""
        keep_others_out(connection)
        refuse_rows(connection, self.manifest)
        upgrade(connection, self.manifest.schema)
        self._fill(connection, place)
        upgrade(connection, CURRENT)
        if heads(connection) != self.manifest.ledger:
            raise damaged("its ledger does not end where it says, or its chain is broken")

    def _fill(self, connection: Connection, place: Path) -> None:
        ours = {*schema.metadata.tables} & {*inspect(connection).get_table_names()}
        counts = dict.fromkeys(self.manifest.tables, 0)
        known = {name: reflected_table(connection, name) for name in counts if name in ours}
        for member, content in self.backup.members(self.manifest):
            if member.path:
                put_beside(place, member, content)
            elif member.table in known:
                counts[member.table] += sum(insert_lines(connection, known[member.table], content))
            else:
                raise damaged(f"schema {self.manifest.schema} has no table {member.table[:100]!r}")
        if counts != self.manifest.tables:
            raise damaged("its tables do not have the rows it says")


def _readable(backup: Unpacking) -> tuple[Manifest, bytes]:
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
        raise not_empty(f"{home} is a file")
    found = data_in(home)
    if found:
        raise not_empty(f"{home} holds {', '.join(found)}")


def unfinished(home: Path) -> bytes | None:
    """The manifest a killed restore left beside, once all of its files were there."""
    return read_file(home / STAGE / NAME)


def refuse_database(engine: Engine, manifest: Manifest) -> None:
    """Looking at an SQLite database that is not there would make it."""
    if _is_there(engine):
        with reading_across(engine, "upkeep") as connection:
            refuse_rows(connection, manifest)


def keep_others_out(connection: Connection) -> None:
    """Until the commit. On SQLite the transaction itself sees to that."""
    lock_schema(connection)
    names = ", ".join(f'"{table.name}"' for table in tables(connection))
    if connection.dialect.name == "postgresql" and names:
        connection.execute(text(f"lock table {names} in exclusive mode"))


def refuse_rows(connection: Connection, manifest: Manifest) -> None:
    found, revision = _counts(connection), schema_version(connection)
    if any(found.values()):
        told = ", ".join(f"{rows:,} in {name}" for name, rows in found.items() if rows)
        raise not_empty(f"The database has rows: {told}")
    if found and revision is None:
        raise not_empty(f"The database has a table {next(iter(found))!r} that Reverie did not make")
    if revision is not None and not (revision.isdigit() and int(revision) <= int(manifest.schema)):
        raise not_empty(f"The database has empty tables of schema {revision}; the backup has {manifest.schema}")


def is_committed(engine: Engine, home: Path, said: bytes, manifest: Manifest) -> bool:
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
        f"{home} has the rest of an unfinished restore in {STAGE}, of another backup or used since.",
        expected="the backup it was made from, and nothing done in the home since",
        next_step=f"Restore into another folder and database, or move what is in {STAGE} into place yourself. "
        "Nothing was changed.",
    )


def _is_there(engine: Engine) -> bool:
    return engine.dialect.name != "sqlite" or Path(engine.url.database or "").exists()


def _counts(connection: Connection) -> dict[str, int]:
    asked = {table.name: select(func.count()).select_from(table) for table in tables(connection)}
    return {name: connection.execute(one).scalar_one() for name, one in asked.items()}
