"""The ledger's table: rows are added at the end, inside the transaction of what they tell of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from reverie.adapters.database.schema import ledger
from reverie.adapters.database.transactions import reading
from reverie.adapters.database.upsert import next_number
from reverie.history.ledger import BEGINNING, Row
from reverie.kernel.scope import Scope

PAGE = 1_000


def append(connection: Connection, scope: Scope, kind: str, body: Mapping[str, Any], at: datetime) -> Row:
    number = next_number(connection, scope.workspace, "ledger")
    asked = select(ledger.c.hash).filter_by(workspace=scope.workspace, number=number - 1)
    previous = connection.execute(asked).scalar() or BEGINNING
    added = Row(number, at, kind, scope.user or "", body, previous).sealed()
    values = {"at": at, "kind": kind, "user": added.user, "previous": previous, "hash": added.hash}
    key = {"workspace": scope.workspace, "number": number}
    connection.execute(insert(ledger), key | values | {"body": json.dumps(body)})
    return added


def rows(engine: Engine, scope: Scope) -> Iterator[Row]:
    """All of them in order, a page at a time: a reader who stops to think holds no transaction open."""
    last = 0
    while True:
        asked = select(ledger).filter_by(workspace=scope.workspace).where(ledger.c.number > last)
        with reading(engine, scope) as connection:
            page = connection.execute(asked.order_by(ledger.c.number).limit(PAGE)).all()
        for one in page:
            yield Row(one.number, one.at, one.kind, one.user, json.loads(one.body), one.previous, one.hash)
        if not page:
            return
        last = page[-1].number
