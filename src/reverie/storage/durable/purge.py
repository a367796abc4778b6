"""What the engine of nights remembers of those that are over: whose they were. It needs none of it any more."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, inspect, text

from reverie.core.errors import DatabaseUnusable
from reverie.storage.database.compact import LOCK_MILLISECONDS
from reverie.storage.database.engine import engine as database_of

UNDER_WAY = "('PENDING', 'ENQUEUED', 'DELAYED')"


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
            _rewritten(engine, schema)
        else:
            with engine.raw_connection().driver_connection as raw:  # type: ignore[union-attr]
                raw.execute("vacuum")
                raw.execute("pragma wal_checkpoint(truncate)")
    finally:
        engine.dispose()


def _rewritten(engine: Engine, schema: str) -> None:
    """Postgres keeps deleted rows in its files. A table that somebody uses for long is swept: they are overwritten."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"set lock_timeout = {LOCK_MILLISECONDS}"))
        for table in inspect(connection).get_table_names(schema=schema):
            try:
                connection.execute(text(f'vacuum full {schema}."{table}"'))
            except DatabaseUnusable:
                connection.execute(text(f'vacuum {schema}."{table}"'))
        connection.execute(text("reset lock_timeout"))
