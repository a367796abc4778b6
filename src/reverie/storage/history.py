"""Changes, entries and the ledger: implements `reverie.changes.ledger.Records`."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Engine, Executable, Select, insert, select, update

from reverie.changes.ledger import (
    Anchored,
    Change,
    ChangeQuery,
    Known,
    KnownEntry,
    Moves,
    Row,
    Standing,
    Via,
    ledger_body,
)
from reverie.core.clock import Clock
from reverie.core.errors import DatabaseUnusable
from reverie.core.ids import Ids, values_of
from reverie.core.scope import Scope
from reverie.storage import ledger, schema
from reverie.storage.database import SqlAdapter, owner_key, put_blob, read_blob, reading, upsert, writing
from reverie.storage.ledger import anchored, change_details, changes_from_rows

_ALL = 2**62  # a number behind every row of the ledger


class SqlHistory(SqlAdapter):
    def __init__(self, engine: Engine, clock: Clock, ids: Ids) -> None:
        super().__init__(engine, clock)
        self._ids = ids

    # ---- writing -----------------------------------------------------------------------------------------------------

    def intend(self, scope: Scope, change: Change) -> None:
        with writing(self._engine, scope) as connection:
            self._write_down(connection, scope, change)

    def settle(
        self, scope: Scope, change: Change, moves: Mapping[str, Moves], instead_of: Change | None = None
    ) -> Change:
        now = self._clock.now()
        with writing(self._engine, scope) as connection:
            if instead_of is not None:
                self._drop(connection, scope, instead_of, "done again on what others wrote meanwhile")
            salt = self._salt(connection, scope, change.id) or self._write_down(connection, scope, change)
            landed = replace(change, standing=Standing.LANDED, settled_at=now)
            added = ledger.append_to_ledger(connection, scope, "change", ledger_body(landed, salt), now)
            landed = replace(landed, number=added.number)
            self._stand(connection, scope, landed)
            for edit in change.edits:
                key = owner_key(scope) | {"target": change.target, "document": edit.document}
                name = None if edit.after is None else put_blob(connection, scope, edit.after)
                state = {"sha256": name, "number": added.number}
                upsert(connection, schema.documents, key, state)
            for document, moved in moves.items():
                self._entries(connection, scope, landed, document, moved)
        return landed

    def drop(self, scope: Scope, change: Change, note: str) -> None:
        with writing(self._engine, scope) as connection:
            self._drop(connection, scope, change, note)

    def _drop(self, connection: Connection, scope: Scope, change: Change, note: str) -> None:
        now = self._clock.now()
        salt = self._salt(connection, scope, change.id) or ""
        dropped = replace(change, standing=Standing.CONFLICTED, settled_at=now, note=note)
        added = ledger.append_to_ledger(connection, scope, "change", ledger_body(dropped, salt), now)
        self._stand(connection, scope, replace(dropped, number=added.number))

    def mark(self, scope: Scope, entry: str, critical: bool) -> None:
        table = schema.entries
        with writing(self._engine, scope) as connection:
            asked = update(table).filter_by(**owner_key(scope), id=entry).where(table.c.went.is_(None))
            connection.execute(asked.values(critical=critical))
            body = {"entry": entry, "critical": critical, "actor": scope.actor}
            ledger.append_to_ledger(connection, scope, "mark", body, self._clock.now())

    def keep_rule(self, scope: Scope, target: str, document: str, rule: KnownEntry) -> str:
        change = self.get(scope, rule.change)
        place = owner_key(scope) | {"target": target, "document": document}
        with writing(self._engine, scope) as connection:
            held = [one.id for one in _entries_at(connection, place, None) if one.sha256 == rule.sha256]
            if held:
                return held[0]
            row = {"version": 1, "sha256": rule.sha256, "since": rule.since, "seen": rule.seen, "critical": False}
            number = change.number if change else None
            named = {"id": self._ids.new("ent"), "change_id": rule.change, "came": number or 0}
            connection.execute(insert(schema.entries), place | row | named)
            return str(named["id"])

    def _write_down(self, connection: Connection, scope: Scope, change: Change) -> str:
        salt = secrets.token_hex(16)
        grounds = change.grounds
        row = values_of(change, ("id", "target", "subject", "standing", "intended_at"))
        row |= values_of(grounds, ("via", "actor", "proposal", "dream", "undoes"))
        row |= {"details": change_details(change), "salt": salt}
        connection.execute(insert(schema.changes), owner_key(scope) | row)
        for place, edit in enumerate(change.edits):
            contents = values_of(edit, ("before", "after"))
            sides = {side: put_blob(connection, scope, one) for side, one in contents.items() if one is not None}
            named = {"change_id": change.id, "document": edit.document, "place": place}
            connection.execute(insert(schema.edits), owner_key(scope) | named | sides)
        return salt

    def _stand(self, connection: Connection, scope: Scope, change: Change) -> None:
        stands = values_of(change, ("standing", "number", "settled_at"))
        asked = update(schema.changes).filter_by(**owner_key(scope), id=change.id)
        connection.execute(asked.values(**stands, details=change_details(change)))

    def _entries(self, connection: Connection, scope: Scope, change: Change, document: str, moves: Moves) -> None:
        table = schema.entries
        when = {
            "since": None if change.grounds.via is Via.FOUND else change.settled_at,
            "seen": change.settled_at,
            "change_id": change.id,
            "came": change.number,
            "said": change.grounds.said_at,
        }
        named = owner_key(scope) | {"target": change.target, "document": document}
        current = select(table).filter_by(**named).where(table.c.went.is_(None))
        known = {one.id: one for one in connection.execute(current)}
        over = [*moves.gone, *(entry for entry, _ in moves.edited)]
        if over:
            ended = update(table).filter_by(**named).where(table.c.id.in_(over), table.c.went.is_(None))
            connection.execute(ended.values(went=change.number))
        came_back = select(table.c.sha256).filter_by(**named, critical=True).where(table.c.sha256.in_(moves.new))
        critical = moves.critical | set(connection.execute(came_back).scalars() if moves.new else ())
        rows = [
            {"id": self._ids.new("ent"), "version": 1, "sha256": sha, "critical": sha in critical} for sha in moves.new
        ]
        for entry, sha in moves.edited:
            old = known[entry]
            age = {"since": old.since, "seen": old.seen, "said": old.said} if change.grounds.tidies else {}
            rows.append({"id": entry, "version": old.version + 1, "sha256": sha, "critical": old.critical} | age)
        if rows:
            connection.execute(insert(table), [named | when | one for one in rows])

    # ---- Looking -----------------------------------------------------------------------------------------------------

    def known(self, scope: Scope, target: str, document: str, at: int | None = None) -> Known | None:
        place = owner_key(scope) | {"target": target, "document": document}
        with self._looking(scope) as connection:
            state = _state_at(connection, scope, place, at)
            if state is None:
                return None
            number, name = state
            entries = _entries_at(connection, place, at)
            return Known(read_blob(connection, scope, name), number, entries)

    def documents(self, scope: Scope, target: str | None = None, under: str = "") -> list[tuple[str, str]]:
        table = schema.documents.c
        asked = (
            select(table.target, table.document).filter_by(**owner_key(scope)).order_by(table.target, table.document)
        )
        if target is not None:
            asked = asked.filter_by(target=target)
        found = self._rows(scope, asked.where(table.document.startswith(under, autoescape=True)))
        return [(one.target, one.document) for one in found]

    def people(self, scope: Scope) -> list[str]:
        """Whose memory was ever changed in a workspace; '' is nobody's."""
        asked = select(schema.documents.c.user).filter_by(workspace=scope.workspace).distinct()
        return sorted(row.user for row in self._rows(scope, asked))

    def content(self, scope: Scope, sha256: str) -> bytes | None:
        with self._looking(scope) as connection:
            return read_blob(connection, scope, sha256)

    def critical(self, scope: Scope) -> frozenset[str]:
        table = schema.entries.c
        asked = select(table.sha256).filter_by(**owner_key(scope), critical=True).where(table.went.is_(None))
        return frozenset(row.sha256 for row in self._rows(scope, asked))

    def get(self, scope: Scope, change: str) -> Change | None:
        return next(iter(self._changes(scope, select(schema.changes).filter_by(**owner_key(scope), id=change))), None)

    def find(self, scope: Scope, asked: ChangeQuery) -> list[Change]:
        table = schema.changes
        chosen = (
            select(table).filter_by(**owner_key(scope), standing=Standing.LANDED).where(table.c.number > asked.after)
        )
        named = values_of(asked, ("target", "subject", "proposal", "dream", "undoes"))
        chosen = chosen.filter_by(**{name: value for name, value in named.items() if value is not None})
        if asked.document is not None:
            touched = select(schema.edits.c.change_id).filter_by(**owner_key(scope), document=asked.document)
            chosen = chosen.where(table.c.id.in_(touched))
        if asked.upto is not None:
            chosen = chosen.where(table.c.number <= asked.upto)
        if asked.until is not None:
            chosen = chosen.where(table.c.settled_at <= asked.until)
        if asked.ours:
            chosen = chosen.where(table.c.via.not_in((Via.FOUND, Via.OUTSIDE)))
        order = table.c.number if asked.oldest_first else table.c.number.desc()
        return self._changes(scope, chosen.order_by(order).limit(asked.limit))

    def unsettled(self, scope: Scope, target: str | None = None, subject: str | None = None) -> list[Change]:
        table = schema.changes
        chosen = select(table).filter_by(**owner_key(scope), standing=Standing.INTENDED).order_by(table.c.id)
        if target is not None:
            chosen = chosen.filter_by(target=target)
        if subject is not None:
            chosen = chosen.filter_by(subject=subject)
        return self._changes(scope, chosen)

    def _changes(self, scope: Scope, chosen: Select[Any]) -> list[Change]:
        with self._looking(scope) as connection:
            return changes_from_rows(connection, scope, connection.execute(chosen).all())

    # ---- the ledger --------------------------------------------------------------------------------------------------

    def append(self, scope: Scope, kind: str, body: Mapping[str, Any]) -> Row:
        with writing(self._engine, scope) as connection:
            return ledger.append_to_ledger(connection, scope, kind, body, self._clock.now())

    def rows(self, scope: Scope) -> Iterator[Row]:
        with _readable():
            yield from ledger.rows(self._engine, scope)

    def anchored(self, scope: Scope, target: str, after: int = 0) -> Iterator[Anchored]:
        return anchored(self._engine, scope, target, after)

    def mismatches(self, scope: Scope) -> Iterator[str]:
        told_of, emptied = set(), set()
        for one in self.rows(scope):
            if one.erased:
                emptied.add(one.number)
            elif one.kind == "change" and one.user == (scope.user or ""):
                told_of.add(one.body["change"])
                change = self.get(scope, one.body["change"])
                with self._looking(scope) as connection:
                    salt = self._salt(connection, scope, one.body["change"])
                # Rows of the ledger are never written again, and the first ones call a target a shelf.
                told = {"target" if name == "shelf" else name: value for name, value in one.body.items()}
                if change is None or salt is None:
                    yield f"row {one.number} tells of {one.body['change']}, which is gone"
                elif salt == "":
                    continue  # a text of it was erased: what the digests were made of is gone, and meant to be
                elif (change.number, change.settled_at) != (one.number, one.at) or ledger_body(change, salt) != told:
                    yield f"{change.id} does not say what row {one.number} of the ledger says of it"
        table = schema.changes
        asked = select(table.c.id, table.c.number).filter_by(**owner_key(scope)).where(table.c.number.is_not(None))
        stored = {one.id for one in self._rows(scope, asked) if one.number not in emptied}
        yield from (f"{change} is not in the ledger" for change in sorted(stored - told_of))
        for target, document in self.documents(scope):
            place = owner_key(scope) | {"target": target, "document": document}
            with self._looking(scope) as connection:
                if _state_at(connection, scope, place, None) != _state_at(connection, scope, place, _ALL):
                    yield f"{document} is not recorded as its last change left it"

    @contextmanager
    def _looking(self, scope: Scope) -> Iterator[Connection]:
        with _readable(), reading(self._engine, scope) as connection:
            yield connection

    def _rows(self, scope: Scope, asked: Executable, given: dict[str, Any] | None = None) -> Sequence[Any]:
        with _readable():
            return super()._rows(scope, asked, given)

    @staticmethod
    def _salt(connection: Connection, scope: Scope, change: str) -> str | None:
        asked = select(schema.changes.c.salt).filter_by(**owner_key(scope), id=change)
        return connection.execute(asked).scalar()


