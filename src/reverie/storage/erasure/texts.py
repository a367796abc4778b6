"""Texts taken out of history and out of what dreams over stores quoted: of a version that is redacted, of a store or a
session that is deleted.

The ledger stays whole: it holds names and salted digests, and without the salt nobody can guess a text from them. An
edit whose text is gone says so (`erased`), which is not the same as that there was none. A dream's words go with its
output, in whose history they say why; with its input, if there is no output any more. That there was a dream, what it
read, how many matters met which fate and which Changes it made stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, exists, or_, select, update

from reverie.core.scope import Scope
from reverie.memory.store import Author, MemoryVersion
from reverie.storage.database.queries import owner_key
from reverie.storage.database.schema import (
    blobs,
    changes,
    contexts,
    documents,
    dreams,
    edits,
    entries,
    memories,
    memory_stores,
    memory_versions,
    recorded,
    recorded_events,
    store_dreams,
)

ERASED = "erased"
_QUOTED = re.compile("“([^”]+)”")
Told = dict[str, Any]
AT_ONCE = 500


def _erase_dreams_of_store(connection: Connection, scope: Scope, store: str) -> None:
    """A store that is gone: all that was said about it."""
    there = exists().where(
        memory_stores.c.workspace == store_dreams.c.workspace, memory_stores.c.id == store_dreams.c.output
    )
    mine = (store_dreams.c.output == store) | ((store_dreams.c.store == store) & ~there)
    for row in _dreams(connection, scope, mine):
        _rewrite(connection, scope, row, _emptied)
        # What could be told of it was its path.
        told = json.loads(row.told)
        unnamed = [one | {"path": ""} for one in told.get("withheld", ())]
        kept = update(store_dreams).filter_by(**owner_key(scope), id=row.id)
        connection.execute(kept.values(told=json.dumps(told | {"withheld": unnamed})))


def _erase_dreams_of_text(connection: Connection, scope: Scope, store: str, text: str) -> None:
    """A version that is redacted: the matters that quote it."""
    words = " ".join(text.split())

    def without(judged: Told) -> Told:
        # Of entries and of what was said, with what the sentences of the checks quote.
        checks = [part for _, found in judged.get("checks", ()) for part in _QUOTED.findall(found)]
        quoted = [judged["old"], judged["text"], judged.get("confirms", ""), *checks]
        return _emptied(judged) if any(part and part in words for part in quoted) else judged

    for row in _dreams(connection, scope, (store_dreams.c.output == store) | (store_dreams.c.store == store)):
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

    named = store_dreams.c.asked.contains(f'"{session}"', autoescape=True)
    for whose in dict.fromkeys((scope.user or "", "")):
        for row in _dreams(connection, scope.of(whose), named):
            _rewrite(connection, scope.of(whose), row, without)


def _dreams(connection: Connection, scope: Scope, which: Any) -> list[Any]:
    same = (dreams.c.workspace == store_dreams.c.workspace) & (dreams.c.user == store_dreams.c.user)
    asked = select(store_dreams, dreams.c.details).join(dreams, same & (dreams.c.id == store_dreams.c.id))
    ours = (store_dreams.c.workspace == scope.workspace, store_dreams.c.user == (scope.user or ""))
    return list(connection.execute(asked.where(*ours, which)))


def _rewrite(connection: Connection, scope: Scope, row: Any, without: Callable[[Told], Told]) -> None:
    """Where a matter is told otherwise from now on, so is its Change; and nothing is told in one piece any more."""
    told = json.loads(row.details)
    judged = [without(one) for one in told["judged"]]
    hit = [new for old, new in zip(told["judged"], judged, strict=True) if new != old]
    if not hit:
        return
    kept = told | {"judged": judged, "diary": ERASED if told["diary"] else "", "flaws": [ERASED for _ in told["flaws"]]}
    connection.execute(update(dreams).filter_by(**owner_key(scope), id=row.id).values(details=json.dumps(kept)))
    _rewrite_reasons(connection, scope, {one["ref"]: one for one in hit if one["ref"]})
    _own_session(connection, scope, row.session)


def _rewrite_reasons(connection: Connection, scope: Scope, matters: dict[str, Told]) -> None:
    """Without its salt nobody can guess from the ledger what a Change rested on."""
    asked = select(changes.c.id, changes.c.details).filter_by(**owner_key(scope)).where(changes.c.id.in_(matters))
    for change in connection.execute(asked).all():
        matter = matters[change.id]
        said = {"reason": matter["reason"], "evidence": matter["evidence"]}
        kept = update(changes).filter_by(**owner_key(scope), id=change.id)
        connection.execute(kept.values(details=json.dumps(json.loads(change.details) | said), salt=""))


def _own_session(connection: Connection, scope: Scope, session: str) -> None:
    """The dream's account of itself, as it was streamed; and its title, which names the store."""
    told = json.dumps({"content": [{"type": "text", "text": ERASED}]})
    spoken = update(recorded_events).filter_by(**owner_key(scope), session=session, type="agent.message")
    connection.execute(spoken.values(details=told))
    found = connection.execute(select(recorded.c.details).filter_by(**owner_key(scope), id=session)).scalar()
    if found is not None:
        untitled = json.dumps(json.loads(found) | {"title": None})
        connection.execute(update(recorded).filter_by(**owner_key(scope), id=session).values(details=untitled))


