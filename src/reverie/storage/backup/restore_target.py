"""What a backup may be restored into: a home and a database without data. Looks; makes nothing."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, text

from reverie.core.errors import BadInput
from reverie.storage.backup.files import STAGE, data_in, not_empty
from reverie.storage.backup.manifest import NAME, Manifest
from reverie.storage.backup.tables import heads, tables
from reverie.storage.database.migrations import lock_schema, schema_version
from reverie.storage.database.transactions import reading_across
from reverie.system.files import read_file


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
