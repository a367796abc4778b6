"""The rows of a session: read page by page, compared, copied and added. No page is larger than memory should be.

A long transcript is stored in many short transactions, so that nobody else's write waits for all of it. Until the last
one nobody sees any of it: a session has as many turns as its row says. A row of `arrivals` says that turns are being
stored beyond that, and a lock that dies with its holder says whether by someone who is still alive. What a killed one
left behind is taken out by the next write of that session, or by `clear_abandoned`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    literal,
    select,
    tuple_,
)

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, StillLocked
from reverie.core.ids import from_json, sha256, values_of
from reverie.core.scope import Origin, Scope
from reverie.storage import schema
from reverie.storage.database import held_across, hold, mine, next_change, owner_key, reading, upsert, writing
from reverie.storage.schema import microseconds
from reverie.system.files import flocked
from reverie.transcripts.records import Fate, Quarantined, SessionBusy, Stored
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
_HEAD = ("harness", "agent", "title", "started_at", "ended_at", "parent", "outcome", "project", "project_path")
TURN_ROW = ("number", "role", "origin", "name", "at", "noise", "detail", "text")
STEP_TURNS = 100  # the longest that anyone else's write waits; a longer step makes an import no quicker
AT_ONCE_TURNS = 500  # a transcript of so many is written in one transaction: that is less work than steps are
PATIENCE_SECONDS = 300.0


def known(connection: Connection, scope: Scope, session_id: str) -> Stored | None:
    sought = _ONE_USERS if scope.user is not None else _ANY_USERS
    rows = connection.execute(sought, {"w": scope.workspace, "u": scope.user, "i": session_id}).all()
    if len(rows) > 1:
        raise BadInput(
            f"{len(rows)} users have a session {session_id}: {', '.join(row.user for row in rows[:5])}.",
            next_step="Say which one with --user.",
        )
    return stored_of(rows[0]) if rows else None


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
    key = _key(scope.of(old.user), old.head.id) | {"revision": old.revision}
    part = select(*columns).filter_by(**key).where(table.c.number > after, table.c.number <= to)
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


def keep_head(
    connection: Connection, clock: Clock, scope: Scope, old: Stored | None, head: Head, *, fate: Fate, **row: Any
) -> None:
    """Store the head of a session, if any of it is news. `row`: its source, its revision and how many turns it has."""
    values = head_values(head)
    if fate == "unchanged" and old and head_values(old.head) == values:
        return
    key = {"workspace": scope.workspace, "user": scope.user, "id": head.id}
    changed = {"removed_at": None, "changed": next_change(connection, scope.workspace)}
    upsert(connection, schema.sessions, key, values | row | changed, only_when_new={"added_at": clock.now()})


def turn_row(turn: Turn) -> tuple[object, ...]:
    """The values of TURN_ROW as the driver takes them."""
    said = turn.said
    at = None if said.at is None else microseconds(said.at)
    detail: dict[str, Any] = {}
    if said.calls:
        detail["calls"] = [[call.name, call.arguments, call.id] for call in said.calls]
    if said.answers is not None:
        detail["answers"] = said.answers
    if said.failed is not None:
        detail["failed"] = said.failed
    packed = json.dumps(detail, ensure_ascii=False, separators=(",", ":")) if detail else None
    return turn.number, said.role, turn.origin.value, said.name, at, said.noise, packed, said.text


def turn_of(row: Row[Any]) -> Turn:
    detail = json.loads(row.detail) if row.detail else {}
    calls = tuple(ToolCall(*call) for call in detail.get("calls", ()))
    answers, failed = detail.get("answers"), detail.get("failed")
    said = Said(row.role, row.text, row.name, row.at, calls, answers, failed, row.noise)
    return Turn(row.number, said, Origin(row.origin))


def head_values(head: Head) -> dict[str, Any]:
    facts = json.dumps(dict(head.facts), ensure_ascii=False, sort_keys=True) if head.facts else None
    return values_of(head, _HEAD) | {"facts": facts}


def stored_of(row: Row[Any]) -> Stored:
    facts = json.loads(row.facts) if row.facts else {}
    head = Head(row.id, row.user, facts=facts, **values_of(row, _HEAD))
    return Stored(head, row.user, row.revision, row.turns, row.source, row.changed, row.removed_at is not None)


def is_arriving(connection: Connection, scope: Scope, session_id: str) -> bool:
    return connection.execute(select(schema.arrivals).filter_by(**_key(scope, session_id))).first() is not None


@contextmanager
def alone(engine: Engine, scope: Scope, session_id: str, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """The lock of a session that is stored in steps. It is let go when its holder dies, however that happens."""
    name = f"arriving\0{scope.workspace}\0{scope.user}\0{session_id}"
    if engine.dialect.name != "postgresql":
        folder = Path(engine.url.database or ".").parent / "locks"
        with flocked(folder / f"session-{sha256(name)[:2]}.lock", patience):
            yield
        return
    with held_across(engine, name, wait=patience > 0) as held:
        if not held:
            raise StillLocked(f"{session_id} is being stored.")
        yield


def store_in_steps(
    engine: Engine,
    clock: Clock,
    scope: Scope,
    head: Head,
    turns: Iterator[Turn],
    *,
    source: str | None,
    finish: Callable[[], Head],
) -> tuple[Fate, int]:
    """Store a transcript whose lock is held: from here on whoever writes this session waits for it."""
    name, key = head.id, _key(scope, head.id)
    clear(engine, scope, name)
    with writing(engine, scope) as connection:
        hold_session(connection, scope, name)
        old = known(connection, scope, name)
        there = old if old and not old.removed else None
        revision, count = (there.revision, there.turns) if there else (old.revision + 1 if old else 1, 0)
        row = {"revision": revision, "kept": count, "begun_at": clock.now()}
        upsert(connection, schema.arrivals, key, row)
    try:
        fate: Fate = "new"
        count, added = 0, 0
        if there:
            fate, count, turns = compare_turns(pages(engine, scope, there), turns)
        if there and fate == "rewritten":
            revision += 1
            with writing(engine, scope) as connection:
                upsert(connection, schema.arrivals, key, {"revision": revision, "kept": 0, "begun_at": clock.now()})
            for start in range(0, count, STEP_TURNS):
                with writing(engine, scope) as connection:
                    copy_prefix(connection, scope, there, start, min(start + STEP_TURNS, count))
        while step := take_page(turns, STEP_TURNS):
            with writing(engine, scope) as connection:
                insert_turns(connection, scope, name, revision, step)
            added += len(step)
        fate = "unchanged" if fate == "grown" and not added else fate
        final, now_there = finish(), {"source": source, "revision": revision, "turns": count + added}
        with writing(engine, scope) as connection:  # one transaction makes all of it part of the session
            hold_session(connection, scope, name)
            now = known(connection, scope, name)
            if (now.changed if now else None) != (old.changed if old else None):
                raise SessionBusy("it was changed by someone else while it was stored; it is read again next time")
            keep_head(connection, clock, scope, old, final, fate=fate, **now_there)
            connection.execute(delete(schema.arrivals).filter_by(**key))
    except Exception:
        clear(engine, scope, name)
        raise
    return fate, added


def hold_session(connection: Connection, scope: Scope, session_id: str) -> None:
    """On Postgres two writers of one session take turns; SQLite has one writer anyway."""
    hold(connection, f"{scope.workspace}\0{scope.user}\0{session_id}")


def clear(engine: Engine, scope: Scope, session_id: str) -> None:
    """Take out what was stored in steps and never became part of the session. The lock is held."""
    key = _key(scope, session_id)
    with reading(engine, scope) as connection:
        row = connection.execute(select(schema.arrivals).filter_by(**key)).first()
        if row is None:
            return
        ours, number = key | {"revision": row.revision}, schema.turns.c.number
        beyond = select(func.max(number)).filter_by(**ours).where(number > row.kept)
        last = connection.execute(beyond).scalar() or 0
    for end in range(last, row.kept, -STEP_TURNS):
        part = delete(schema.turns).filter_by(**ours).where(number > max(row.kept, end - STEP_TURNS))
        with writing(engine, scope) as connection:
            connection.execute(part)
    with writing(engine, scope) as connection:
        connection.execute(delete(schema.arrivals).filter_by(**key))


def clear_abandoned(engine: Engine, scope: Scope) -> None:
    """Clear what killed writes left behind, in this workspace."""
    with reading(engine, scope) as connection:
        rows = connection.execute(select(schema.arrivals).filter_by(workspace=scope.workspace)).all()
    for row in rows:
        of_row = scope.of(row.user)
        try:
            with alone(engine, of_row, row.session_id, patience=0):
                clear(engine, of_row, row.session_id)
        except StillLocked:
            continue  # it is on its way


def first_step(turns: Iterator[Turn]) -> tuple[list[Turn], Iterator[Turn], bool]:
    """The turns that fit into one transaction, all turns again, and whether there are more."""
    step = take_page(turns, AT_ONCE_TURNS)
    more = list(islice(turns, 1))
    return step, chain(step, more, turns), bool(more)


def _key(scope: Scope, session_id: str) -> dict[str, str]:
    return owner_key(scope) | {"session_id": session_id}


def quarantined(connection: Connection, workspace: str, user: str | None = None) -> list[Quarantined]:
    """Also for a look at a database that an older version made."""
    table = schema.quarantine
    if not inspect(connection).has_table(table.name):
        return []
    asked = select(table).filter_by(workspace=workspace).order_by(table.c.path)
    asked = asked if user is None else asked.filter_by(user=user)
    return [from_json(Quarantined, row._mapping) for row in connection.execute(asked)]
