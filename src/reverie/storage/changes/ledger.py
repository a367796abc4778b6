"""The ledger's table: rows are added at the end, inside the transaction of what they tell of."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update

from reverie.changes.history.records import BEGINNING, Row
from reverie.core.scope import Scope
from reverie.storage.database.schema import ledger
from reverie.storage.database.transactions import reading
from reverie.storage.database.upsert import next_number

PAGE = 1_000
EMPTIED = ""


def append_to_ledger(connection: Connection, scope: Scope, kind: str, body: Mapping[str, Any], at: datetime) -> Row:
    number = next_number(connection, scope.workspace, "ledger")
    asked = select(ledger.c.hash).filter_by(workspace=scope.workspace, number=number - 1)
    previous = connection.execute(asked).scalar() or BEGINNING
    added = Row(number, at, kind, scope.user or "", body, previous).salted(secrets.token_hex(16)).sealed()
    values = {"at": at, "kind": kind, "user": added.user, "previous": previous, "hash": added.hash}
    values |= {"salt": added.salt, "details": added.details}
    key = {"workspace": scope.workspace, "number": number}
    connection.execute(insert(ledger), key | values | {"body": json.dumps(body)})
    return added


def emptied(connection: Connection, scope: Scope, numbers: Iterable[int]) -> None:
    """Take out whose rows these are and what they say. Their hashes stay; a row of the kind `erasure` has to name
    them."""
    for number in sorted(numbers):
        row = update(ledger).filter_by(workspace=scope.workspace, number=number)
        connection.execute(row.values(user="", body=EMPTIED, salt=None))


def row_from(one: Any) -> Row:
    erased = one.body == EMPTIED
    body = {} if erased else json.loads(one.body)
    return Row(one.number, one.at, one.kind, one.user, body, one.previous, one.hash, one.salt, one.details, erased)


def rows(engine: Engine, scope: Scope) -> Iterator[Row]:
    """All of them in order, a page at a time: a reader who stops to think holds no transaction open."""
    last = 0
    while True:
        asked = select(ledger).filter_by(workspace=scope.workspace).where(ledger.c.number > last)
        with reading(engine, scope) as connection:
            page = connection.execute(asked.order_by(ledger.c.number).limit(PAGE)).all()
        for one in page:
            yield row_from(one)
        if not page:
            return
        last = page[-1].number
