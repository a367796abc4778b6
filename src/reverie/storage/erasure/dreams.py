"""What dreams over stores quoted, taken out of their accounts when what was quoted is to be gone.

A dream's words go with its output, in whose history they say why; with its input, if there is no output any more. That
there was a dream, what it read, how many matters met which fate and which Changes it made stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, exists, select, update

from reverie.core.scope import Scope
from reverie.storage.database.queries import owner_key
from reverie.storage.database.schema import changes, dreams, memory_stores, recorded, recorded_events, store_dreams

ERASED = "erased"
_QUOTED = re.compile("“([^”]+)”")
Told = dict[str, Any]


def of_store(connection: Connection, scope: Scope, store: str) -> None:
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


def of_text(connection: Connection, scope: Scope, store: str, text: str) -> None:
    """A version that is redacted: the matters that quote it."""
    words = " ".join(text.split())

    def without(judged: Told) -> Told:
        quoted = any(part and part in words for part in _words_of(judged))
        return _emptied(judged) if quoted else judged

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
    _reasons(connection, scope, {one["ref"]: one for one in hit if one["ref"]})
    _own_session(connection, scope, row.session)


def _reasons(connection: Connection, scope: Scope, matters: dict[str, Told]) -> None:
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


def _words_of(judged: Told) -> list[str]:
    """Of entries and of what was said, with what the sentences of the checks quote."""
    quoted = [part for _, found in judged.get("checks", ()) for part in _QUOTED.findall(found)]
    return [judged["old"], judged["text"], judged.get("confirms", ""), *quoted]
