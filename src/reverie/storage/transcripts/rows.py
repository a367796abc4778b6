"""The rows of a session: read page by page, compared, copied and added. No page is larger than memory should be."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, and_, bindparam, insert, literal, select, tuple_

from reverie.core.clock import Clock
from reverie.core.errors import BadInput
from reverie.core.origin import Origin
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.queries import mine, next_change, upsert
from reverie.storage.database.schema import microseconds
from reverie.storage.database.transactions import reading
from reverie.transcripts.records import Fate, Stored
from reverie.transcripts.session import Head, Said, ToolCall, Turn, same_words

PAGE = 500
PAGE_CHARACTERS = 1_000_000
_EVERY = (1 << 31) - 1
_LEAST = 200
Page = tuple[list[Turn], bool]

# The statements of every write, built once: building them costs more than running them.
_ANY_USERS = select(schema.sessions).where(
    schema.sessions.c.workspace == bindparam("w"), schema.sessions.c.id == bindparam("i")
)
_ONE_USERS = _ANY_USERS.where(schema.sessions.c.user == bindparam("u"))
_OF_REVISION = (
    select(schema.turns)
    .where(schema.turns.c.workspace == bindparam("w"), schema.turns.c.user == bindparam("u"))
    .where(schema.turns.c.session_id == bindparam("i"), schema.turns.c.revision == bindparam("r"))
)
_THESE = _OF_REVISION.where(schema.turns.c.number.in_(bindparam("numbers", expanding=True)))
_NEXT_PAGE = (
    _OF_REVISION.where(schema.turns.c.number > bindparam("last"), schema.turns.c.number <= bindparam("most"))
    .order_by(schema.turns.c.number)
    .limit(PAGE)
    .execution_options(stream_results=True, max_row_buffer=20)
)


TURN_ROW = ("number", "role", "origin", "name", "at", "noise", "detail", "text")


def known(connection: Connection, scope: Scope, session_id: str) -> Stored | None:
    sought = _ONE_USERS if scope.user is not None else _ANY_USERS
    rows = connection.execute(sought, {"w": scope.workspace, "u": scope.user, "i": session_id}).all()
    if len(rows) > 1:
        raise BadInput(
            f"{len(rows)} users have a session {session_id}: {', '.join(row.user for row in rows[:5])}.",
            next_step="Say which one with --user.",
        )
    return stored_of(rows[0]) if rows else None


def of_revision(scope: Scope, stored: Stored, revision: int) -> ColumnElement[bool]:
    table = schema.turns
    return and_(
        mine(table, scope.of(stored.user)),
        table.c.session_id == stored.head.id,
        table.c.revision == revision,
    )


def pages(
    engine: Engine, scope: Scope, stored: Stored, revision: int | None = None, first: Page = ([], True)
) -> Iterator[Turn]:
    """Every turn in order, each page in a transaction of its own: the turns of a revision never change. `first` is the
    first page, if that was read already."""
    page, more = first
    yield from page
    while more:
        last = page[-1].number if page else 0
        with reading(engine, scope) as connection:
            page, more = next_page(connection, scope, stored, revision, last)
        yield from page


def pages_within(connection: Connection, scope: Scope, stored: Stored) -> Iterator[Turn]:
    """The same in one transaction that is open already."""
    last, more = 0, True
    while more:
        page, more = next_page(connection, scope, stored, None, last)
        yield from page
        last = page[-1].number if page else last


def next_page(connection: Connection, scope: Scope, stored: Stored, revision: int | None, last: int) -> Page:
    """The next turns, and whether there may be more. Those beyond the session's count are not part of it yet."""
    chosen = revision or stored.revision
    most = stored.turns if chosen == stored.revision else _EVERY
    key = {"w": scope.workspace, "u": stored.user, "i": stored.head.id, "r": chosen, "last": last, "most": most}
    with connection.execute(_NEXT_PAGE, key) as found:
        page = take_page(map(turn_of, found), PAGE)
    return page, bool(page) and (len(page) == PAGE or sum(map(_length, page)) >= PAGE_CHARACTERS)


def these_turns(connection: Connection, scope: Scope, stored: Stored, numbers: Iterable[int]) -> Iterator[Turn]:
    key = {"w": scope.workspace, "u": stored.user, "i": stored.head.id, "r": stored.revision}
    return map(turn_of, connection.execute(_THESE, key | {"numbers": list(numbers)}))


def read_turns(
    connection: Connection, scope: Scope, sessions: Mapping[str, Stored], wanted: Mapping[str, Collection[int]]
) -> Iterator[tuple[str, Turn]]:
    """Turns of several sessions of one person, each with its session."""
    table = schema.turns.c
    keys = [(name, one.revision, number) for name, one in sessions.items() for number in wanted[name]]
    some = table.session_id.in_(list(sessions)) & table.number.in_({number for _, _, number in keys})
    asked = select(schema.turns).where(mine(schema.turns, scope), some)
    asked = asked.where(tuple_(table.session_id, table.revision, table.number).in_(keys))
    for row in connection.execute(asked) if keys else ():
        yield row.session_id, turn_of(row)


def take_page(turns: Iterator[Turn], most: int) -> list[Turn]:
    """The next turns, no more than so many and no more characters than a page has."""
    page, left = list[Turn](), PAGE_CHARACTERS
    while len(page) < most and left > 0 and (turn := next(turns, None)) is not None:
        page.append(turn)
        left -= _length(turn)
    return page


