"""Which columns hold somebody's words, what their tables are called for people, and where something still stands."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, func, select

from reverie.core.scope import Scope
from reverie.erasure.records import ErasureKind, ErasurePlace, Sought
from reverie.erasure.words import Scrubber
from reverie.storage.database import schema
from reverie.storage.erasure.links import of_workspace

STAY = ("ledger", "erasures", "tombstones", "tombstone_keys", "backups", "counters")
TRANSCRIPTS = ("turns", "sessions", "recorded", "recorded_events")
# Columns that hold names of kinds and hashes, never anyone's words.
KINDS = frozenset(
    [
        "workspace",
        "user",
        "harness",
        "role",
        "origin",
        "noise",
        "standing",
        "via",
        "kind",
        "status",
        "operation",
        "hand",
        "redacted_hand",
        "type",
        "phase",
        "outcome",
        "permissions",
        "prefix",
        "sha256",
        "hash",
        "previous",
        "salt",
        "prompt_sha256",
        "question",
        "fingerprint",
        "reader",
        "before",
        "after",
        "changed",
    ]
)
LABELS = {
    "turns": "turns of transcripts",
    "sessions": "sessions",
    "recorded": "sessions recorded over the API",
    "recorded_events": "events recorded over the API",
    "candidates": "candidates",
    "noticed": "candidates",
    "proposals": "proposals",
    "changes": "changes",
    "blobs": "versions of documents",
    "dreams": "dreams and diaries",
    "ledger": "rows of the ledger",
    "memories": "memories in stores",
    "memory_versions": "versions of memories",
    "answers": "answers of models",
    "planned": "nights under way",
    "nights": "nights under way",
    "chosen": "nights under way",
    "contexts": "contexts given to sessions",
    "files": "files that were read",
    "dreamt": "marks of what was dreamt",
    "api_keys": "API keys",
    "definitions": "agents and environments",
    "definition_versions": "agents and environments",
    "store_dreams": "dreams and diaries",
}


def residue(connection: Connection, scope: Scope, sought: Sought) -> list[ErasurePlace]:
    """Where it still stands, looked for by its words and by nothing that erasing knows of the tables."""
    found: Counter[str] = Counter()
    words, ids = Scrubber(sought.texts, partial=True), {session.id for session in sought.sessions}
    for table in schema.metadata.sorted_tables:
        if table.name in ("erasures", "backups") or "workspace" not in table.c:
            continue
        for row in of_workspace(connection, table, scope.workspace) if words else ():
            if any(_contains(words, value) for name, value in row._mapping.items() if name not in KINDS):
                found[table.name] += 1
        for name in ("session_id", "session", "id") if ids and table.name in _OF_SESSIONS else ():
            if name in table.c:
                asked = select(func.count()).where(table.c.workspace == scope.workspace, table.c[name].in_(ids))
                whose = {one.user for one in sought.sessions}
                asked = asked.where(table.c["session_user" if "session_user" in table.c else "user"].in_(whose))
                found[table.name] += connection.execute(asked).scalar_one()
    if sought.wanted.kind is ErasureKind.PERSON:
        found.update(_rows_of_person(connection, scope, sought.user or ""))
    return [ErasurePlace(LABELS.get(name, name), name, count) for name, count in found.items() if count]


_OF_SESSIONS = ("sessions", "turns", "recorded", "recorded_events", "dreamt", "chosen")


def _contains(words: Scrubber, value: object) -> bool:
    if isinstance(value, str):
        return words.value(value) != value
    return isinstance(value, bytes | memoryview) and words.content(bytes(value)) != bytes(value)


def _rows_of_person(connection: Connection, scope: Scope, user: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for table in schema.metadata.sorted_tables:
        if "user" in table.c and table.name not in STAY:
            asked = select(func.count()).where(table.c.workspace == scope.workspace, table.c.user == user)
            found[table.name] = connection.execute(asked).scalar_one()
    return found