def _emptied(judged: Told) -> Told:
    """Its verb, its fate, its Change and how much it was worth stay."""
    gone = {"text": "", "old": "", "document": "", "reason": ERASED, "why": ERASED, "evidence": [], "checks": []}
    gone |= {"confirms": ""} if judged.get("confirms") else {}
    score = judged["score"] and judged["score"] | {
        "parts": [part | {"why": ERASED} for part in judged["score"]["parts"]]
    }
    return judged | gone | {"score": score}


def redact_version(connection: Connection, scope: Scope, redacted: MemoryVersion, by: Author, at: datetime) -> None:
    """Redact a version. Text that another version still has stays in history; other text goes."""
    ours, table = owner_key(scope), memory_versions
    gone = {"path": None, "sha256": None, "size": None, "flags": "[]"}
    mark = {"redacted_at": at, "redacted_hand": by.hand, "redacted_by": by.id}
    connection.execute(update(table).filter_by(**ours, store=redacted.store, id=redacted.id).values(**gone, **mark))
    still = select(table.c.id).filter_by(**ours, sha256=redacted.sha256).limit(1)
    if redacted.sha256 is not None and connection.execute(still).first() is None:
        target = f"store:{scope.workspace}/{redacted.store}"
        text = connection.execute(select(blobs.c.content).filter_by(**ours, sha256=redacted.sha256)).scalar()
        _erase_dreams_of_text(connection, scope, redacted.store, bytes(text or b"").decode())
        _erase(connection, ours, _changes_of(ours, target), [redacted.sha256])


def erase_store(connection: Connection, scope: Scope, deleted: str, target: str) -> None:
    """All that was ever written in it."""
    ours = owner_key(scope)
    touched = _changes_of(ours, target)
    asked = select(edits.c.before, edits.c.after).filter_by(**ours).where(edits.c.change_id.in_(touched))
    names = {name for both in connection.execute(asked) for name in both if name not in (None, ERASED)}
    for table in (memories, memory_versions):
        connection.execute(delete(table).filter_by(**ours, store=deleted))
    for known in (documents, entries):
        connection.execute(delete(known).filter_by(**ours, target=target))
    connection.execute(delete(memory_stores).filter_by(**ours, id=deleted))
    _erase(connection, ours, touched, sorted(names))
    _erase_dreams_of_store(connection, scope, deleted)


def _changes_of(ours: dict[str, str], target: str) -> Any:
    return select(changes.c.id).filter_by(**ours, target=target).scalar_subquery()


def _erase(connection: Connection, ours: dict[str, str], touched: Any, names: Sequence[str]) -> None:
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        hit = or_(edits.c.before.in_(some), edits.c.after.in_(some))
        concerned = select(edits.c.change_id).filter_by(**ours).where(edits.c.change_id.in_(touched), hit)
        unsalted = update(changes).filter_by(**ours).where(changes.c.id.in_(concerned.scalar_subquery()))
        connection.execute(unsalted.values(salt=""))
        sides = {side.name: case((side.in_(some), ERASED), else_=side) for side in (edits.c.before, edits.c.after)}
        connection.execute(update(edits).filter_by(**ours).where(edits.c.change_id.in_(touched), hit).values(**sides))
        connection.execute(delete(blobs).filter_by(**ours).where(blobs.c.sha256.in_(some), *_unused(ours)))


def _unused(ours: dict[str, str]) -> list[Any]:
    """No other document, version or context needs these bytes."""
    named = (edits.c.before, edits.c.after, documents.c.sha256, contexts.c.sha256, memory_versions.c.sha256)
    return [
        blobs.c.sha256.not_in(
            select(column)
            .where(
                column.table.c.workspace == ours["workspace"], column.table.c.user == ours["user"], column.is_not(None)
            )
            .scalar_subquery()
        )
        for column in named
    ]
