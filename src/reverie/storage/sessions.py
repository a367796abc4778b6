"""Transcripts in SQL, remembered sources, the fingerprints of files read, and those that could not be: implements
`reverie.transcripts.records`.

The newest revision is what everyone sees. A write compares the incoming turns with the stored ones as both stream
past: an equal prefix with more behind it is growth; a difference starts a new revision that copies the prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from sqlalchemy import Connection, and_, delete, select, update

from reverie.core.errors import NotFound
from reverie.core.ids import values_of
from reverie.core.scope import Scope
from reverie.erasure.traces import ErasedBefore
from reverie.storage import schema
from reverie.storage import session_rows as rows
from reverie.storage.database import SqlAdapter, mine, next_change, owner_key, reading, upsert, writing
from reverie.storage.erasure.erasures import generation, screen
from reverie.transcripts.records import Fate, Quarantined, SessionQuery, Source, Stored
from reverie.transcripts.session import Head, Session, Turn


class SqlRecords(SqlAdapter):
    def known(self, scope: Scope, session_id: str) -> Stored | None:
        with reading(self._engine, scope) as connection:
            return rows.known(connection, scope, session_id)

    def write(
        self,
        scope: Scope,
        head: Head,
        turns: Iterable[Turn],
        *,
        source: str | None,
        finish: Callable[[], Head],
    ) -> tuple[Fate, int]:
        try:
            step, every, more = rows.first_step(iter(turns))
            done = None if more else self._at_once(scope, head, step, source, finish())
            if done is not None:
                return done
            # A long one goes in with many transactions that nobody waits for.
            with reading(self._engine, scope) as connection:
                began, stones = generation(connection, scope.workspace), screen(connection, scope.workspace)
            if stones:
                stones.refuse(scope.user or "", head.id)
                every = stones.screened(every)
            with rows.alone(self._engine, scope, head.id):
                final = (lambda: stones.head(finish())) if stones else finish
                done = rows.store_in_steps(self._engine, self._clock, scope, head, every, source=source, finish=final)
        except ErasedBefore:
            for _ in turns:
                pass  # a reader goes on with the session behind this one
            self.tidy(scope)
            return "erased before", 0
        if self.erasures(scope) != began:
            self._screen_again(scope, head.id)
        return done

    def _screen_again(self, scope: Scope, session_id: str) -> None:
        """Something was erased while this session was stored in steps."""
        with writing(self._engine, scope) as connection:
            stones, table = screen(connection, scope.workspace), schema.turns
            whose = owner_key(scope)
            if stones and stones.has(stones.of_session(scope.user or "", session_id)):
                connection.execute(delete(table).filter_by(**whose, session_id=session_id))
                connection.execute(delete(schema.sessions).filter_by(**whose, id=session_id))
                return
            if not stones or not stones.scrubber:
                return
            for row in connection.execute(select(table).filter_by(**whose, session_id=session_id)).all():
                old = {name: row._mapping[name] for name in ("text", "detail", "name") if row._mapping[name]}
                new = {name: stones.scrubber.value(text) for name, text in old.items()}
                if new != old:
                    key = whose | {"session_id": session_id, "revision": row.revision, "number": row.number}
                    connection.execute(update(table).filter_by(**key).values(**new))

    def _at_once(
        self, scope: Scope, head: Head, turns: list[Turn], source: str | None, final: Head
    ) -> tuple[Fate, int] | None:
        """In one transaction. None while the session is stored in steps by someone, or was by someone who is dead."""
        with writing(self._engine, scope) as connection:
            if stones := screen(connection, scope.workspace):
                stones.refuse(scope.user or "", head.id)
                turns, final = list(stones.screened(turns)), stones.head(final)
                source = stones.scrubber.clean(source) if source else source
            rows.hold_session(connection, scope, head.id)
            if rows.is_arriving(connection, scope, head.id):
                return None
            old = rows.known(connection, scope, head.id)
            fate: Fate = "new"
            revision, kept, incoming = (old.revision + 1 if old else 1), 0, iter(turns)
            if old and not old.removed:
                there = rows.pages_within(connection, scope, old)
                fate, kept, incoming = rows.compare_turns(there, incoming)
                revision = old.revision + (fate == "rewritten")
                if fate == "rewritten":
                    rows.copy_prefix(connection, scope, old, 0, kept)
            rest = list(incoming)
            rows.insert_turns(connection, scope, head.id, revision, rest)
            fate = "unchanged" if fate == "grown" and not rest else fate
            now_there = {"source": source, "revision": revision, "turns": kept + len(rest)}
            rows.keep_head(connection, self._clock, scope, old, final, fate=fate, **now_there)
            return fate, len(rest)

    def tidy(self, scope: Scope) -> None:
        rows.clear_abandoned(self._engine, scope)

    def read(self, scope: Scope, session_id: str, revision: int | None = None, most: int | None = None) -> Session:
        with reading(self._engine, scope) as connection:
            stored = _required(connection, scope, session_id)
            chosen = revision or stored.revision
            there = chosen <= stored.revision
            first = rows.next_page(connection, scope, stored, chosen, 0) if there else ([], False)
        every = rows.pages(self._engine, scope, stored, chosen, first)
        turns = tuple(every if most is None else rows.beginning(every, most))
        if not turns and chosen != stored.revision:
            raise NotFound(
                f"{session_id} has no revision {chosen}.",
                expected=f"a revision from 1 to {stored.revision}",
            )
        return Session(stored.head, turns, chosen)

    def exchange(self, scope: Scope, session_id: str, numbers: Iterable[int]) -> tuple[Stored | None, dict[int, Turn]]:
        with reading(self._engine, scope) as connection:
            stored = rows.known(connection, scope, session_id)
            if stored is None or stored.removed:
                return None, {}
            return stored, {turn.number: turn for turn in rows.these_turns(connection, scope, stored, numbers)}

    def exchanges(
        self, scope: Scope, wanted: Mapping[str, Collection[int]]
    ) -> dict[str, tuple[Stored, dict[int, Turn]]]:
        table = schema.sessions
        asked = select(table).where(mine(table, scope), table.c.removed_at.is_(None), table.c.id.in_(list(wanted)))
        with reading(self._engine, scope) as connection:
            found = {row.id: (rows.stored_of(row), dict[int, Turn]()) for row in connection.execute(asked)}
            stored = {name: one for name, (one, _) in found.items()}
            for session, turn in rows.read_turns(connection, scope, stored, wanted):
                found[session][1][turn.number] = turn
        return found

    def every_turn(self, scope: Scope, stored: Stored) -> Iterator[Turn]:
        return rows.pages(self._engine, scope, stored)

    def find(self, scope: Scope, wanted: SessionQuery) -> Iterator[Stored]:
        table = schema.sessions
        named = {name: one for name, one in values_of(wanted, ("harness", "project")).items() if one is not None}
        asked = select(table).where(mine(table, scope), table.c.removed_at.is_(None)).filter_by(**named)
        if wanted.since is not None:
            asked = asked.where(table.c.started_at >= wanted.since)
        if wanted.until is not None:
            asked = asked.where(table.c.started_at < wanted.until)
        newest_first = (table.c.started_at.is_(None), table.c.started_at.desc(), table.c.changed.desc())
        return map(rows.stored_of, self._rows(scope, asked.order_by(*newest_first).limit(wanted.limit)))

    def changed_since(self, scope: Scope, cursor: int) -> Iterator[Stored]:
        table = schema.sessions
        while True:
            asked = select(table).where(mine(table, scope), table.c.changed > cursor)
            page = self._rows(scope, asked.order_by(table.c.changed).limit(rows.PAGE))
            if not page:
                return
            yield from map(rows.stored_of, page)
            cursor = page[-1].changed

    def erasures(self, scope: Scope) -> int:
        with reading(self._engine, scope) as connection:
            return generation(connection, scope.workspace)

    def remove(self, scope: Scope, session_id: str) -> None:
        with writing(self._engine, scope) as connection:
            stored = _required(connection, scope, session_id)
            ours = mine(schema.turns, scope.of(stored.user))
            connection.execute(delete(schema.turns).where(ours, schema.turns.c.session_id == session_id))
            if stored.source:
                of_source = schema.files.c.path == stored.source
                connection.execute(delete(schema.files).where(mine(schema.files, scope), of_source))
            emptied = dict.fromkeys(("title", "facts", "outcome", "parent", "agent", "project", "project_path"))
            changed = next_change(connection, scope.workspace)
            mark = {"removed_at": self._clock.now(), "turns": 0, "changed": changed}
            row = and_(mine(schema.sessions, scope.of(stored.user)), schema.sessions.c.id == session_id)
            connection.execute(update(schema.sessions).where(row).values(**emptied, **mark))


def _required(connection: Connection, scope: Scope, session_id: str) -> Stored:
    stored = rows.known(connection, scope, session_id)
    if stored is None or stored.removed:
        raise NotFound(
            f"There is no session {session_id}{f' of {scope.user}' if scope.user else ''}.",
            next_step="`reverie sessions list` shows what there is.",
        )
    return stored


class SqlSources(SqlAdapter):
    def remember(self, scope: Scope, path: str, reader: str | None) -> None:
        with writing(self._engine, scope) as connection:
            now = {"added_at": self._clock.now()}
            upsert(connection, schema.sources, _key(scope, path), {"reader": reader}, only_when_new=now)

    def forget(self, scope: Scope, path: str) -> bool:
        key = _key(scope, path)
        with writing(self._engine, scope) as connection:
            for table in (schema.files, schema.sources):
                done = connection.execute(delete(table).filter_by(**key))
            return bool(done.rowcount)

    def remembered(self, scope: Scope) -> list[Source]:
        asked = select(schema.sources).filter_by(workspace=scope.workspace).order_by(schema.sources.c.path)
        if scope.user is not None:
            asked = asked.filter_by(user=scope.user)
        return [Source(row.path, row.reader, row.user) for row in self._rows(scope, asked)]

    def fingerprint(self, scope: Scope, path: str) -> str | None:
        found = self._first(scope, select(schema.files.c.fingerprint).filter_by(**_key(scope, path)))
        return found.fingerprint if found else None

    def keep_fingerprint(self, scope: Scope, path: str, fingerprint: str) -> None:
        row = {"fingerprint": fingerprint, "read_at": self._clock.now()}
        with writing(self._engine, scope) as connection:
            upsert(connection, schema.files, _key(scope, path), row)


def _key(scope: Scope, path: str) -> dict[str, str]:
    return owner_key(scope) | {"path": path}


class SqlQuarantine(SqlAdapter):
    """Files that could not be read, and why: implements `reverie.transcripts.records.Quarantine`."""

    def put(self, scope: Scope, path: str, reader: str, fingerprint: str, why: str) -> None:
        now = self._clock.now()
        row = {"reader": reader, "fingerprint": fingerprint, "why": why, "tried_at": now}
        with writing(self._engine, scope) as connection:
            upsert(connection, schema.quarantine, _key(scope, path), row, only_when_new={"since": now})

    def release(self, scope: Scope, path: str) -> None:
        with writing(self._engine, scope) as connection:
            connection.execute(delete(schema.quarantine).filter_by(**_key(scope, path)))

    def held(self, scope: Scope) -> list[Quarantined]:
        with reading(self._engine, scope) as connection:
            return rows.quarantined(connection, scope.workspace, scope.user)
