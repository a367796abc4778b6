"""The ledger's table, Changes as rows of it, and what sessions were given: implements
`reverie.changes.session_context.Contexts`.

What is asked for by name has a column, the rest is JSON.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, and_, insert, select, update

from reverie.changes.ledger import (
    BEGINNING,
    Anchored,
    Change,
    Edit,
    Grounds,
    Row,
    Standing,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.changes.session_context import ContextRequest, GivenContext
from reverie.core.errors import DatabaseUnusable
from reverie.core.ids import from_json, sha256, values_of
from reverie.core.scope import Scope
from reverie.storage import schema
from reverie.storage.database import SqlAdapter, next_number, owner_key, put_if_new, reading, writing
from reverie.storage.schema import ledger

PAGE = 1_000
EMPTIED = ""
CHANGES_AT_ONCE = 100
CONTENTS_AT_ONCE = 500  # changes, or contents, that are read with one question


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
    told = values_of(grounds, ("reason", "origin", "approved_by", "because", "policy"))
    told |= {"note": change.note, "form": change.form, "evidence": evidence_as_json(grounds.evidence)}
    told["operations"] = [operation_as_json(one) for one in change.operations]
    return json.dumps(told)  # escaped: a document may hold bytes that no database takes as text


def _change(found: Any, sides: Iterable[tuple[str, bytes | None, bytes | None]]) -> Change:
    told = {**found._mapping, **json.loads(found.details)}
    told["evidence"] = evidence_from_json(told["evidence"])
    told["operations"] = map(operation_from_json, told["operations"])
    edits = tuple(Edit(*side) for side in sides)
    return from_json(Change, told | {"edits": edits, "grounds": from_json(Grounds, told)})


def changes_from_rows(connection: Connection, scope: Scope, found: Sequence[Any]) -> list[Change]:
    """Changes with their edits and the bytes on both sides, read for many at once."""
    loaded = list[Change]()
    for start in range(0, len(found), CONTENTS_AT_ONCE):
        rows = found[start : start + CONTENTS_AT_ONCE]
        theirs = schema.edits.c.change_id.in_([one.id for one in rows])
        chosen = select(schema.edits).filter_by(**owner_key(scope)).where(theirs).order_by(schema.edits.c.place)
        edits = connection.execute(chosen).all()
        names = list({name for one in edits for name in (one.before, one.after) if name is not None})
        blobs = select(schema.blobs.c.sha256, schema.blobs.c.content).filter_by(**owner_key(scope))
        contents = dict[str, bytes]()
        for first in range(0, len(names), CONTENTS_AT_ONCE):  # a change of a skill may be of many files
            read = connection.execute(blobs.where(schema.blobs.c.sha256.in_(names[first : first + CONTENTS_AT_ONCE])))
            contents |= {name: bytes(content) for name, content in read}
        sides = dict[str, list[tuple[str, bytes | None, bytes | None]]]()
        for one in edits:
            before, after = contents.get(one.before), contents.get(one.after)
            sides.setdefault(one.change_id, []).append((one.document, before, after))
        loaded += [_change(one, sides.get(one.id, ())) for one in rows]
    return loaded


def anchored(engine: Engine, scope: Scope, target: str, after: int) -> Iterator[Anchored]:
    """A page at a time: a reader who stops to think holds no transaction open."""
    changes, rows = schema.changes, schema.ledger
    there = and_(rows.c.workspace == changes.c.workspace, rows.c.number == changes.c.number)
    asked = select(changes, rows.c.hash.label("anchor")).outerjoin(rows, there)
    asked = asked.where(changes.c.workspace == scope.workspace, changes.c.user == (scope.user or ""))
    asked = asked.where(changes.c.target == target, changes.c.standing == Standing.LANDED)
    asked = asked.order_by(changes.c.number).limit(CHANGES_AT_ONCE)
    while True:
        with reading(engine, scope) as connection:
            found = connection.execute(asked.where(changes.c.number > after)).all()
            loaded = changes_from_rows(connection, scope, found)
        if missing := next((one for one in found if one.anchor is None), None):
            raise DatabaseUnusable(
                f"Row {missing.number} of the ledger is missing: it told of {missing.id}.",
                next_step="`reverie verify` says more.",
            )
        yield from (Anchored(change, str(one.anchor)) for change, one in zip(loaded, found, strict=True))
        if len(loaded) < CHANGES_AT_ONCE:
            return
        after = loaded[-1].number or 0


class SqlContexts(SqlAdapter):
    def keep(self, scope: Scope, given: GivenContext) -> None:
        owner = owner_key(scope)
        content = given.text.encode("utf-8", "surrogateescape")
        name = sha256(content)
        details = values_of(given, ("skills", "left_out", "withheld"))
        with writing(self._engine, scope) as connection:
            put_if_new(connection, schema.blobs, owner | {"sha256": name}, {"content": content})
            body = {"context": given.id, "session": given.session, "actor": scope.actor}
            row = append_to_ledger(connection, scope, "context", body, self._clock.now())
            values = {"id": given.id, "number": row.number, "session": given.session, "at": given.at, "sha256": name}
            told = json.dumps(asdict(given.asked) | details)
            connection.execute(insert(schema.contexts), owner | values | {"asked": told})

    def last(self, scope: Scope, session: str | None = None, until: datetime | None = None) -> GivenContext | None:
        table = schema.contexts
        owner = owner_key(scope)
        asked = select(table).filter_by(**owner).order_by(table.c.number.desc()).limit(1)
        if session is not None:
            asked = asked.filter_by(session=session)
        if until is not None:
            asked = asked.where(table.c.at <= until)
        with reading(self._engine, scope) as connection:
            found = connection.execute(asked).first()
            if found is None:
                return None
            blob = select(schema.blobs.c.content).filter_by(**owner, sha256=found.sha256)
            told = json.loads(found.asked)
            text = bytes(connection.execute(blob).scalar_one()).decode("utf-8", "surrogateescape")
            asked_for = from_json(ContextRequest, told)
            return from_json(GivenContext, {**found._mapping, **told, "asked": asked_for, "text": text})
