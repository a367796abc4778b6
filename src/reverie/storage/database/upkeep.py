"""Upkeep of the files of a database: copied before its schema is changed, and left without what was deleted from it.

Of the copies only the newest is kept. It holds all that the database held: whoever erases something from the one erases
the other (`copies`). What was deleted stands in free pages, in the write-ahead log and in what the engine of nights
remembers of those that are over.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, inspect, text

from reverie.core.errors import DatabaseUnusable
from reverie.erasure.records import Left
from reverie.storage.backup.tables import tables
from reverie.storage.database import schema
from reverie.storage.database.engine import engine as database_of
from reverie.system.files import sync_folder

PATIENCE_SECONDS = 30.0
LOCK_MILLISECONDS = 5_000
# The column that the walls are about has a policy, and cannot be given a type.
_COLUMNS_OF_EMPTY = """
    select a.attname, format_type(a.atttypid, a.atttypmod) as kind
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.oid = cast(:table as regclass) and c.reltuples = 0 and a.attnum > 0 and not a.attisdropped
      and a.attname <> 'workspace'"""
_MAY_SWEEP_SAMPLES = """
    select pg_has_role(current_user, datdba, 'usage') from pg_database where datname = current_database()"""
_MAY_CHECKPOINT = "select pg_has_role(current_user, 'pg_checkpoint', 'usage')"
UNDER_WAY = "('PENDING', 'ENQUEUED', 'DELAYED')"


def compacted(engine: Engine) -> list[Left]:
    if engine.dialect.name == "postgresql":
        with engine.execution_options(isolation_level="AUTOCOMMIT", errand="upkeep").connect() as connection:
            in_use = _vacuumed_tables(connection, [table.name for table in schema.metadata.sorted_tables])
            if connection.execute(text(_MAY_CHECKPOINT)).scalar():  # who may not, waits for the server's own
                connection.execute(text("checkpoint"))
        return [Left(name, "the table was in use: its free space is overwritten in time") for name in in_use]
    file = Path(engine.url.database or "")
    engine.dispose()  # an idle connection of ours must not be what keeps the log from being cut
    with closing(engine.raw_connection()) as raw:
        left = [*_done(raw, "vacuum", file), *_done(raw, "pragma wal_checkpoint(truncate)", file)]
    for copy in copies(file):
        copy.unlink(missing_ok=True)
    return left


def _done(connection: Any, statement: str, file: Path) -> list[Left]:
    """Whoever is reading an older state keeps both from being done; most are gone in a moment."""
    until, said = time.monotonic() + PATIENCE_SECONDS, ""
    while True:
        try:
            row = connection.cursor().execute(statement).fetchone()
            if row is None or row[0] == 0:
                return []
            said = "another process reads it"
        except connection.driver_connection.Error as error:
            said = str(error)
        if time.monotonic() > until:
            why = f"its free pages or its log could not be cleared ({said}): erase something again when nobody reads it"
            return [Left(str(file), why, failed=True)]
        time.sleep(0.05)


def _vacuumed_tables(connection: Connection, names: Sequence[str], schema: str = "") -> list[str]:
    """Written anew where nobody is in the way for long, else swept: then the bytes are overwritten in time. Postgres
    also keeps samples of what stood in each column, for its planner: they are taken anew. The names of those that were
    in use."""
    in_use: list[str] = []
    connection.execute(text(f"set lock_timeout = {LOCK_MILLISECONDS}"))
    for name in names:
        table = f'{schema}."{name}"' if schema else f'"{name}"'
        try:
            connection.execute(text(f"vacuum (full, analyze) {table}"))
            _forget_samples(connection, table)
        except DatabaseUnusable:
            connection.execute(text(f"vacuum (analyze) {table}"))
            in_use.append(name)
    if connection.execute(text(_MAY_SWEEP_SAMPLES)).scalar():
        with suppress(DatabaseUnusable):  # in use: what was there is overwritten in time
            connection.execute(text("vacuum full pg_catalog.pg_statistic"))
    connection.execute(text("reset lock_timeout"))
    return in_use


def _forget_samples(connection: Connection, table: str) -> None:
    """Of an empty table no new ones are taken, and the old ones stay; a column that is given a type has none."""
    columns = connection.execute(text(_COLUMNS_OF_EMPTY), {"table": table}).all()
    if columns:
        given = ", ".join(f'alter column "{one.attname}" type {one.kind}' for one in columns)
        connection.execute(text(f"alter table {table} {given}"))


def copies(database: Path) -> list[Path]:
    """Every copy of this database that a migration left beside it, and the parts of one that was killed."""
    return sorted(database.parent.glob(f"{glob.escape(database.name)}.before-*"))


def copy_before(engine: Engine, found: str | None, target: str) -> Path | None:
    """`<database>.before-<target>`. None when there is nothing to lose, or another process was faster."""
    name = engine.url.database
    database = Path(name) if engine.dialect.name == "sqlite" and name and name != ":memory:" else None
    if database is None or found is None or not _holds_rows(engine):
        return None
    copy = database.with_name(f"{database.name}.before-{target}")
    part = copy.with_name(f"{copy.name}.{os.urandom(4).hex()}.part")
    try:
        if _vacuumed(engine, part) != found:
            return None
        part.rename(copy)
        sync_folder(copy.parent)
        for old in copies(database):
            if old != copy:
                old.unlink(missing_ok=True)
    except (OSError, engine.dialect.dbapi.Error) as error:  # type: ignore[union-attr]
        raise DatabaseUnusable(
            f"Before the schema can change, {database} is copied to {copy.name}, and that failed: {error}.",
            next_step="Free some disk space or check the folder's mode, then try again. Nothing was changed.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return copy


def _holds_rows(engine: Engine) -> bool:
    with engine.execution_options(reads=True).connect() as connection:
        return any(
            connection.execute(text(f'select 1 from "{table.name}" limit 1')).first() for table in tables(connection)
        )


def _vacuumed(engine: Engine, part: Path) -> str:
    """The revision of the copy. VACUUM takes no part in a transaction, so this goes to the driver itself."""
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("vacuum into ?", (str(part),))
    with closing(engine.dialect.dbapi.connect(str(part))) as made:  # type: ignore[union-attr]
        revision = str(made.execute("select version_num from alembic_version").fetchone()[0])
    handle = os.open(part, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return revision


def forget_nights(home: Path, database: str) -> None:
    """Its rows name a workspace and a user; those of nights under way go when they end and this is done again."""
    if database.startswith("sqlite"):
        if not (home / "engine.db").exists():
            return
        database, schema, name = f"sqlite:///{home / 'engine.db'}", None, "workflow_status"
    else:
        schema, name = "dbos", "dbos.workflow_status"
    engine = database_of(database)
    try:
        with engine.begin() as connection:
            if inspect(connection).has_table("workflow_status", schema=schema):
                connection.execute(text(f"delete from {name} where status not in {UNDER_WAY}"))
        if schema is not None:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                _vacuumed_tables(connection, inspect(connection).get_table_names(schema=schema), schema)
        else:
            with engine.raw_connection().driver_connection as raw:  # type: ignore[union-attr]
                raw.execute("vacuum")
                raw.execute("pragma wal_checkpoint(truncate)")
    finally:
        engine.dispose()
