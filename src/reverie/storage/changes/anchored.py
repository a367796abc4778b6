"""Landed Changes in the order of the ledger, each with the hash of its row there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, and_, select

from reverie.changes.history.change import Standing
from reverie.changes.history.records import Anchored
from reverie.core.errors import DatabaseUnusable
from reverie.core.scope import Scope
from reverie.storage.changes.rows import change_from_rows
from reverie.storage.database import schema
from reverie.storage.database.transactions import reading

PAGE = 100
_Sides = tuple[str, bytes | None, bytes | None]


def anchored(engine: Engine, scope: Scope, target: str, after: int) -> Iterator[Anchored]:
    """A page at a time: a reader who stops to think holds no transaction open."""
    while True:
        with reading(engine, scope) as connection:
            page = _page(connection, scope, target, after)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].change.number or 0


def _page(connection: Connection, scope: Scope, target: str, after: int) -> list[Anchored]:
    changes, rows = schema.changes, schema.ledger
    there = and_(rows.c.workspace == changes.c.workspace, rows.c.number == changes.c.number)
    asked = select(changes, rows.c.hash.label("anchor")).outerjoin(rows, there)
    asked = asked.where(changes.c.workspace == scope.workspace, changes.c.user == (scope.user or ""))
    asked = asked.where(changes.c.target == target, changes.c.standing == Standing.LANDED, changes.c.number > after)
    found = connection.execute(asked.order_by(changes.c.number).limit(PAGE)).all()
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
