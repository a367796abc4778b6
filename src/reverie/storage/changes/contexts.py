"""What sessions were given: implements `reverie.changes.session_context.Contexts`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, insert, select

from reverie.changes.session_context import ContextRequest, GivenContext
from reverie.core.clock import Clock
from reverie.core.hashes import sha256
from reverie.core.scope import Scope
from reverie.storage.changes import ledger
from reverie.storage.database import schema
from reverie.storage.database.queries import owner_key, put_if_new
from reverie.storage.database.transactions import reading, writing


class SqlContexts:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def keep(self, scope: Scope, given: GivenContext) -> None:
        owner = owner_key(scope)
        content = given.text.encode("utf-8", "surrogateescape")
        name = sha256(content)
        details = {part: getattr(given, part) for part in ("skills", "left_out", "withheld")}
        with writing(self._engine, scope) as connection:
            put_if_new(connection, schema.blobs, owner | {"sha256": name}, {"content": content})
            body = {"context": given.id, "session": given.session, "actor": scope.actor}
            row = ledger.append_to_ledger(connection, scope, "context", body, self._clock.now())
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
            return _given(found, bytes(connection.execute(blob).scalar_one()))


def _given(found: Any, content: bytes) -> GivenContext:
    told = json.loads(found.asked)
    details = {part: tuple(told.pop(part)) for part in ("skills", "left_out", "withheld")}
    asked = ContextRequest(told["task"], tuple(told["tags"]), told["budget"], tuple(told["targets"]))
    text = content.decode("utf-8", "surrogateescape")
    return GivenContext(found.id, found.at, found.session, asked, text, **details)
