"""What rests on sessions that are to go: found in the rows, and taken out of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Table, delete, select, update

from reverie.dreams.diary import diary
from reverie.dreams.dream import Status
from reverie.erasure import traces
from reverie.erasure.records import Sought
from reverie.erasure.words import Scrubber
from reverie.memory.operation import entry_hash
from reverie.storage.database import schema
from reverie.storage.dreams.rows import dream_from

GONE = traces.GONE
AT_ONCE = 500  # sessions that one statement names
UNDER_WAY = (schema.nights, schema.chosen, schema.noticed, schema.planned, schema.answers)
Key = dict[str, Any]


def row_key(table: Table, row: Any) -> Key:
    return {column.name: getattr(row, column.name) for column in table.primary_key.columns}


def of_workspace(connection: Connection, table: Table, workspace: str) -> Iterator[Any]:
    """All rows, in pages; whoever changes some of them does so behind the last."""
    asked = select(table).where(table.c.workspace == workspace)
    yield from connection.execute(asked.execution_options(yield_per=500))


@dataclass
class _Looked:
    rules: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    standing: list[str] = field(default_factory=list)


def looked(connection: Connection, workspace: str, sought: Sought) -> Sought:
    """With the statements that rest on those sessions alone, and the words that were quoted from them."""
    ids = {session.id for session in sought.sessions}
    if not ids:
        return sought
    found = _Looked()
    for item in _items(connection, workspace):
        _sort(item, ids, found)
    for row in of_workspace(connection, schema.changes, workspace):
        told = json.loads(row.details)
        _sort(told, ids, found)
        if traces.orphaned(told, ids):
            found.rules += [*traces.remembered_texts(told), *_lines_brought(connection, row)]
        elif told["evidence"]:
            found.standing += traces.remembered_texts(told)
    standing = {" ".join(text.split()) for text in found.standing}
    rules = tuple(text for text in dict.fromkeys(found.rules) if text and " ".join(text.split()) not in standing)
    phrases = tuple(traces.unsaid_elsewhere(found.phrases, found.elsewhere))
    more = replace(sought, phrases=phrases, rules=(), asked=())
    match sought.wanted.rules:
        case "keep":
            return sought.joined(more)
        case "ask":
            return sought.joined(replace(more, asked=rules))
        case _:
            critical = _critical(connection, workspace, rules)
            told = replace(more, rules=tuple(one for one in rules if one not in critical), asked=tuple(critical))
            return sought.joined(told)


def _sort(item: dict[str, Any], ids: set[str], found: _Looked) -> None:
    if traces.orphaned(item, ids):
        found.phrases += [*traces.quotes(item, ids), *traces.remembered_texts(item)]
        return
    found.phrases += traces.quotes(item, ids)
    found.elsewhere += [*traces.remembered_texts(item), *(one["quote"] for one in traces.evidence_left(item, ids))]


def _items(connection: Connection, workspace: str) -> Iterator[dict[str, Any]]:
    for table in (schema.candidates, schema.noticed, schema.proposals):
        for row in of_workspace(connection, table, workspace):
            yield json.loads(row.details)
    for row in of_workspace(connection, schema.dreams, workspace):
        yield from json.loads(row.details)["judged"]
    for row in of_workspace(connection, schema.planned, workspace):
        told = json.loads(row.details)
        became = [json.loads(row.became)] if row.became else []
        yield from (one for one in (told["judged"], told["suggestion"], *became) if one)


def _lines_brought(connection: Connection, change: Any) -> list[str]:
    """Lines that a Change wrote into its documents, where no operation says so: a skill, a page of a store."""
    whose = {"workspace": change.workspace, "user": change.user}
    brought: list[str] = []
    for edit in connection.execute(select(schema.edits).filter_by(**whose, change_id=change.id)).all():
        before, after = (_lines(connection, whose, name) for name in (edit.before, edit.after))
        there = set(before)
        brought += [line for line in after if line not in there and " " in line]
    return brought


def _lines(connection: Connection, whose: Key, name: str | None) -> list[str]:
    content = connection.execute(select(schema.blobs.c.content).filter_by(**whose, sha256=name)).scalar()
    text = bytes(content or b"").decode("utf-8", "replace")
    return [line.strip().lstrip("-*+0123456789.) ") for line in text.splitlines() if line.strip()]


def _critical(connection: Connection, workspace: str, rules: Iterable[str]) -> list[str]:
    table = schema.entries
    asked = select(table.c.sha256).where(table.c.workspace == workspace, table.c.critical, table.c.went.is_(None))
    marked = set(connection.execute(asked).scalars())
    return [text for text in rules if entry_hash(text) in marked]


# ---- taking out ------------------------------------------------------------------------------------------------------


@dataclass
class TakenOut:
    """The result of taking sessions out: rows by table, and the proposals that are gone."""

    rows: dict[str, int] = field(default_factory=dict)
    proposals: set[str] = field(default_factory=set)

    def count(self, table: Table, number: int = 1) -> None:
        if number:
            self.rows[table.name] = self.rows.get(table.name, 0) + number


def take_out(connection: Connection, workspace: str, sought: Sought) -> TakenOut:
    taken, ids = TakenOut(), {session.id for session in sought.sessions}
    by_user: dict[str, list[str]] = {}
    for session in sought.sessions:
        by_user.setdefault(session.user, []).append(session.id)
    for user, names in by_user.items():
        for start in range(0, len(names), AT_ONCE):
            _transcripts(connection, workspace, user, names[start : start + AT_ONCE], taken)
    _nights(connection, workspace, ids, taken)
    _candidates(connection, workspace, ids, taken)
    _proposals(connection, workspace, ids, taken)
    # Without its salt nobody can guess from the ledger what a Change rested on.
    table = schema.changes
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        if traces.rests_on(told, ids):
            said = json.dumps(traces.change_without(told, ids))
            connection.execute(update(table).filter_by(**row_key(table, row)).values(details=said, salt=""))
            taken.count(table)
    _dreams(connection, workspace, ids, taken)
    return taken


def _transcripts(connection: Connection, workspace: str, user: str, names: Sequence[str], taken: TakenOut) -> None:
    theirs, everyones = {"workspace": workspace, "user": user}, {"workspace": workspace}
    sources = select(schema.sessions.c.source).filter_by(**theirs).where(schema.sessions.c.id.in_(names))
    read = [source for source in connection.execute(sources).scalars() if source]
    for table, whose, column, values in (
        (schema.files, everyones, "path", read),
        (schema.turns, theirs, "session_id", names),
        (schema.sessions, theirs, "id", names),
        (schema.recorded_events, theirs, "session", names),
        (schema.recorded, theirs, "id", names),
        (schema.contexts, everyones, "session", names),
        (schema.dreamt, everyones | {"session_user": user}, "session_id", names),
    ):
        gone = delete(table).filter_by(**whose).where(table.c[column].in_(values))
        taken.count(table, connection.execute(gone).rowcount)


def _delete(connection: Connection, table: Table, which: Key, taken: TakenOut) -> None:
    taken.count(table, connection.execute(delete(table).filter_by(**which)).rowcount)


def _nights(connection: Connection, workspace: str, ids: set[str], taken: TakenOut) -> None:
    """A night that is reading one of them ends here; its process finds that out at its next step."""
    chosen = [row for row in of_workspace(connection, schema.chosen, workspace) if row.session_id in ids]
    for whose, dream in dict.fromkeys((row.user, row.dream) for row in chosen):
        which = {"workspace": workspace, "user": whose, "dream": dream}
        for table in UNDER_WAY:
            _delete(connection, table, which, taken)
        connection.execute(update(schema.leases).filter_by(**which).values(holder=""))
        ended = update(schema.dreams).filter_by(workspace=workspace, user=whose, id=dream)
        connection.execute(ended.values(status=Status.CANCELED))


def _candidates(connection: Connection, workspace: str, ids: set[str], taken: TakenOut) -> None:
    table = schema.candidates
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        if row.session_id in ids or traces.orphaned(told, ids):
            _delete(connection, table, row_key(table, row), taken)


def _proposals(connection: Connection, workspace: str, ids: set[str], taken: TakenOut) -> None:
    table = schema.proposals
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        if traces.orphaned(told, ids):
            _delete(connection, table, row_key(table, row), taken)
            taken.proposals.add(row.id)
        elif traces.rests_on(told, ids):
            said = json.dumps(told | {"evidence": traces.evidence_left(told, ids), "checks": []})
            connection.execute(update(table).filter_by(**row_key(table, row)).values(details=said))
            taken.count(table)


def take_statements_out(connection: Connection, workspace: str, scrub: Scrubber, taken: TakenOut) -> None:
    """Delete what waits to become memory and would say it: with a gap, it would be nonsense that could still land."""
    for table in (schema.candidates, schema.noticed, schema.proposals) if scrub else ():
        for row in list(of_workspace(connection, table, workspace)):
            if any(scrub.has(text) for text in traces.remembered_texts(json.loads(row.details))):
                _delete(connection, table, row_key(table, row), taken)
                if table is schema.proposals:
                    taken.proposals.add(row.id)


def _dreams(connection: Connection, workspace: str, ids: set[str], taken: TakenOut) -> None:
    table = schema.dreams
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        judged = [traces.judged_without(one, ids) for one in told["judged"]]
        read = any(one["session_id"] in ids for one in told["sessions"])
        if judged == told["judged"] and not read:
            continue
        told |= {"judged": judged, "flaws": [GONE for _ in told["flaws"]], "reduced": []}
        told["diary"] = _diary(row, told) if told["diary"] else ""
        connection.execute(update(table).filter_by(**row_key(table, row)).values(details=json.dumps(told)))
        taken.count(table)
        if row.target.startswith("store:"):
            _own_session(connection, row)


def _diary(row: Any, told: dict[str, Any]) -> str:
    """Told again without them. The diary of a dream over a store was streamed as it went, and is not told again."""
    if row.target.startswith("store:"):
        return GONE
    moments = {"id": row.id, "target": row.target, "status": row.status}
    moments |= {"started_at": row.started_at, "ended_at": row.ended_at}
    return diary(dream_from(SimpleNamespace(**moments, details=json.dumps(told))))


def _own_session(connection: Connection, dream: Any) -> None:
    whose = {"workspace": dream.workspace, "user": dream.user}
    own = connection.execute(select(schema.store_dreams.c.session).filter_by(**whose, id=dream.id)).scalar()
    told = json.dumps({"content": [{"type": "text", "text": GONE}]})
    spoken = update(schema.recorded_events).filter_by(**whose, session=own, type="agent.message")
    connection.execute(spoken.values(details=told))