@contextmanager
def _readable() -> Iterator[None]:
    """A row that makes no sense was not written by us: the file is damaged, or someone altered it."""
    try:
        yield
    except UnicodeEncodeError:  # what was asked for is no text; nothing was read
        raise
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise DatabaseUnusable(
            f"The history in the database is damaged: a row cannot be read ({type(error).__name__}: {error}).",
            next_step="Keep the file as it is, and restore a backup. Nothing was changed.",
        ) from error


def _state_at(
    connection: Connection, scope: Scope, place: dict[str, str], at: int | None
) -> tuple[int, str | None] | None:
    """The number of the last Change to a document and the name of the bytes it left."""
    if at is None:
        found = connection.execute(select(schema.documents).filter_by(**place)).first()
        return None if found is None else (found.number, found.sha256)
    changes, edits = schema.changes, schema.edits
    same = (changes.c.workspace == edits.c.workspace) & (changes.c.user == edits.c.user)
    asked = (
        select(changes.c.number, edits.c.after)
        .join(edits, same & (changes.c.id == edits.c.change_id))
        .where(changes.c.standing == Standing.LANDED, changes.c.number <= at, changes.c.target == place["target"])
        .where(edits.c.document == place["document"])
        .where(changes.c.workspace == scope.workspace, changes.c.user == (scope.user or ""))
        .order_by(changes.c.number.desc())
    )
    last = connection.execute(asked.limit(1)).first()
    return None if last is None else (last.number, last.after)


def _entries_at(connection: Connection, place: dict[str, str], at: int | None) -> tuple[KnownEntry, ...]:
    table = schema.entries
    asked = select(table).filter_by(**place).order_by(table.c.came, table.c.id)
    if at is None:
        asked = asked.where(table.c.went.is_(None))
    else:
        asked = asked.where(table.c.came <= at, table.c.went.is_(None) | (table.c.went > at))
    return tuple(
        KnownEntry(one.id, one.sha256, one.since, one.seen, one.critical, one.change_id, one.said)
        for one in connection.execute(asked)
    )
