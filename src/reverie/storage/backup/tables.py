"""Rows as JSON lines, out of one dialect and into either.

The tables are taken as they stand in the database, so that a backup of an older schema goes into that schema and is
migrated from there. Moments stay the numbers they are stored as.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from sqlalchemy import Column, Connection, Engine, MetaData, Table, bindparam, func, insert, inspect, select, tuple_
from sqlalchemy.exc import IntegrityError, StatementError

from reverie.changes.ledger import Row, broken_links
from reverie.storage.backup.manifest import LedgerHead, damaged
from reverie.storage.changes.ledger import row_from
from reverie.storage.database import schema
from reverie.storage.database.transactions import reading_across

PAGE = 500
_TEXT = {"ensure_ascii": False, "separators": (",", ":")}


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Everything as it was at one moment, whoever writes meanwhile."""
    postgres = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    options = postgres if engine.dialect.name == "postgresql" else {}
    with reading_across(engine, "upkeep", **options) as connection:
        yield connection


def tables(connection: Connection) -> list[Table]:
    """Ours, those that others refer to first."""
    there = set(inspect(connection).get_table_names())
    return [reflected_table(connection, table.name) for table in schema.metadata.sorted_tables if table.name in there]


def reflected_table(connection: Connection, name: str) -> Table:
    looked = inspect(connection)
    key = looked.get_pk_constraint(name)["constrained_columns"]
    found = {one["name"]: one["type"] for one in looked.get_columns(name)}
    first = [Column(part, found.pop(part), primary_key=True) for part in key]
    return Table(name, MetaData(), *first, *(Column(other, kind) for other, kind in found.items()))


def lines(connection: Connection, table: Table) -> Iterator[bytes]:
    """A page at a time, each beginning behind the key the last one ended with."""
    key = list(table.primary_key.columns)
    first = select(table).order_by(*key).limit(PAGE)
    behind = first.where(tuple_(*key) > tuple_(*(bindparam(f"last_{part.name}", type_=part.type) for part in key)))
    asked, last = first, dict[str, Any]()
    names = list(table.columns.keys())
    while True:
        count = 0
        for row in connection.execute(asked, last):
            yield json.dumps(dict(zip(names, row, strict=True)), default=_packed, **_TEXT).encode() + b"\n"  # type: ignore[arg-type]
            count += 1
        if count < PAGE:
            return
        asked, last = behind, {f"last_{part.name}": row[place] for place, part in enumerate(key)}


def insert_lines(connection: Connection, table: Table, content: IO[bytes]) -> Iterator[int]:
    """Insert what the lines say; yields how many, page by page."""
    statement, names = insert(table), set(table.columns.keys())
    page: list[dict[str, Any]] = []
    for line in content:
        page.append(_row(table, names, line))
        if len(page) == PAGE:
            _insert(connection, statement, page)
            yield len(page)
            page = []
    if page:
        _insert(connection, statement, page)
        yield len(page)


def _insert(connection: Connection, statement: Any, page: list[dict[str, Any]]) -> None:
    try:
        connection.execute(statement, page)
    except IntegrityError as error:
        raise damaged(f"the database does not take its rows ({error.orig})") from error
    except StatementError as error:
        if error.orig is None or isinstance(error.orig, TypeError | ValueError | AttributeError | OverflowError):
            raise damaged("a row has a value of another kind than its column") from error
        raise


def _row(table: Table, names: set[str], line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if row.keys() == names:
            return {
                name: base64.b64decode(value["base64"], validate=True) if isinstance(value, dict) else value
                for name, value in row.items()
            }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(f"a row of {table.name} cannot be read") from error
    raise damaged(f"a row of {table.name} has other columns than its schema")


def _packed(value: object) -> dict[str, str]:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} in a row")


# ---- the ledger ------------------------------------------------------------------------------------------------------


def heads(connection: Connection) -> dict[str, LedgerHead]:
    """The end of every workspace's chain, looked through from its beginning."""
    table = schema.ledger
    if not inspect(connection).has_table(table.name):
        return {}
    last = select(table.c.workspace, func.max(table.c.number).label("number")).group_by(table.c.workspace).subquery()
    asked = select(table.c.workspace, table.c.number, table.c.hash).join(
        last, (table.c.workspace == last.c.workspace) & (table.c.number == last.c.number)
    )
    ends = connection.execute(asked.order_by(table.c.workspace)).all()
    return {one.workspace: LedgerHead(one.number, one.hash, _whole(connection, one.workspace)) for one in ends}


def _whole(connection: Connection, workspace: str) -> bool:
    try:
        return next(broken_links(_chain(connection, workspace)), None) is None
    except (ValueError, OverflowError):  # a body or a time that nothing of ours wrote
        return False


def _chain(connection: Connection, workspace: str) -> Iterator[Row]:
    table, last = schema.ledger, None
    while True:
        asked = select(table).filter_by(workspace=workspace).order_by(table.c.number).limit(PAGE)
        page = connection.execute(asked if last is None else asked.where(table.c.number > last)).all()
        for one in page:
            yield row_from(one)
        if len(page) < PAGE:
            return
        last = page[-1].number
