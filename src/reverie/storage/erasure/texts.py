"""What rests on texts that are to go: found in the rows, and taken out of them. The texts are of sessions, of a version
that is redacted, or of a store that is deleted.

The ledger stays whole: it holds names and salted digests, and without the salt nobody can guess a text from them. An
edit whose text is gone says so (`erased`), which is not the same as that there was none. A dream's words go with its
output, in whose history they say why; with its input, if there is no output any more. That there was a dream, what it
read, how many matters met which fate and which Changes it made stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Table, case, delete, exists, or_, select, update

from reverie.core.ids import values_of
from reverie.core.scope import Scope
from reverie.dreams.diary import diary
from reverie.dreams.dream import Status
from reverie.erasure import traces
from reverie.erasure.records import Sought, ids_by_user
from reverie.erasure.traces import GONE
from reverie.erasure.words import Scrubber
from reverie.memory.operation import entry_hash
from reverie.memory.store import Author, MemoryVersion
from reverie.storage import schema
from reverie.storage.database import owner_key, read_blob
from reverie.storage.dreams.leases import dream_from

AT_ONCE = 500  # sessions or texts that one statement names
UNDER_WAY = (schema.nights, schema.chosen, schema.noticed, schema.planned, schema.answers)
Key = dict[str, Any]
Told = dict[str, Any]
_QUOTED = re.compile("“([^”]+)”")


def row_key(table: Table, row: Any) -> Key:
    return {column.name: getattr(row, column.name) for column in table.primary_key.columns}


def of_workspace(connection: Connection, table: Table, workspace: str) -> Iterator[Any]:
    """All rows, in pages; whoever changes some of them does so behind the last."""
    asked = select(table).where(table.c.workspace == workspace)
    yield from connection.execute(asked.execution_options(yield_per=500))


def looked(connection: Connection, workspace: str, sought: Sought) -> Sought:
    """With the statements that rest on those sessions alone, and the words that were quoted from them."""
    ids = {session.id for session in sought.sessions}
    if not ids:
        return sought
    said, elsewhere, rested, stays = list[str](), list[str](), list[str](), list[str]()

    def sort(item: Told) -> None:
        said.extend(traces.quotes(item, ids))
        if traces.orphaned(item, ids):
            said.extend(traces.remembered_texts(item))
        else:
            elsewhere.extend(traces.remembered_texts(item))
            elsewhere.extend(one["quote"] for one in traces.evidence_left(item, ids))

    for item in _items(connection, workspace):
        sort(item)
    for row in of_workspace(connection, schema.changes, workspace):
        told = json.loads(row.details)
        sort(told)
        if traces.orphaned(told, ids):
            rested += [*traces.remembered_texts(told), *_lines_brought(connection, row)]
        elif told["evidence"]:
            stays += traces.remembered_texts(told)
    more = replace(sought, phrases=tuple(traces.unsaid_elsewhere(said, elsewhere)), rules=(), asked=())
    if sought.wanted.rules == "keep":
        return sought.joined(more)
    standing = {" ".join(text.split()) for text in stays}
    rules = [text for text in dict.fromkeys(rested) if text and " ".join(text.split()) not in standing]
    critical = select(schema.entries.c.sha256).filter_by(workspace=workspace, critical=True, went=None)
    marked = set(connection.execute(critical).scalars())
    asked = tuple(rule for rule in rules if sought.wanted.rules == "ask" or entry_hash(rule) in marked)
    return sought.joined(replace(more, rules=tuple(rule for rule in rules if rule not in asked), asked=asked))


def _items(connection: Connection, workspace: str) -> Iterator[Told]:
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
    scope, brought = Scope(change.workspace, change.user, ""), list[str]()
    for edit in connection.execute(select(schema.edits).filter_by(**owner_key(scope), change_id=change.id)).all():
        contents = (read_blob(connection, scope, name) or b"" for name in (edit.before, edit.after))
        before, after = (
            [line.strip().lstrip("-*+0123456789.) ") for line in content.decode("utf-8", "replace").splitlines()]
            for content in contents
        )
        there = set(before)
        brought += [line for line in after if line not in there and " " in line]
    return brought


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
    for user, names in ids_by_user(sought.sessions).items():
        for start in range(0, len(names), AT_ONCE):
            _transcripts(connection, workspace, user, names[start : start + AT_ONCE], taken)
    # A night that is reading one of them ends here; its process finds that out at its next step.
    chosen = [row for row in of_workspace(connection, schema.chosen, workspace) if row.session_id in ids]
    for whose, dream in dict.fromkeys((row.user, row.dream) for row in chosen):
        which = {"workspace": workspace, "user": whose, "dream": dream}
        for table in UNDER_WAY:
            _delete(connection, table, which, taken)
        connection.execute(update(schema.leases).filter_by(**which).values(holder=""))
        ended = update(schema.dreams).filter_by(workspace=workspace, user=whose, id=dream)
        connection.execute(ended.values(status=Status.CANCELED))
    for row in list(of_workspace(connection, schema.candidates, workspace)):
        if row.session_id in ids or traces.orphaned(json.loads(row.details), ids):
            _delete(connection, schema.candidates, row_key(schema.candidates, row), taken)
    _proposals(connection, workspace, ids, taken)
    # Without its salt nobody can guess from the ledger what a Change rested on.
    table = schema.changes
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        if traces.rests_on(told, ids):
            said = json.dumps(traces.change_without(told, ids))
            connection.execute(update(table).filter_by(**row_key(table, row)).values(details=said, salt=""))
            taken.count(table)
    _dreams_of_sessions(connection, workspace, ids, taken)
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


def _dreams_of_sessions(connection: Connection, workspace: str, ids: set[str], taken: TakenOut) -> None:
    table = schema.dreams
    for row in list(of_workspace(connection, table, workspace)):
        told = json.loads(row.details)
        judged = [traces.judged_without(one, ids) for one in told["judged"]]
        read = any(one["session_id"] in ids for one in told["sessions"])
        if judged == told["judged"] and not read:
            continue
        told |= {"judged": judged, "flaws": [GONE for _ in told["flaws"]], "reduced": []}
        over_store = row.target.startswith("store:")
        if told["diary"]:  # that of a dream over a store was streamed as it went, and is not told again
            moments = values_of(row, ("id", "target", "status", "started_at", "ended_at"))
            without = SimpleNamespace(**moments, details=json.dumps(told))
            told["diary"] = GONE if over_store else diary(dream_from(without))
        connection.execute(update(table).filter_by(**row_key(table, row)).values(details=json.dumps(told)))
        taken.count(table)
        if over_store:
            whose = {"workspace": row.workspace, "user": row.user}
            own = connection.execute(select(schema.store_dreams.c.session).filter_by(**whose, id=row.id)).scalar()
            _say_instead(connection, whose, own)


def _say_instead(connection: Connection, whose: Key, session: str | None) -> None:
    """A dream's account of itself, as it was streamed."""
    told = json.dumps({"content": [{"type": "text", "text": GONE}]})
    spoken = update(schema.recorded_events).filter_by(**whose, session=session, type="agent.message")
    connection.execute(spoken.values(details=told))


