"""A copy of an SQLite database beside it, made before its schema is changed. Only the newest is kept.

It holds all that the database held: whoever erases something from the one erases the other (`copies`).
"""

from __future__ import annotations

import glob
import os
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, text

from reverie.core.errors import DatabaseUnusable
from reverie.storage.backup.tables import tables
from reverie.system.files import sync_folder


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
    except (OSError, _errors(engine)) as error:
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


def _errors(engine: Engine) -> type[Exception]:
    return engine.dialect.dbapi.Error  # type: ignore[union-attr]
