"""A long transcript is stored in many short transactions, so that nobody else's write waits for all of it.

Until the last one nobody sees any of it: a session has as many turns as its row says. A row of `arrivals` says that
turns are being stored beyond that, and a lock that dies with its holder says whether by someone who is still alive.
What a killed one left behind is taken out by the next write of that session, or by `clear_abandoned`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, func, select

from reverie.core.clock import Clock
from reverie.core.errors import StillLocked
from reverie.core.hashes import sha256
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.queries import owner_key, upsert
from reverie.storage.database.transactions import held_across, hold, reading, writing
from reverie.storage.transcripts.rows import (
    Written,
    compare_turns,
    copy_prefix,
    insert_turns,
    keep_head,
    known,
    pages,
    take_page,
)
from reverie.system.files import flocked
from reverie.transcripts.records import Fate, SessionBusy, Stored
from reverie.transcripts.session import Head, Turn

STEP_TURNS = 100  # the longest that anyone else's write waits; a longer step makes an import no quicker
AT_ONCE_TURNS = 500  # a transcript of so many is written in one transaction: that is less work than steps are
PATIENCE_SECONDS = 300.0


def is_arriving(connection: Connection, scope: Scope, session_id: str) -> bool:
    return connection.execute(select(schema.arrivals).filter_by(**_key(scope, session_id))).first() is not None


@contextmanager
def alone(engine: Engine, scope: Scope, session_id: str, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """The lock of a session that is stored in steps. It is let go when its holder dies, however that happens."""
    name = lock_name(scope, session_id)
    if engine.dialect.name != "postgresql":
        folder = Path(engine.url.database or ".").parent / "locks"
        with flocked(folder / f"session-{sha256(name)[:2]}.lock", patience):
            yield
        return
    with held_across(engine, name, wait=patience > 0) as held:
        if not held:
            raise StillLocked(f"{session_id} is being stored.")
        yield


def lock_name(scope: Scope, session_id: str) -> str:
    return f"arriving\0{scope.workspace}\0{scope.user}\0{session_id}"


class Arrival:
    """One transcript on its way in. Its lock is held."""

    def __init__(self, engine: Engine, clock: Clock, scope: Scope, head: Head) -> None:
        self._engine = engine
        self._clock = clock
        self._scope = scope
        self._head = head
        self._name = head.id

    def write(self, turns: Iterator[Turn], source: str | None, finish: Callable[[], Head]) -> tuple[Fate, int]:
        clear(self._engine, self._scope, self._name)
        old = self._begin()
        try:
            return self._stored(turns, old, source, finish)
        except Exception:
            clear(self._engine, self._scope, self._name)
            raise

    def _stored(
        self, turns: Iterator[Turn], old: Stored | None, source: str | None, finish: Callable[[], Head]
    ) -> tuple[Fate, int]:
        fate: Fate = "new"
        revision, there = (old.revision + 1 if old else 1), 0
        if old and not old.removed:
            fate, there, turns = compare_turns(pages(self._engine, self._scope, old), turns)
            revision = old.revision + (fate == "rewritten")
            if fate == "rewritten":
                self._note(revision, 0)
                self._copy(old, there)
        added = 0
        for step in steps(turns):
            with writing(self._engine, self._scope) as connection:
                insert_turns(connection, self._scope, self._name, revision, step)
            added += len(step)
        fate = "unchanged" if fate == "grown" and not added else fate
        self._end(Written(fate, old, revision, there + added, source, finish()))
        return fate, added

    def _begin(self) -> Stored | None:
        """From here on whoever writes this session waits for the lock."""
        with writing(self._engine, self._scope) as connection:
            hold_session(connection, self._scope, self._name)
            old = known(connection, self._scope, self._name)
            grows = old is not None and not old.removed
            revision, kept = (old.revision, old.turns) if old and grows else (old.revision + 1 if old else 1, 0)
            self._noted(connection, revision, kept)
            return old

    def _note(self, revision: int, kept: int) -> None:
        with writing(self._engine, self._scope) as connection:
            self._noted(connection, revision, kept)

    def _noted(self, connection: Connection, revision: int, kept: int) -> None:
        row = {"revision": revision, "kept": kept, "begun_at": self._clock.now()}
        upsert(connection, schema.arrivals, _key(self._scope, self._name), row)

    def _copy(self, old: Stored, count: int) -> None:
        for start in range(0, count, STEP_TURNS):
            with writing(self._engine, self._scope) as connection:
                copy_prefix(connection, self._scope, old, start, min(start + STEP_TURNS, count))

    def _end(self, written: Written) -> None:
        """One transaction makes all of it part of the session."""
        old = written.old
        with writing(self._engine, self._scope) as connection:
            hold_session(connection, self._scope, self._name)
            now = known(connection, self._scope, self._name)
            if (now.changed if now else None) != (old.changed if old else None):
                raise SessionBusy("it was changed by someone else while it was stored; it is read again next time")
            keep_head(connection, self._clock, self._scope, written)
            connection.execute(delete(schema.arrivals).filter_by(**_key(self._scope, self._name)))


def steps(turns: Iterable[Turn]) -> Iterator[list[Turn]]:
    """As many turns as one transaction may hold."""
    following = iter(turns)
    while step := take_page(following, STEP_TURNS):
        yield step


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
        mine = schema.turns.c
        ours = (
            mine.workspace == key["workspace"],
            mine.user == key["user"],
            mine.session_id == session_id,
            mine.revision == row.revision,
        )
        last = connection.execute(select(func.max(mine.number)).where(*ours, mine.number > row.kept)).scalar() or 0
    for end in range(last, row.kept, -STEP_TURNS):
        with writing(engine, scope) as connection:
            connection.execute(delete(schema.turns).where(*ours, mine.number > max(row.kept, end - STEP_TURNS)))
    with writing(engine, scope) as connection:
        connection.execute(delete(schema.arrivals).filter_by(**key))


def clear_abandoned(engine: Engine, scope: Scope) -> None:
    """Clear what killed writes left behind, in this workspace."""
    asked = select(schema.arrivals).filter_by(workspace=scope.workspace)
    with reading(engine, scope) as connection:
        rows = connection.execute(asked).all()
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