def _erase_dreams_of_text(connection: Connection, scope: Scope, store: str, text: str) -> None:
    """A version that is redacted: the matters that quote it."""
    words = " ".join(text.split())

    def without(judged: Told) -> Told:
        # Of entries and of what was said, with what the sentences of the checks quote.
        checks = [part for _, found in judged.get("checks", ()) for part in _QUOTED.findall(found)]
        quoted = [judged["old"], judged["text"], judged.get("confirms", ""), *checks]
        return _emptied(judged) if any(part and part in words for part in quoted) else judged

    for row in _store_dreams(
        connection, scope, (schema.store_dreams.c.output == store) | (schema.store_dreams.c.store == store)
    ):
        _rewrite(connection, scope, row, without)


def erase_session_quotations(connection: Connection, scope: Scope, session: str) -> None:
    """A session that is deleted: the quotations from it, also in dreams over stores that are nobody's. What a memory
    says because of it is the store's."""

    def without(judged: Told) -> Told:
        if not any(one["session"] == session for one in judged["evidence"]):
            return judged
        if not judged["ref"]:  # nothing came of it: what it says are words of the session
            return _emptied(judged)
        left = [one | {"quote": ""} if one["session"] == session else one for one in judged["evidence"]]
        return judged | {"evidence": left, "checks": []}

    named = schema.store_dreams.c.asked.contains(f'"{session}"', autoescape=True)
    for whose in dict.fromkeys((scope.user or "", "")):
        for row in _store_dreams(connection, scope.of(whose), named):
            _rewrite(connection, scope.of(whose), row, without)


def _store_dreams(connection: Connection, scope: Scope, which: Any) -> list[Any]:
    same = (schema.dreams.c.workspace == schema.store_dreams.c.workspace) & (
        schema.dreams.c.user == schema.store_dreams.c.user
    )
    asked = select(schema.store_dreams, schema.dreams.c.details).join(
        schema.dreams, same & (schema.dreams.c.id == schema.store_dreams.c.id)
    )
    ours = (schema.store_dreams.c.workspace == scope.workspace, schema.store_dreams.c.user == (scope.user or ""))
    return list(connection.execute(asked.where(*ours, which)))


def _rewrite(connection: Connection, scope: Scope, row: Any, without: Callable[[Told], Told]) -> None:
    """Where a matter is told otherwise from now on, so is its Change; and nothing is told in one piece any more."""
    told = json.loads(row.details)
    judged = [without(one) for one in told["judged"]]
    hit = [new for old, new in zip(told["judged"], judged, strict=True) if new != old]
    if not hit:
        return
    kept = told | {"judged": judged, "diary": GONE if told["diary"] else "", "flaws": [GONE for _ in told["flaws"]]}
    connection.execute(update(schema.dreams).filter_by(**owner_key(scope), id=row.id).values(details=json.dumps(kept)))
    # Without its salt nobody can guess from the ledger what a Change rested on.
    matters = {one["ref"]: one for one in hit if one["ref"]}
    asked = (
        select(schema.changes.c.id, schema.changes.c.details)
        .filter_by(**owner_key(scope))
        .where(schema.changes.c.id.in_(matters))
    )
    for change in connection.execute(asked).all():
        matter = matters[change.id]
        said = {"reason": matter["reason"], "evidence": matter["evidence"]}
        reasoned = update(schema.changes).filter_by(**owner_key(scope), id=change.id)
        connection.execute(reasoned.values(details=json.dumps(json.loads(change.details) | said), salt=""))
    _say_instead(connection, owner_key(scope), row.session)
    # The title names the store.
    found = connection.execute(select(schema.recorded.c.details).filter_by(**owner_key(scope), id=row.session)).scalar()
    if found is not None:
        untitled = json.dumps(json.loads(found) | {"title": None})
        connection.execute(
            update(schema.recorded).filter_by(**owner_key(scope), id=row.session).values(details=untitled)
        )


