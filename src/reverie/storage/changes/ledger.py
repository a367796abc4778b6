"""The ledger's table, and Changes as rows of it: what is asked for by name has a column, the rest is JSON.

Rows are added at the end, inside the transaction of what they tell of.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, and_, insert, select, update

from reverie.changes.history.change import (
    Change,
    Edit,
    Grounds,
    Standing,
    Via,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.changes.history.ledger import BEGINNING, Row
from reverie.changes.history.records import Anchored
from reverie.core.errors import DatabaseUnusable
from reverie.core.origin import Origin
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.queries import next_number
from reverie.storage.database.schema import ledger
from reverie.storage.database.transactions import reading

PAGE = 1_000
EMPTIED = ""
CHANGES_AT_ONCE = 100
_Sides = tuple[str, bytes | None, bytes | None]


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


def change_details(change: Change) -> str:
    grounds = change.grounds
    return json.dumps(  # escaped: a document may hold bytes that no database takes as text
        {
            "operations": [operation_as_json(one) for one in change.operations],
            "evidence": evidence_as_json(grounds.evidence),
            "reason": grounds.reason,
            "origin": grounds.origin,
            "approved_by": grounds.approved_by,
            "because": grounds.because,
            "policy": grounds.policy,
            "note": change.note,
            "form": change.form,
        }
    )


def change_from_rows(found: Any, sides: Iterable[tuple[str, bytes | None, bytes | None]]) -> Change:
    told = json.loads(found.details)
    grounds = Grounds(
        found.actor,
        Via(found.via),
        told["reason"],
        Origin(told["origin"]) if told["origin"] else None,
        evidence_from_json(told["evidence"]),
        found.proposal,
        found.dream,
        found.undoes,
        told["approved_by"],
        told["because"],
        told["policy"],
    )
    return Change(
        found.id,
        found.target,
        found.subject,
        tuple(Edit(*side) for side in sides),
        grounds,
        found.intended_at,
        tuple(operation_from_json(one) for one in told["operations"]),
        told["form"],
        Standing(found.standing),
        found.number,
        found.settled_at,
        told["note"],
    )


def anchored(engine: Engine, scope: Scope, target: str, after: int) -> Iterator[Anchored]:
    """A page at a time: a reader who stops to think holds no transaction open."""
    while True:
        with reading(engine, scope) as connection:
            page = _page(connection, scope, target, after)
        yield from page
        if len(page) < CHANGES_AT_ONCE:
            return
        after = page[-1].change.number or 0


def _page(connection: Connection, scope: Scope, target: str, after: int) -> list[Anchored]:
    changes, rows = schema.changes, schema.ledger
    there = and_(rows.c.workspace == changes.c.workspace, rows.c.number == changes.c.number)
    asked = select(changes, rows.c.hash.label("anchor")).outerjoin(rows, there)
    asked = asked.where(changes.c.workspace == scope.workspace, changes.c.user == (scope.user or ""))
    asked = asked.where(changes.c.target == target, changes.c.standing == Standing.LANDED, changes.c.number > after)
    found = connection.execute(asked.order_by(changes.c.number).limit(CHANGES_AT_ONCE)).all()
    sides = _sides(connection, scope, [one.id for one in found])
    return [Anchored(change_from_rows(one, sides.get(one.id, [])), _anchor(one)) for one in found]


def _sides(connection: Connection, scope: Scope, changes: list[str]) -> dict[str, list[_Sides]]:
    """The bytes on both sides of every edit of these Changes, in one question."""
    edits, before, after = schema.edits, schema.blobs.alias("b"), schema.blobs.alias("a")
    asked = select(edits.c.change_id, edits.c.document, before.c.content.label("b"), after.c.content.label("a"))
    joined: Any = edits
    for blobs, name in ((before, edits.c.before), (after, edits.c.after)):
        same = and_(blobs.c.workspace == edits.c.workspace, blobs.c.user == edits.c.user, blobs.c.sha256 == name)
        joined = joined.outerjoin(blobs, same)
    asked = asked.select_from(joined).where(edits.c.workspace == scope.workspace, edits.c.user == (scope.user or ""))
    sides: dict[str, list[_Sides]] = {}
    for one in connection.execute(asked.where(edits.c.change_id.in_(changes)).order_by(edits.c.place)):
        sides.setdefault(one.change_id, []).append((one.document, _bytes(one.b), _bytes(one.a)))
    return sides


def _bytes(content: Any) -> bytes | None:
    return None if content is None else bytes(content)


def _anchor(found: Any) -> str:
    if found.anchor is None:
        raise DatabaseUnusable(
            f"Row {found.number} of the ledger is missing: it told of {found.id}.",
            next_step="`reverie verify` says more.",
        )
    return str(found.anchor)
