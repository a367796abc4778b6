"""Transcripts in SQL: implements `reverie.sessions.records.Records`.

The newest revision is what everyone sees. A write compares the incoming turns with the stored ones as both stream
past: an equal prefix with more behind it is growth; a difference starts a new revision that copies the prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, bindparam, delete, insert, literal, select, text, update

from reverie.adapters.database import schema
from reverie.adapters.database.rows import TURN_ROW, head_values, stored_of, turn_of, turn_row
from reverie.adapters.database.transactions import reading, writing
from reverie.adapters.database.upsert import next_change, upsert
from reverie.kernel.clock import Clock
from reverie.kernel.errors import BadInput, NotFound
from reverie.kernel.hashes import sha256
from reverie.kernel.scope import Scope
from reverie.sessions.records import Fate, Stored, Wanted
from reverie.sessions.session import Head, Session, Turn, same_words

_PAGE = 500

# The statements of every write, built once: building them costs more than running them.
_ANY_USERS = select(schema.sessions).where(
    schema.sessions.c.workspace == bindparam("w"), schema.sessions.c.id == bindparam("i")
)
_NEXT_PAGE = (
    select(schema.turns)
    .where(schema.turns.c.workspace == bindparam("w"), schema.turns.c.user == bindparam("u"))
    .where(schema.turns.c.session_id == bindparam("i"), schema.turns.c.revision == bindparam("r"))
    .where(schema.turns.c.number > bindparam("last"))
    .order_by(schema.turns.c.number)
    .limit(_PAGE)
)
_ONE_USERS = _ANY_USERS.where(schema.sessions.c.user == bindparam("u"))


class SqlRecords:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def known(self, scope: Scope, session_id: str) -> Stored | None:
        with reading(self._engine, scope) as connection:
            return _known(connection, scope, session_id)

    def write(
        self,
        scope: Scope,
        head: Head,
        turns: Iterable[Turn],
        *,
        source: str | None,
        finish: Callable[[], Head],
    ) -> tuple[Fate, int]:
        with writing(self._engine, scope) as connection:
            _alone_with(connection, scope, head.id)
            old = _known(connection, scope, head.id)
            incoming = iter(turns)
            fate: Fate = "new"
            revision, kept = (old.revision + 1 if old else 1), 0
            if old and not old.removed:
                fate, kept, incoming = _compared(_pages(connection, scope, old), incoming)
                revision = old.revision + (fate == "rewritten")
                if fate == "rewritten":
                    _copy_prefix(connection, scope, old, kept)
            added = _append(connection, scope, head.id, revision, incoming)
            final = finish()
            if fate == "grown" and not added:
                fate = "unchanged"
                if old and head_values(old.head) == head_values(final):
                    return fate, 0
            row = head_values(final) | {"source": source, "revision": revision, "turns": kept + added}
            self._keep_head(connection, scope, head.id, row)
            return fate, added

    def _keep_head(self, connection: Connection, scope: Scope, session_id: str, row: dict[str, Any]) -> None:
        key = {"workspace": scope.workspace, "user": scope.user, "id": session_id}
        always = {"removed_at": None, "changed": next_change(connection, scope.workspace)}
        upsert(connection, schema.sessions, key, row | always, only_when_new={"added_at": self._clock.now()})

    def read(self, scope: Scope, session_id: str, revision: int | None = None) -> Session:
        with reading(self._engine, scope) as connection:
            stored = _required(connection, scope, session_id)
            chosen = revision or stored.revision
            turns = tuple(_pages(connection, scope, stored, chosen))
            if not turns and chosen != stored.revision:
                raise NotFound(
                    f"{session_id} has no revision {chosen}.",
                    expected=f"a revision from 1 to {stored.revision}",
                )
            return Session(stored.head, turns, chosen)

    def exchange(self, scope: Scope, session_id: str, numbers: Iterable[int]) -> tuple[Stored | None, dict[int, Turn]]:
        with reading(self._engine, scope) as connection:
            stored = _known(connection, scope, session_id)
            if stored is None or stored.removed:
                return None, {}
            wanted = _of_revision(scope, stored, stored.revision) & schema.turns.c.number.in_(list(numbers))
            rows = connection.execute(select(schema.turns).where(wanted))
            return stored, {row.number: turn_of(row) for row in rows}

    def every_turn(self, scope: Scope, stored: Stored) -> Iterator[Turn]:
        with reading(self._engine, scope) as connection:
            yield from _pages(connection, scope, stored)

    def find(self, scope: Scope, wanted: Wanted) -> Iterator[Stored]:
        table = schema.sessions
        asked = select(table).where(_mine(table, scope), table.c.removed_at.is_(None), *_conditions(wanted))
        newest_first = (table.c.started_at.is_(None), table.c.started_at.desc(), table.c.changed.desc())
        with reading(self._engine, scope) as connection:
            for row in connection.execute(asked.order_by(*newest_first).limit(wanted.limit)):
                yield stored_of(row)

    def changed_since(self, scope: Scope, cursor: int) -> Iterator[Stored]:
        table = schema.sessions
        while True:
            asked = select(table).where(_mine(table, scope), table.c.changed > cursor)
            with reading(self._engine, scope) as connection:
                rows = connection.execute(asked.order_by(table.c.changed).limit(_PAGE)).all()
            if not rows:
                return
            yield from map(stored_of, rows)
            cursor = rows[-1].changed

    def remove(self, scope: Scope, session_id: str) -> None:
        with writing(self._engine, scope) as connection:
            stored = _required(connection, scope, session_id)
            mine = _mine(schema.turns, scope.of(stored.user))
            connection.execute(delete(schema.turns).where(mine, schema.turns.c.session_id == session_id))
            if stored.source:
                of_source = schema.files.c.path == stored.source
                connection.execute(delete(schema.files).where(_mine(schema.files, scope), of_source))
            emptied = dict.fromkeys(("title", "facts", "outcome", "parent", "agent", "project", "project_path"))
            mark = {
                "removed_at": self._clock.now(),
                "turns": 0,
                "changed": next_change(connection, scope.workspace),
            }
            row = and_(_mine(schema.sessions, scope.of(stored.user)), schema.sessions.c.id == session_id)
            connection.execute(update(schema.sessions).where(row).values(**emptied, **mark))


def _mine(table: Any, scope: Scope) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = table.c.workspace == scope.workspace
    return mine if scope.user is None else mine & (table.c.user == scope.user)


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    table, conditions = schema.sessions, []
    if wanted.harness is not None:
        conditions.append(table.c.harness == wanted.harness)
    if wanted.project is not None:
        conditions.append(table.c.project == wanted.project)
    if wanted.since is not None:
        conditions.append(table.c.started_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(table.c.started_at < wanted.until)
    return conditions


def _alone_with(connection: Connection, scope: Scope, session_id: str) -> None:
    """On Postgres two writers of one session take turns; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        key = int(sha256(f"{scope.workspace}\0{scope.user}\0{session_id}")[:15], 16)
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": key})