def _emptied(judged: Told) -> Told:
    return traces.judged_emptied(judged) | ({"confirms": ""} if judged.get("confirms") else {})


def redact_version(connection: Connection, scope: Scope, redacted: MemoryVersion, by: Author, at: datetime) -> None:
    """Redact a version. Text that another version still has stays in history; other text goes."""
    ours, table = owner_key(scope), schema.memory_versions
    gone = {"path": None, "sha256": None, "size": None, "flags": "[]"}
    mark = {"redacted_at": at, "redacted_hand": by.hand, "redacted_by": by.id}
    connection.execute(update(table).filter_by(**ours, store=redacted.store, id=redacted.id).values(**gone, **mark))
    still = select(table.c.id).filter_by(**ours, sha256=redacted.sha256).limit(1)
    if redacted.sha256 is not None and connection.execute(still).first() is None:
        target = f"store:{scope.workspace}/{redacted.store}"
        text = read_blob(connection, scope, redacted.sha256) or b""
        _erase_dreams_of_text(connection, scope, redacted.store, text.decode())
        _erase(connection, ours, _changes_of(ours, target), [redacted.sha256])


def erase_store(connection: Connection, scope: Scope, deleted: str, target: str) -> None:
    """All that was ever written in it."""
    ours = owner_key(scope)
    touched = _changes_of(ours, target)
    asked = (
        select(schema.edits.c.before, schema.edits.c.after)
        .filter_by(**ours)
        .where(schema.edits.c.change_id.in_(touched))
    )
    names = {name for both in connection.execute(asked) for name in both if name not in (None, GONE)}
    for table in (schema.memories, schema.memory_versions):
        connection.execute(delete(table).filter_by(**ours, store=deleted))
    for known in (schema.documents, schema.entries):
        connection.execute(delete(known).filter_by(**ours, target=target))
    connection.execute(delete(schema.memory_stores).filter_by(**ours, id=deleted))
    _erase(connection, ours, touched, sorted(names))
    # A store that is gone: all that was said about it.
    stores = schema.memory_stores.c
    there = exists().where(
        stores.workspace == schema.store_dreams.c.workspace, stores.id == schema.store_dreams.c.output
    )
    mine = (schema.store_dreams.c.output == deleted) | ((schema.store_dreams.c.store == deleted) & ~there)
    for row in _store_dreams(connection, scope, mine):
        _rewrite(connection, scope, row, _emptied)
        # What could be told of it was its path.
        told = json.loads(row.told)
        unnamed = [one | {"path": ""} for one in told.get("withheld", ())]
        kept = update(schema.store_dreams).filter_by(**owner_key(scope), id=row.id)
        connection.execute(kept.values(told=json.dumps(told | {"withheld": unnamed})))


def _changes_of(ours: dict[str, str], target: str) -> Any:
    return select(schema.changes.c.id).filter_by(**ours, target=target).scalar_subquery()


def _erase(connection: Connection, ours: dict[str, str], touched: Any, names: Sequence[str]) -> None:
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        hit = or_(schema.edits.c.before.in_(some), schema.edits.c.after.in_(some))
        concerned = select(schema.edits.c.change_id).filter_by(**ours).where(schema.edits.c.change_id.in_(touched), hit)
        unsalted = update(schema.changes).filter_by(**ours).where(schema.changes.c.id.in_(concerned.scalar_subquery()))
        connection.execute(unsalted.values(salt=""))
        sides = {
            side.name: case((side.in_(some), GONE), else_=side)
            for side in (schema.edits.c.before, schema.edits.c.after)
        }
        connection.execute(
            update(schema.edits).filter_by(**ours).where(schema.edits.c.change_id.in_(touched), hit).values(**sides)
        )
        # But for bytes that another document, version or context needs.
        used = (
            schema.edits.c.before,
            schema.edits.c.after,
            schema.documents.c.sha256,
            schema.contexts.c.sha256,
            schema.memory_versions.c.sha256,
        )
        needed = [select(column).filter_by(**ours).where(column.is_not(None)).scalar_subquery() for column in used]
        unused = [schema.blobs.c.sha256.not_in(one) for one in needed]
        connection.execute(delete(schema.blobs).filter_by(**ours).where(schema.blobs.c.sha256.in_(some), *unused))
