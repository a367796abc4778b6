"""Leave nothing of what was deleted in the files of a database: free pages, the write-ahead log, copies of it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from reverie.core.errors import DatabaseUnusable
from reverie.erasure.wanted import Left
from reverie.storage.database import schema

PATIENCE_SECONDS = 30.0
LOCK_MILLISECONDS = 5_000
_MAY_CHECKPOINT = "select pg_has_role(current_user, 'pg_checkpoint', 'usage')"


def compacted(engine: Engine) -> list[Left]:
    return _postgres(engine) if engine.dialect.name == "postgresql" else _sqlite(engine)


def _sqlite(engine: Engine) -> list[Left]:
    from reverie.storage.backup.before_migration import copies

    file = Path(engine.url.database or "")
    engine.dispose()  # an idle connection of ours must not be what keeps the log from being cut
    with closing(engine.raw_connection()) as connection:
        left = [*_done(connection, "vacuum", file), *_done(connection, "pragma wal_checkpoint(truncate)", file)]
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


def _postgres(engine: Engine) -> list[Left]:
    """Written anew where nobody is in the way for long, else swept: then the bytes are overwritten in time."""
    left: list[Left] = []
    own = engine.execution_options(isolation_level="AUTOCOMMIT", errand="upkeep")
    with own.connect() as connection:
        connection.execute(text(f"set lock_timeout = {LOCK_MILLISECONDS}"))
        for table in schema.metadata.sorted_tables:
            try:
                connection.execute(text(f'vacuum full "{table.name}"'))
            except DatabaseUnusable:
                connection.execute(text(f'vacuum "{table.name}"'))
                left.append(Left(table.name, "the table was in use: its free space is overwritten in time"))
        if connection.execute(text(_MAY_CHECKPOINT)).scalar():  # who may not, waits for the server's own
            connection.execute(text("checkpoint"))
        connection.execute(text("reset lock_timeout"))
    return left
