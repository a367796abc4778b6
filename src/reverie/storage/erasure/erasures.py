"""Erasures in SQL, and the tombstones of what was erased: implements `reverie.erasure.records.ErasureRecords`.

Everything that writes transcripts asks for the tombstones. On Postgres who writes holds a shared lock, and who erases
waits for it: no transcript that was under way when the tombstones were written is committed behind them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Subquery, func, insert, or_, select, text, union_all, update

from reverie.core.errors import NotFound
from reverie.core.ids import from_json, json_ready, values_of
from reverie.core.scope import Scope
from reverie.erasure.records import (
    Erasure,
    ErasureKind,
    ErasurePlace,
    ErasureRequest,
    FoundPlaces,
    Left,
    SessionName,
    Sought,
    UnfinishedErasure,
    ids_by_user,
)
from reverie.erasure.traces import Tombstone, Tombstones, strings_in
from reverie.erasure.words import Scrubber
from reverie.storage import schema
from reverie.storage.database import (
    SqlAdapter,
    hold,
    lock_number,
    mine,
    next_number,
    owner_key,
    put_if_new,
    reading,
    upsert,
    writing,
)
from reverie.storage.erasure.rows import RowEraser, residue
from reverie.storage.erasure.texts import of_workspace
from reverie.storage.session_rows import turn_of
from reverie.storage.upkeep import compacted

GENERATION = "erasures"  # a counter: raised by every erasure, so that what is derived knows it has to begin again
_CACHE: dict[tuple[str, str, int], Tombstones] = {}
WITHOUT_WORDS = ("compact", "done")
_UNREAD = ("erasures", "tombstones", "tombstone_keys", "backups", "counters", "ledger", "leases", "calls")


def generation(connection: Connection, workspace: str) -> int:
    asked = select(schema.counters.c.value).filter_by(workspace=workspace, name=GENERATION)
    return int(connection.execute(asked).scalar() or 0)


def screen(connection: Connection, workspace: str) -> Tombstones | None:
    """For a transaction that is going to write words; None where nothing was ever erased."""
    if connection.dialect.name == "postgresql":
        key = {"key": lock_number(f"erasure of {workspace}")}
        connection.execute(text("select pg_advisory_xact_lock_shared(:key)"), key)
    count = generation(connection, workspace)
    if not count:
        return None
    place = (str(connection.engine.url), workspace, count)
    if place not in _CACHE:
        _CACHE.clear()
        _CACHE[place] = load_tombstones(connection, workspace)
    return _CACHE[place] or None


def load_tombstones(connection: Connection, workspace: str) -> Tombstones:
    """All there are, with the key they were made with; a new key where there is none yet."""
    asked = select(schema.tombstone_keys.c.key).filter_by(workspace=workspace)
    key = connection.execute(asked).scalar()
    known: dict[str, dict[str, int]] = {}
    for row in connection.execute(select(schema.tombstones).filter_by(workspace=workspace)):
        known.setdefault(row.kind, {})[row.hash] = row.words
    return Tombstones(bytes.fromhex(key) if key else secrets.token_bytes(32), known)


def lock_out_writers(connection: Connection, workspace: str) -> None:
    """Wait for everybody who is writing words, and keep others from beginning until the commit."""
    hold(connection, f"erasure of {workspace}")


def put_tombstones(
    connection: Connection, workspace: str, made_with: Tombstones, stones: Iterable[Tombstone], erasure: str
) -> None:
    put_if_new(connection, schema.tombstone_keys, {"workspace": workspace}, {"key": made_with.key.hex()})
    for one in dict.fromkeys(stones):
        key = {"workspace": workspace, "kind": one.kind, "hash": one.hash}
        put_if_new(connection, schema.tombstones, key, {"words": one.words, "erasure": erasure})
    next_number(connection, workspace, GENERATION)


class SqlErasures(SqlAdapter):
    def sought(self, scope: Scope, wanted: ErasureRequest) -> Sought:
        with reading(self._engine, scope) as connection:
            names = list(_sessions(connection, scope, wanted))
        if wanted.kind is ErasureKind.SESSION:
            missing = set(wanted.values) - {one.id for one in names}
            if missing and wanted.reason == "asked":  # by age, another server may have been there first
                raise NotFound(
                    f"There is no session {min(missing)}{f' of {wanted.user}' if wanted.user else ''}.",
                    next_step="`reverie sessions list` shows what there is. Nothing was erased.",
                )
        if wanted.kind is ErasureKind.PROJECT and not names:
            raise NotFound(f"No session was in the project {wanted.values[0]}.", next_step="Nothing was erased.")
        exact = [one.id for one in names]
        if wanted.kind in (ErasureKind.PERSON, ErasureKind.PROJECT):
            exact += [value for value in wanted.values if wanted.kind is ErasureKind.PERSON or "/" in value]
        return Sought(wanted, tuple(names), exact=tuple(dict.fromkeys(exact)))

    def look(self, scope: Scope, sought: Sought) -> FoundPlaces:
        """Everything is done and rolled back: what a plan lists is what will be done, to the row."""
        with writing(self._engine, scope) as connection:
            sources, alone = _sources(connection, scope, {(one.user, one.id) for one in sought.sessions})
            eraser = RowEraser(connection, scope, sought, "", self._clock.now())
            after = eraser.run()
            connection.rollback()
        if eraser.hit:
            with reading(self._engine, scope) as connection:
                sources += _sources(connection, scope, eraser.hit)[0]
        every = tuple(dict.fromkeys(sources))
        return FoundPlaces(after, tuple(eraser.places()), frozenset(eraser.met), every, tuple(alone))

    def residue(self, scope: Scope, sought: Sought) -> list[ErasurePlace]:
        with reading(self._engine, scope) as connection:
            return residue(connection, scope, sought)

    def begin(self, scope: Scope, erasure: Erasure, found: FoundPlaces) -> None:
        with writing(self._engine, scope) as connection:
            lock_out_writers(connection, scope.workspace)
            stones = load_tombstones(connection, scope.workspace)
            made = list(self._tombstones_of(connection, scope, stones, found))
            put_tombstones(connection, scope.workspace, stones, made, erasure.id)
            row = values_of(erasure, ("id", "kind", "step", "begun_at"))
            row |= {"wanted": json.dumps(json_ready(found.sought)), "report": json.dumps({"actor": scope.actor})}
            connection.execute(insert(schema.erasures), owner_key(scope.of("")) | row)

    def _tombstones_of(
        self, connection: Connection, scope: Scope, stones: Tombstones, found: FoundPlaces
    ) -> Iterator[Tombstone]:
        sought = found.sought
        table = schema.turns
        for name in sought.sessions:
            yield stones.of_session(name.user, name.id)
            whose = {"workspace": scope.workspace, "user": name.user, "session_id": name.id}
            newest = select(func.max(table.c.revision)).filter_by(**whose).scalar_subquery()
            asked = select(table).filter_by(**whose).where(table.c.revision == newest).order_by(table.c.number)
            content = stones.of_content(turn_of(row) for row in connection.execute(asked))
            if content is not None:
                yield content
        for phrase in {*Scrubber(sought.texts).phrases, *found.met}:
            yield stones.of_text(phrase)
        if sought.user is not None:
            yield stones.of_person(sought.user)
        if sought.everything:
            yield stones.of_workspace(scope.workspace)

    def step(self, scope: Scope, erasure: Erasure) -> None:
        values: dict[str, Any] = {"step": erasure.step, "ended_at": erasure.ended_at}
        if erasure.step in WITHOUT_WORDS:
            values |= {"wanted": "", "report": json.dumps({"counts": dict(erasure.counts)})}
        with writing(self._engine, scope) as connection:
            gone = update(schema.erasures).filter_by(**owner_key(scope.of("")), id=erasure.id)
            connection.execute(gone.values(**values))

    def open(self) -> list[UnfinishedErasure]:
        table = schema.erasures
        asked = select(table).where(table.c.ended_at.is_(None)).order_by(table.c.begun_at, table.c.id)
        return [_open(row) for row in self._rows_across("upkeep", asked)]

    def past(self, scope: Scope) -> list[Erasure]:
        table = schema.erasures
        asked = select(table).filter_by(workspace=scope.workspace).order_by(table.c.begun_at.desc(), table.c.id)
        return [_open(row).erasure for row in self._rows(scope, asked)]

    def rows(self, scope: Scope, erasure: str, sought: Sought) -> list[ErasurePlace]:
        with writing(self._engine, scope) as connection:
            lock_out_writers(connection, scope.workspace)
            eraser = RowEraser(connection, scope, sought, erasure, self._clock.now())
            after = eraser.run()
            kept = update(schema.erasures).filter_by(**owner_key(scope.of("")), id=erasure)
            connection.execute(kept.values(wanted=json.dumps(json_ready(after))))
            next_number(connection, scope.workspace, GENERATION)  # what was indexed meanwhile goes as well
            return eraser.places()

    def compact(self) -> list[Left]:
        return compacted(self._engine)

    def tombstones(self, scope: Scope) -> Tombstones:
        with reading(self._engine, scope) as connection:
            return load_tombstones(connection, scope.workspace)

    def expired(self, scope: Scope, before: datetime) -> list[SessionName]:
        ended = _last_heard()
        old = select(ended.c.user, ended.c.id).where(mine(ended, scope)).group_by(ended.c.user, ended.c.id)
        asked = old.having(func.max(ended.c.at) < before).order_by(ended.c.user, ended.c.id)
        return [SessionName(row.user, row.id) for row in self._rows(scope, asked)]

    def workspaces(self) -> list[str]:
        found = self._rows_across("upkeep", select(_last_heard().c.workspace).distinct())
        return sorted(row.workspace for row in found)

    def backups(self, scope: Scope) -> list[tuple[str, datetime]]:
        """Of the whole database: a backup holds every workspace."""
        return [(row.path, row.made_at) for row in self._rows_across("upkeep", select(schema.backups))]

    def keep_backup(self, scope: Scope, path: Path, at: datetime) -> None:
        with writing(self._engine, scope) as connection:
            key = {"workspace": scope.workspace, "path": str(path)}
            upsert(connection, schema.backups, key, {"made_at": at})

    def met_again(self, scope: Scope, stones: Tombstones) -> list[ErasureRequest]:
        """Find here what those tombstones are of: sessions, people, and texts as they are written here."""
        scrub = stones.scrubber
        with reading(self._engine, scope) as connection:
            if stones.has(stones.of_workspace(scope.workspace)):
                return [ErasureRequest(ErasureKind.WORKSPACE, (scope.workspace,), reason="restored")]
            users, texts = set[str](), set[str]()
            every = of_workspace(connection, schema.sessions, scope.workspace)
            sessions = [
                SessionName(row.user, row.id) for row in every if stones.has(stones.of_session(row.user, row.id))
            ]
            for table in schema.metadata.sorted_tables:
                for row in of_workspace(connection, table, scope.workspace) if table.name not in _UNREAD else ():
                    if "user" in table.c and row.user not in users and stones.has(stones.of_person(row.user)):
                        users.add(row.user)
                    for value in row if scrub else ():
                        texts |= set(_matching_texts(scrub, value))
        wanted = [ErasureRequest(ErasureKind.PERSON, (user,), reason="restored") for user in sorted(users)]
        for user, ids in ids_by_user(sessions).items():
            wanted.append(ErasureRequest(ErasureKind.SESSION, tuple(ids), user, reason="restored"))
        if texts:
            wanted.append(ErasureRequest(ErasureKind.TEXT, tuple(sorted(texts)), reason="restored"))
        return wanted

    def take_over(self, scope: Scope, stones: Tombstones) -> None:
        """Tombstones of another database, with its key; where there is a key already they stay apart, in their file."""
        with writing(self._engine, scope) as connection:
            held = connection.execute(select(schema.tombstone_keys.c.key).filter_by(workspace=scope.workspace)).scalar()
            if held in (None, stones.key.hex()):
                known = ((kind, name, count) for kind, one in stones.known.items() for name, count in one.items())
                put_tombstones(connection, scope.workspace, stones, (Tombstone(*one) for one in known), "restored")


def _matching_texts(scrub: Scrubber, value: object) -> Iterator[str]:
    if isinstance(value, bytes | memoryview):
        value = bytes(value).decode("utf-8", "replace")
    if isinstance(value, str) and value[:1] in ("{", "["):
        every = strings_in(json.loads(value), keys=True)
        yield from (text for inner in every for text in _matching_texts(scrub, inner))
    elif isinstance(value, str):
        yield from (value[start:end] for start, end in scrub.spans(value))


def _open(row: Any) -> UnfinishedErasure:
    report = json.loads(row.report)
    made = Erasure(row.id, ErasureKind(row.kind), row.step, row.begun_at, row.ended_at, report.get("counts", {}))
    sought = from_json(Sought, json.loads(row.wanted)) if row.wanted else None
    return UnfinishedErasure(made, Scope(row.workspace, None, report.get("actor", "reverie")), sought)


def _last_heard() -> Subquery:
    """When something was last heard of each session. One recorded over the API may have no words as yet."""
    heard, written = schema.sessions.c, schema.recorded.c
    when = func.coalesce(heard.ended_at, heard.started_at, heard.added_at).label("at")
    both = union_all(
        select(heard.workspace, heard.user, heard.id, when),
        select(written.workspace, written.user, written.id, written.updated_at.label("at")),
    )
    return both.subquery()


def _sessions(connection: Connection, scope: Scope, wanted: ErasureRequest) -> Iterator[SessionName]:
    table, seen = schema.sessions, set[SessionName]()
    asked = select(table.c.user, table.c.id).where(mine(table, scope))
    recorded = select(schema.recorded.c.user, schema.recorded.c.id).where(mine(schema.recorded, scope))
    if wanted.user is not None:
        asked, recorded = (one.filter_by(user=wanted.user) for one in (asked, recorded))
    scrub = Scrubber(wanted.values, partial=True)
    match wanted.kind:
        case ErasureKind.SESSION:
            asked, recorded = (one.where(one.selected_columns.id.in_(wanted.values)) for one in (asked, recorded))
        case ErasureKind.PERSON:
            asked, recorded = (one.filter_by(user=wanted.values[0]) for one in (asked, recorded))
        case ErasureKind.PROJECT:
            value = wanted.values[0]
            below = table.c.project_path.startswith(f"{value.rstrip('/')}/", autoescape=True)
            asked = asked.where(or_(table.c.project == value, table.c.project_path == value, below))
            recorded = recorded.where(schema.recorded.c.id == "")
        case ErasureKind.TEXT | ErasureKind.WORKSPACE:
            pass
    for one in (asked, recorded):
        for row in connection.execute(one):
            name = SessionName(row.user, row.id)
            if name not in seen and (wanted.kind is not ErasureKind.TEXT or scrub.has(row.id)):
                seen.add(name)
                yield name


def _sources(connection: Connection, scope: Scope, names: set[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The files these sessions came from, and those of them that brought no other session."""
    mine, others = dict[str, None](), set[str]()
    table = schema.sessions
    asked = select(table.c.user, table.c.id, table.c.source).where(table.c.workspace == scope.workspace)
    for row in connection.execute(asked.where(table.c.source.is_not(None))):
        if (row.user, row.id) in names:
            mine[row.source] = None
        else:
            others.add(row.source)
    return list(mine), [path for path in mine if path not in others]
