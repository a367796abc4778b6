"""Statements every table needs: whose a row is, what differs between the dialects, the ids that begin alike.

Statements that differ are built once: building costs more than running them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Executable, Select, Table, bindparam, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from reverie.core.clock import TimeSpan
from reverie.core.ids import IdKind
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.transactions import reading, reading_across

_TABLES: dict[IdKind, Table] = {
    "proposal": schema.proposals,
    "change": schema.changes,
    "dream": schema.dreams,
    "session": schema.sessions,
    "entry": schema.entries,
}


def owner_key(scope: Scope) -> dict[str, Any]:
    """The columns that say whose a row is."""
    return {"workspace": scope.workspace, "user": scope.user or ""}


def in_span(asked: Select[Any], column: Any, span: TimeSpan) -> Select[Any]:
    limits = (
        (span.since, column.__ge__),
        (span.until, column.__le__),
        (span.after, column.__gt__),
        (span.before, column.__lt__),
    )
    return asked.where(*(compared(limit) for limit, compared in limits if limit is not None))


def mine(table: Any, scope: Scope) -> ColumnElement[bool]:
    """Rows of this person, or of the whole workspace where the scope names nobody."""
    ours: ColumnElement[bool] = table.c.workspace == scope.workspace
    return ours if scope.user is None else ours & (table.c.user == scope.user)


def upsert(
    connection: Connection,
    table: Table,
    key: dict[str, Any],
    row: dict[str, Any],
    only_when_new: dict[str, Any] | None = None,
) -> None:
    new = only_when_new or {}
    statement = _upsert(connection.dialect.name, table, tuple(key), tuple(row), tuple(new))
    connection.execute(statement, key | row | new)


@cache
def _upsert(dialect: str, table: Table, key: tuple[str, ...], row: tuple[str, ...], new: tuple[str, ...]) -> Executable:
    statement = _insert(dialect, table).values({name: bindparam(name) for name in key + row + new})
    return _executable(
        statement.on_conflict_do_update(index_elements=key, set_={name: statement.excluded[name] for name in row})
    )


def next_change(connection: Connection, workspace: str) -> int:
    """The next place in this workspace's order of commits.

    The counter's row stays locked until the commit, so a smaller number is always visible before a larger one.
    Ask for it late in a transaction: writers of one workspace queue behind it.
    """
    return next_number(connection, workspace, "changes")


def next_number(connection: Connection, workspace: str, name: str) -> int:
    """The next of a series without gaps: a transaction that is rolled back gives its number back."""
    return add_to_counter(connection, workspace, name, 1)


def add_to_counter(connection: Connection, workspace: str, name: str, more: int) -> int:
    """A counter after so many more. Its row stays locked until the commit."""
    given = {"workspace": workspace, "name": name, "more": more}
    return int(connection.execute(_counted(connection.dialect.name), given).scalar_one())


def put_if_new(connection: Connection, table: Table, key: dict[str, Any], row: dict[str, Any]) -> None:
    connection.execute(_put(connection.dialect.name, table, tuple(key), tuple(row)), key | row)


@cache
def _put(dialect: str, table: Table, key: tuple[str, ...], row: tuple[str, ...]) -> Executable:
    statement = _insert(dialect, table).values({name: bindparam(name) for name in key + row})
    return _executable(statement.on_conflict_do_nothing(index_elements=key))


@cache
def _counted(dialect: str) -> Executable:
    table = schema.counters
    columns = {"workspace": "workspace", "name": "name", "value": "more"}
    statement = _insert(dialect, table).values({column: bindparam(name) for column, name in columns.items()})
    so_many = {"value": table.c.value + statement.excluded.value}
    more = statement.on_conflict_do_update(index_elements=["workspace", "name"], set_=so_many)
    return _executable(more.returning(table.c.value))


def _insert(dialect: str, table: Table) -> Any:
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def _executable(statement: Any) -> Executable:
    assert isinstance(statement, Executable)
    return statement


def known_ids(engine: Engine, scope: Scope, kind: IdKind, beginnings: Sequence[str]) -> list[str]:
    """Within a scope; of dreams everybody's, which who runs the machine may name."""
    table = _TABLES[kind]
    asked = select(table.c.id).where(or_(*(table.c.id.startswith(one, autoescape=True) for one in beginnings)))
    if kind == "dream":
        with reading_across(engine, "nights") as connection:
            return list(connection.execute(asked.distinct()).scalars())
    asked = asked.filter_by(workspace=scope.workspace)
    if scope.user is not None:
        asked = asked.filter_by(user=scope.user)
    with reading(engine, scope) as connection:
        return list(connection.execute(asked.distinct()).scalars())