def _known(connection: Connection, scope: Scope, session_id: str) -> Stored | None:
    sought = _ONE_USERS if scope.user is not None else _ANY_USERS
    rows = connection.execute(sought, {"w": scope.workspace, "u": scope.user, "i": session_id}).all()
    if len(rows) > 1:
        raise BadInput(
            f"{len(rows)} users have a session {session_id}: {', '.join(row.user for row in rows[:5])}.",
            next_step="Say which one with --user.",
        )
    return stored_of(rows[0]) if rows else None


def _required(connection: Connection, scope: Scope, session_id: str) -> Stored:
    stored = _known(connection, scope, session_id)
    if stored is None or stored.removed:
        raise NotFound(
            f"There is no session {session_id}{f' of {scope.user}' if scope.user else ''}.",
            next_step="`reverie sessions list` shows what there is.",
        )
    return stored


def _of_revision(scope: Scope, stored: Stored, revision: int) -> ColumnElement[bool]:
    table = schema.turns
    return and_(
        _mine(table, scope.of(stored.user)),
        table.c.session_id == stored.head.id,
        table.c.revision == revision,
    )


def _pages(connection: Connection, scope: Scope, stored: Stored, revision: int | None = None) -> Iterator[Turn]:
    key = {"w": scope.workspace, "u": stored.user, "i": stored.head.id, "r": revision or stored.revision}
    last = 0
    while True:
        rows = connection.execute(_NEXT_PAGE, key | {"last": last}).all()
        yield from map(turn_of, rows)
        if len(rows) < _PAGE:
            return
        last = rows[-1].number


def _compared(stored: Iterator[Turn], incoming: Iterator[Turn]) -> tuple[Fate, int, Iterator[Turn]]:
    """How the incoming transcript stands to the stored one, how many turns agree, and what is left to append."""
    agreed = 0
    for old in stored:
        new = next(incoming, None)
        if new is None:
            return "rewritten", agreed, iter(())
        if not same_words(old, new):
            return "rewritten", agreed, chain([new], incoming)
        agreed += 1
    return "grown", agreed, incoming


def _copy_prefix(connection: Connection, scope: Scope, old: Stored, count: int) -> None:
    table = schema.turns
    columns = [literal(old.revision + 1) if c.name == "revision" else c for c in table.columns]
    prefix = select(*columns).where(_of_revision(scope, old, old.revision), table.c.number <= count)
    connection.execute(insert(table).from_select([c.name for c in table.columns], prefix))


def _append(connection: Connection, scope: Scope, session_id: str, revision: int, turns: Iterator[Turn]) -> int:
    """Rows go to the driver as they are: between them and it, half of the time of a large `add` would be spent."""
    key = (scope.workspace, scope.user, session_id, revision)
    statement, added = _insert_text(connection.dialect.name), 0
    while page := [key + turn_row(turn) for turn in islice(turns, _PAGE)]:
        connection.exec_driver_sql(statement, page)
        added += len(page)
    return added


@cache
def _insert_text(dialect: str) -> str:
    names = ("workspace", "user", "session_id", "revision", *TURN_ROW)
    columns = ", ".join(f'"{name}"' for name in names)
    places = ", ".join(["%s" if dialect == "postgresql" else "?"] * len(names))
    return f"insert into turns ({columns}) values ({places})"
