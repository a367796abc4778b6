"""Every row of a workspace without what is to go: what rests on it, what quotes it, what names it.

The tables are gone through by their columns, so that one that is added later is looked into as well: here is which
columns hold somebody's words, and what their tables are called for people. Bytes of documents are named by their hash:
where they change, so does every row that names them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, Text, and_, delete, func, select, update

from reverie.changes.ledger import ERASURE, ranges
from reverie.core.ids import sha256
from reverie.core.scope import Scope
from reverie.erasure.records import ErasureKind, ErasurePlace, Sought
from reverie.erasure.traces import GONE
from reverie.erasure.words import ERASED, Phrase, Scrubber
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import entry_hash
from reverie.skills.edits import rules_of
from reverie.storage import ledger, schema
from reverie.storage.database import put_if_new
from reverie.storage.erasure.texts import (
    Key,
    TakenOut,
    looked,
    of_workspace,
    row_key,
    take_out,
    take_statements_out,
)

STAY = ("ledger", "erasures", "tombstones", "tombstone_keys", "backups", "counters")
TRANSCRIPTS = ("turns", "sessions", "recorded", "recorded_events")
# Columns that hold names of kinds and hashes, never anyone's words.
_WHOSE = {"workspace", "user", "harness", "role", "origin", "hand", "redacted_hand", "permissions", "reader"}
_STATES = {"noise", "standing", "via", "kind", "status", "operation", "type", "phase", "outcome", "changed"}
_HASHES = {"sha256", "hash", "previous", "salt", "prefix", "prompt_sha256", "question", "fingerprint"}
KINDS = frozenset(_WHOSE | _STATES | _HASHES | {"before", "after"})
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
_OF_SESSIONS = ("sessions", "turns", "recorded", "recorded_events", "dreamt", "chosen")
_NAMED_BY_HASH = (
    (schema.edits, "before"),
    (schema.edits, "after"),
    (schema.documents, "sha256"),
    (schema.contexts, "sha256"),
    (schema.memory_versions, "sha256"),
    (schema.memories, "sha256"),
)


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
        for table in schema.metadata.sorted_tables:
            if "user" in table.c and table.name not in STAY:
                asked = select(func.count()).select_from(table).filter_by(workspace=scope.workspace, user=sought.user)
                found[table.name] += connection.execute(asked).scalar_one()
    return [ErasurePlace(LABELS.get(name, name), name, count) for name, count in found.items() if count]


def _contains(words: Scrubber, value: object) -> bool:
    if isinstance(value, str):
        return words.value(value) != value
    return isinstance(value, bytes | memoryview) and words.content(bytes(value)) != bytes(value)


@dataclass
class RowEraser:
    """In one transaction. Rolled back instead of committed it is a dry run: what it counted is what it would do."""

    connection: Connection
    scope: Scope
    sought: Sought
    erasure: str
    at: datetime
    counts: Counter[str] = field(default_factory=Counter)
    met: set[Phrase] = field(default_factory=set)
    hit: set[tuple[str, str]] = field(default_factory=set)  # sessions in whose turns a text stood
    _gone: set[str] = field(default_factory=set)  # hashes of statements that are gone
    _unsalted: set[tuple[str, str]] = field(default_factory=set)

    def run(self) -> Sought:
        """The texts sought in the end, with what rests on them."""
        self.sought = looked(self.connection, self.scope.workspace, self.sought)
        taken = TakenOut()
        if self.sought.everything:
            self._tables({"workspace": self.scope.workspace})
        else:
            if (user := self.sought.user) is not None:
                self._spoken_by(user)
                self._tables({"workspace": self.scope.workspace, "user": user})
            taken = take_out(self.connection, self.scope.workspace, self.sought)
            take_statements_out(self.connection, self.scope.workspace, self.sought.of_documents, taken)
            self.counts.update(taken.rows)
            self._blobs()
            records, transcripts = self.sought.of_records, replace(self.sought.of_transcripts, met=self.met)
            for table in schema.metadata.sorted_tables:
                scrub = transcripts if table.name in TRANSCRIPTS else records
                if scrub and table.name not in STAY and table is not schema.blobs:
                    self._sweep(table, scrub)
            self._forget_hashes()
            self._unused_blobs()
        self._ledger(taken.proposals)
        return self.sought

    def places(self) -> list[ErasurePlace]:
        return [
            ErasurePlace(LABELS.get(name, name.replace("_", " ")), name, count) for name, count in self.counts.items()
        ]

    def _tables(self, whose: dict[str, str]) -> None:
        for table in schema.metadata.sorted_tables:
            if table.name not in STAY and "user" in table.c:
                self._counted(table, self.connection.execute(delete(table).filter_by(**whose)).rowcount)
        if self.sought.everything:
            counters = schema.counters
            others = and_(counters.c.workspace == self.scope.workspace, counters.c.name.not_in(("ledger", "erasures")))
            self.connection.execute(delete(counters).where(others))

    def _spoken_by(self, user: str) -> None:
        """The turns they spoke in the sessions of others."""
        table = schema.turns
        theirs = [table.c.workspace == self.scope.workspace, table.c.user != user]
        named = select(table.c.name).where(*theirs, table.c.name.is_not(None)).distinct()
        spelt = [name for name in self.connection.execute(named).scalars() if name.casefold() == user.casefold()]
        gone = update(table).where(*theirs, table.c.name.in_(spelt))
        self._counted(table, self.connection.execute(gone.values(name=ERASED, text=ERASED, detail=None)).rowcount)

    def _counted(self, table: Table, number: int = 1) -> None:
        if number:
            self.counts[table.name] += number

    def _blobs(self) -> None:
        scrub = self.sought.of_documents
        if not scrub:
            return
        about = self._about()
        changed: list[tuple[str, str, bytes]] = []
        for row in of_workspace(self.connection, schema.blobs, self.scope.workspace):
            content = bytes(row.content)
            form, name = about.get((row.user, row.sha256), (None, ""))
            new = scrub.document(content, form, name)
            if new != content:
                changed.append((row.user, row.sha256, new))
                for chosen in FORMATS.values() if form is None else (FORMATS[form],):
                    left = {entry_hash(text) for text in chosen.read(new).entries}
                    self._gone |= {entry_hash(text) for text in chosen.read(content).entries} - left
                if form is None:  # the files of a skill: its rules are items and lines
                    self._gone |= _rules(content) - _rules(new)
        for user, name, new in changed:
            self._renamed(user, name, new)
        self._counted(schema.blobs, len(changed))

    def _about(self) -> dict[tuple[str, str], tuple[FormatName | None, str]]:
        """The format of each version of a document, which splits it into statements, and its name."""
        found: dict[tuple[str, str], tuple[FormatName | None, str]] = {}
        forms = {
            (row.user, row.id): (json.loads(row.details).get("form"), row.target)
            for row in of_workspace(self.connection, schema.changes, self.scope.workspace)
        }
        for row in of_workspace(self.connection, schema.edits, self.scope.workspace):
            form, _ = forms.get((row.user, row.change_id), (None, ""))
            for name in (row.before, row.after):
                if name is not None:
                    found[row.user, name] = (form, row.document)
        for row in of_workspace(self.connection, schema.memory_versions, self.scope.workspace):
            if row.sha256 is not None and (row.user, row.sha256) not in found:
                found[row.user, row.sha256] = ("page", row.path or "")
        return found

    def _renamed(self, user: str, name: str, content: bytes) -> None:
        whose = {"workspace": self.scope.workspace, "user": user}
        now = sha256(content)
        put_if_new(self.connection, schema.blobs, whose | {"sha256": now}, {"content": content})
        for table, column in _NAMED_BY_HASH:
            here = [table.c.workspace == self.scope.workspace, table.c.user == user, table.c[column] == name]
            if table is schema.edits:
                hit = self.connection.execute(select(table.c.change_id).where(*here)).scalars()
                self._unsalted.update((user, change) for change in hit)
            values: Key = {column: now} | ({"size": len(content)} if "size" in table.c else {})
            values |= {"dates": None} if "dates" in table.c else {}  # they name statements by their hashes
            number = self.connection.execute(update(table).where(*here).values(**values)).rowcount
            if table in (schema.memories, schema.memory_versions):
                self._counted(table, number)
        self.connection.execute(delete(schema.blobs).filter_by(**whose, sha256=name))

    def _unused_blobs(self) -> None:
        """Versions that nothing names any more: what a context or a memory said that is gone."""
        used: set[tuple[str, str]] = set()
        for table, column in _NAMED_BY_HASH:
            asked = select(table.c.user, table.c[column]).where(table.c.workspace == self.scope.workspace)
            used.update((row[0], row[1]) for row in self.connection.execute(asked) if row[1] is not None)
        blobs = schema.blobs
        asked = select(blobs.c.user, blobs.c.sha256).where(blobs.c.workspace == self.scope.workspace)
        unused = [(row[0], row[1]) for row in self.connection.execute(asked) if (row[0], row[1]) not in used]
        for user, name in unused:
            self.connection.execute(delete(blobs).filter_by(workspace=self.scope.workspace, user=user, sha256=name))
        self._counted(blobs, len(unused))

    def _forget_hashes(self) -> None:
        """The hash of a short statement would let anyone check a guess; so would a digest whose salt is known."""
        table = schema.entries
        for row in list(of_workspace(self.connection, table, self.scope.workspace)):
            if row.sha256 in self._gone:
                self.connection.execute(delete(table).filter_by(**row_key(table, row)))
                self._counted(table)
        for row in list(of_workspace(self.connection, schema.changes, self.scope.workspace)):
            told = json.loads(row.details)
            hashes = self._gone.intersection(one.get("old_sha256") for one in told["operations"])
            if hashes or (row.user, row.id) in self._unsalted:
                for one in told["operations"]:
                    if one.get("old_sha256") in hashes:
                        one["old_sha256"] = GONE
                said = {"details": json.dumps(told), "salt": ""}
                key = row_key(schema.changes, row)
                self.connection.execute(update(schema.changes).filter_by(**key).values(**said))

    def _sweep(self, table: Table, scrub: Scrubber) -> None:
        key = {column.name for column in table.primary_key.columns}
        names = [c.name for c in table.c if isinstance(c.type, Text) and c.name not in key | KINDS]
        named = [c.name for c in table.primary_key.columns if isinstance(c.type, Text) and c.name not in KINDS]
        changed: list[tuple[Key, Key]] = []
        gone: list[Key] = []
        for row in of_workspace(self.connection, table, self.scope.workspace):
            held = row._mapping
            if any(held[name] in scrub.exact or scrub.has(held[name]) for name in named):
                gone.append(row_key(table, row))
                continue
            new = {name: scrub.value(held[name]) for name in names if held[name] is not None}
            differs = {name: value for name, value in new.items() if value != held[name]}
            if differs:
                changed.append((row_key(table, row), differs))
                if table is schema.turns:
                    self.hit.add((row.user, row.session_id))
        for which in gone:
            self.connection.execute(delete(table).filter_by(**which))
        for which, values in changed:
            more = {"salt": ""} if table is schema.changes else {"hash": GONE} if table is schema.proposals else {}
            self.connection.execute(update(table).filter_by(**which).values(**values, **more))
        self._counted(table, len(gone) + len(changed))

    def _ledger(self, proposals: Iterable[str]) -> None:
        asked = select(schema.ledger).filter_by(workspace=self.scope.workspace).where(schema.ledger.c.kind != ERASURE)
        rows = [row for row in self.connection.execute(asked) if row.body != ledger.EMPTIED]
        hit = [one.number for one in rows if self._is_to_go(one, set(proposals))]
        ledger.emptied(self.connection, self.scope, hit)
        self._counted(schema.ledger, len(hit))
        told = {"erasure": self.erasure, "what": str(self.sought.wanted.kind), "because": self.sought.wanted.reason}
        if hit or self.counts.total():
            actor = GONE if self.scope.actor in self.sought.exact else self.scope.actor
            body = told | {"actor": actor, "rows": ranges(hit), "counts": dict(self.counts)}
            ledger.append_to_ledger(self.connection, self.scope.of(""), ERASURE, body, self.at)

    def _is_to_go(self, row: Any, proposals: set[str]) -> bool:
        if self.sought.everything or (self.sought.user is not None and row.user == self.sought.user):
            return True
        told = json.loads(row.body)
        if told.get("proposal") in proposals:
            return True
        return bool(self.sought.of_records.told(told) != told)


def _rules(content: bytes) -> set[str]:
    return {entry_hash(one.text) for one in rules_of(content.decode("utf-8", "replace").splitlines(keepends=True))}
