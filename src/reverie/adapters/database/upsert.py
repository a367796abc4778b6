"""The two statements that differ between the dialects."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from reverie.adapters.database import schema


def _insert(connection: Connection, table: Table) -> Any:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def upsert(
    connection: Connection,
    table: Table,
    key: dict[str, Any],
    row: dict[str, Any],
    only_when_new: dict[str, Any] | None = None,
) -> None:
    statement = _insert(connection, table).values(**key, **row, **(only_when_new or {}))
    connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=row))


def next_change(connection: Connection, workspace: str) -> int:
    """The next place in this workspace's order of commits.

    The counter's row stays locked until the commit, so a smaller number is always visible before a larger one.
    Ask for it late in a transaction: writers of one workspace queue behind it.
    """
    table = schema.counters
    statement = _insert(connection, table).values(workspace=workspace, name="changes", value=1)
    counted = statement.on_conflict_do_update(index_elements=["workspace", "name"], set_={"value": table.c.value + 1})
    return int(connection.execute(counted.returning(table.c.value)).scalar_one())
