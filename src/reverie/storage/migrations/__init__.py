"""Brings a database to this version's schema, in one transaction, or leaves it exactly as it was.

Alembic is imported only when there is an older schema: it costs half a second to load and to play every migration.
Most databases are new ones, and a new SQLite database is made in one step: the schema as the migrations leave it is
kept in new_sqlite.sql. After a new migration,
`python -c 'from reverie.storage import migrations; migrations.write_schema()'` writes that file again; a test fails
while it is stale.

An older database is copied before it is changed. Of the copies only the newest is kept. It holds all that the database
held: whoever erases something from the one erases the other (`copies`).
"""

from __future__ import annotations

import glob
import os
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from reverie.core.errors import DatabaseUnusable, SchemaTooNew
from reverie.storage import schema
from reverie.storage.database import engine as database_of
from reverie.storage.database import raise_walls, reading_across, sqlite_driver, writing_across
from reverie.system.files import sync_folder

CURRENT = "0017"  # revisions are numbered, so that "newer than I know" can be told
_VERSIONS = Path(__file__).parent
_POSTGRES_LOCK = 0x7265766572696500
_BETWEEN = ";\n\n"
_TABLES_AND_INDEXES = "select sql from sqlite_master where sql is not null order by rowid"


def migrate(engine: Engine, target: str = CURRENT, scripts: Path = _VERSIONS) -> None:
    with reading_across(engine, "upkeep") as connection:
        found = schema_version(connection)
    if found is not None and not found.isdigit():
        raise DatabaseUnusable(
            f"This database has the schema revision {found!r}, which is not one of Reverie's.",
            next_step="Point `database` at a database of its own.",
        )
    if found is not None and int(found) > int(target):
        raise SchemaTooNew(
            f"This database has schema {found}; this Reverie knows up to {target}.",
            expected="a Reverie at least as new as the one that wrote it",
            next_step="Upgrade with `pip install --upgrade reverie`. Nothing was changed.",
        )
    if found == target:
        return
    if found is not None:
        _copy_before(engine, found, target)
    with writing_across(engine, "upkeep") as connection:
        lock_schema(connection)
        # Someone may have migrated while we waited for the lock: the version is read again, inside it.
        if scripts != _VERSIONS or schema_version(connection) is not None or not create(connection, target):
            upgrade(connection, target, scripts)


def copies(database: Path) -> list[Path]:
    """Every copy of this database that a migration left beside it, and the parts of one that was killed."""
    return sorted(database.parent.glob(f"{glob.escape(database.name)}.before-*"))


def _copy_before(engine: Engine, found: str, target: str) -> None:
    """`<database>.before-<target>`, unless there is nothing to lose, or another process was faster."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:":
        return
    with reading_across(engine, "upkeep") as connection:
        there = {*schema.metadata.tables} & {*inspect(connection).get_table_names()}
        if not any(connection.execute(text(f'select 1 from "{table}" limit 1')).first() for table in there):
            return
    database = Path(name)
    copy = database.with_name(f"{database.name}.before-{target}")
    part = copy.with_name(f"{copy.name}.{os.urandom(4).hex()}.part")
    try:
        # The revision of the copy. VACUUM takes no part in a transaction, so this goes to the driver itself.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(engine.raw_connection()) as connection:
            connection.cursor().execute("vacuum into ?", (str(part),))
        with closing(sqlite_driver().connect(str(part))) as made:
            revision = str(made.execute("select version_num from alembic_version").fetchone()[0])
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        if revision == found:
            part.rename(copy)
            sync_folder(copy.parent)
            for old in copies(database):
                if old != copy:
                    old.unlink(missing_ok=True)
    except (OSError, sqlite_driver().Error) as error:
        raise DatabaseUnusable(
            f"Before the schema can change, {database} is copied to {copy.name}, and that failed: {error}.",
            next_step="Free some disk space or check the folder's mode, then try again. Nothing was changed.",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def schema_version(connection: Connection) -> str | None:
    """The schema's revision; None for a database without tables of ours."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("select version_num from alembic_version")).scalar()


def lock_schema(connection: Connection) -> None:
    """One process at a time changes a schema; on SQLite the transaction itself sees to that."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})


def upgrade(connection: Connection, target: str, scripts: Path = _VERSIONS) -> None:
    """Within the transaction of whoever asks."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    script, context = ScriptDirectory(str(scripts)), MigrationContext.configure(connection)
    done = context.get_current_revision() or "base"
    steps = list(script.iterate_revisions(target, done))
    context.stamp(script, done)  # makes the table of the version, before all others
    with Operations.context(context):
        for step in reversed(steps):
            step.module.upgrade()
            context.stamp(script, step.revision)
    raise_walls(connection)


SCHEMA = Path(__file__).with_name("new_sqlite.sql")


def create(connection: Connection, revision: str) -> bool:
    """Make the schema within the transaction of whoever asks. False where the file holds another revision's."""
    *statements, stamp = SCHEMA.read_text("utf-8").strip().removesuffix(";").split(_BETWEEN)
    if connection.dialect.name != "sqlite" or stamp != _stamp(revision):
        return False
    for statement in (*statements, stamp):
        connection.exec_driver_sql(statement)
    return True


def described(engine: Engine, revision: str) -> str:
    """The schema of a migrated database, as the file has it."""
    with reading_across(engine, "upkeep") as connection:
        statements = connection.execute(text(_TABLES_AND_INDEXES)).scalars().all()
    return _BETWEEN.join((*statements, _stamp(revision))) + ";\n"


def _stamp(revision: str) -> str:
    return f"INSERT INTO alembic_version (version_num) VALUES ('{revision}')"


def write_schema() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = database_of(f"sqlite:///{folder}/new.db")
        with writing_across(made, "upkeep") as connection:
            upgrade(connection, CURRENT)
        SCHEMA.write_text(described(made, CURRENT), "utf-8")
        made.dispose()
