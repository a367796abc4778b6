"""Brings a database to this version's schema, in one transaction, or leaves it exactly as it was.

Alembic is imported only when there is an older schema: it costs half a second to load and to play every migration.
Most databases are new ones, and a new SQLite database is made in one step: the schema as the migrations leave it is
kept in new_sqlite.sql. After a new migration,
`python -c 'from reverie.storage import migrations; migrations.write_schema()'` writes that file again; a test fails
while it is stale.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from reverie.core.errors import DatabaseUnusable, SchemaTooNew
from reverie.storage.database import raise_walls, reading_across, writing_across

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
    from reverie.storage.upkeep import copy_before

    copy_before(engine, found, target)
    with writing_across(engine, "upkeep") as connection:
        lock_schema(connection)
        # Someone may have migrated while we waited for the lock: the version is read again, inside it.
        if scripts != _VERSIONS or schema_version(connection) is not None or not create(connection, target):
            upgrade(connection, target, scripts)


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
    from reverie.storage.database import engine

    with tempfile.TemporaryDirectory() as folder:
        made = engine(f"sqlite:///{folder}/new.db")
        with writing_across(made, "upkeep") as connection:
            upgrade(connection, CURRENT)
        SCHEMA.write_text(described(made, CURRENT), "utf-8")
        made.dispose()