def beginning(turns: Iterator[Turn], most: int) -> Iterator[Turn]:
    """As many turns as have so many characters. A short one counts for what it takes in memory."""
    for turn in turns:
        most -= max(_length(turn), _LEAST)
        if most < 0:
            return
        yield turn


def _length(turn: Turn) -> int:
    return len(turn.text) + sum(len(call.arguments) for call in turn.said.calls)


def compare_turns(stored: Iterator[Turn], incoming: Iterator[Turn]) -> tuple[Fate, int, Iterator[Turn]]:
    """Compare the incoming transcript with the stored one: how many turns agree, and what is left to append."""
    agreed = 0
    for old in stored:
        new = next(incoming, None)
        if new is None:
            return "rewritten", agreed, iter(())
        if not same_words(old, new):
            return "rewritten", agreed, chain([new], incoming)
        agreed += 1
    return "grown", agreed, incoming


def copy_prefix(connection: Connection, scope: Scope, old: Stored, after: int, to: int) -> None:
    """Turns of the newest revision into the one behind it."""
    table = schema.turns
    columns = [literal(old.revision + 1) if c.name == "revision" else c for c in table.columns]
    part = select(*columns).where(of_revision(scope, old, old.revision), table.c.number > after, table.c.number <= to)
    connection.execute(insert(table).from_select([c.name for c in table.columns], part))


def insert_turns(connection: Connection, scope: Scope, session_id: str, revision: int, turns: Iterable[Turn]) -> None:
    """Rows go to the driver as they are: between them and it, half of the time of a large `add` would be spent."""
    key = (scope.workspace, scope.user, session_id, revision)
    if rows := [key + turn_row(turn) for turn in turns]:
        connection.exec_driver_sql(_insert_text(connection.dialect.name), rows)


@cache
def _insert_text(dialect: str) -> str:
    names = ("workspace", "user", "session_id", "revision", *TURN_ROW)
    columns = ", ".join(f'"{name}"' for name in names)
    places = ", ".join(["%s" if dialect == "postgresql" else "?"] * len(names))
    return f"insert into turns ({columns}) values ({places})"


@dataclass(frozen=True, slots=True)
class Written:
    """The result of storing a transcript: how it stands to `old`, and how many turns which revision has now."""

    fate: Fate
    old: Stored | None
    revision: int
    count: int
    source: str | None
    head: Head


def keep_head(connection: Connection, clock: Clock, scope: Scope, written: Written) -> None:
    """Store the head of a session, if any of it is news."""
    head, old = head_values(written.head), written.old
    if written.fate == "unchanged" and old and head_values(old.head) == head:
        return
    key = {"workspace": scope.workspace, "user": scope.user, "id": written.head.id}
    count = {"source": written.source, "revision": written.revision, "turns": written.count, "removed_at": None}
    row = head | count | {"changed": next_change(connection, scope.workspace)}
    upsert(connection, schema.sessions, key, row, only_when_new={"added_at": clock.now()})


def turn_row(turn: Turn) -> tuple[object, ...]:
    """The values of TURN_ROW as the driver takes them."""
    said = turn.said
    at = None if said.at is None else microseconds(said.at)
    return turn.number, said.role, turn.origin.value, said.name, at, said.noise, _detail(said), said.text


def _detail(said: Said) -> str | None:
    if not said.calls and said.answers is None and said.failed is None:
        return None
    detail: dict[str, Any] = {}
    if said.calls:
        detail["calls"] = [[call.name, call.arguments, call.id] for call in said.calls]
    if said.answers is not None:
        detail["answers"] = said.answers
    if said.failed is not None:
        detail["failed"] = said.failed
    return json.dumps(detail, ensure_ascii=False, separators=(",", ":"))


def turn_of(row: Row[Any]) -> Turn:
    detail = json.loads(row.detail) if row.detail else {}
    said = Said(
        role=row.role,
        text=row.text,
        name=row.name,
        at=row.at,
        calls=tuple(ToolCall(*call) for call in detail.get("calls", ())),
        answers=detail.get("answers"),
        failed=detail.get("failed"),
        noise=row.noise,
    )
    return Turn(row.number, said, Origin(row.origin))


def head_values(head: Head) -> dict[str, Any]:
    return {
        "harness": head.harness,
        "agent": head.agent,
        "title": head.title,
        "started_at": head.started_at,
        "ended_at": head.ended_at,
        "parent": head.parent,
        "outcome": head.outcome,
        "facts": json.dumps(dict(head.facts), ensure_ascii=False, sort_keys=True) if head.facts else None,
        "project": head.project,
        "project_path": head.project_path,
    }


def stored_of(row: Row[Any]) -> Stored:
    return Stored(
        head=_head(row._mapping),
        user=row.user,
        revision=row.revision,
        turns=row.turns,
        source=row.source,
        changed=row.changed,
        removed=row.removed_at is not None,
    )


def _head(row: Mapping[Any, Any]) -> Head:
    return Head(
        id=row["id"],
        user=row["user"],
        harness=row["harness"],
        agent=row["agent"],
        title=row["title"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        parent=row["parent"],
        outcome=row["outcome"],
        facts=json.loads(row["facts"]) if row["facts"] else {},
        project=row["project"],
        project_path=row["project_path"],
    )
