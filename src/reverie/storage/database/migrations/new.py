"""A new SQLite database in one step: the schema as the migrations leave it, kept in new_sqlite.sql.

Alembic takes half a second to load and to play every migration; most databases are new ones. After a new migration,
`python -m reverie.storage.database.migrations.new` writes the file again; a test fails while it is stale.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from reverie.storage.database.transactions import reading_across, writing_across

SCHEMA = Path(__file__).with_name("new_sqlite.sql")
_BETWEEN = ";\n\n"
_KEPT = "select sql from sqlite_master where sql is not null order by rowid"


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
        statements = connection.execute(text(_KEPT)).scalars().all()
    return _BETWEEN.join((*statements, _stamp(revision))) + ";\n"


def _stamp(revision: str) -> str:
    return f"INSERT INTO alembic_version (version_num) VALUES ('{revision}')"


def write_schema() -> None:
    from reverie.storage.database.engine import engine
    from reverie.storage.database.migrations import CURRENT, upgrade

    with tempfile.TemporaryDirectory() as folder:
        made = engine(f"sqlite:///{folder}/new.db")
        with writing_across(made, "upkeep") as connection:
            upgrade(connection, CURRENT)
        SCHEMA.write_text(described(made, CURRENT), "utf-8")
        made.dispose()


if __name__ == "__main__":
    write_schema()
