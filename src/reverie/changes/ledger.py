"""A Change: what happened to a document or a skill, the unit of history, blame and undo. And the ledger: one row for
every change, verdict and mark, each bound to the one before by its hash; with the ports of both.

A row holds who, what, when and why by name, and digests of content that are salted: the chain stays whole when the
content is erased, and a short secret cannot be guessed from it. A chain proves that nothing was altered or left out,
not that what was written is true. A cut at the end shows only against an anchor: the last hash, kept elsewhere.

Whose row it is and what it says are hashed by themselves, with a salt, and the row's own hash is made of that digest.
So they can be erased: salt, user and body go, the digest stays, and every hash still holds. Rows from before schema
0013 have one hash over everything; an erased one is held by its neighbours alone. Either way a later row of the kind
`erasure` names every row that was emptied: one that nobody names was tampered with.

History reads through one small port of a database and writes through another; one adapter implements both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from reverie.core.clock import moment, rfc3339
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Origin, Scope
from reverie.memory.formats import FormatName
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.transcripts.session import Evidence

BEGINNING = "0" * 64
ERASURE = "erasure"
RESTORE = "restore"


class Via(StrEnum):
    """The way a Change came about."""

    PROPOSAL = "proposal"  # reviewed, by a person or by policy
    DIRECT = "direct"  # a write by someone who may
    UNDO = "undo"
    OUTSIDE = "outside"  # noticed: someone else wrote the file
    FOUND = "found"  # how the file was when Reverie first saw it


class Standing(StrEnum):
    INTENDED = "intended"
    LANDED = "landed"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class Edit:
    """One file's part in a Change. None: there was, or is, no such file."""

    document: str
    before: bytes | None
    after: bytes | None

    @property
    def opposite(self) -> Edit:
        return Edit(self.document, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Grounds:
    """The grounds of a Change, who wants it and why: everything an auditor asks about it.

    `origin` is where its words come from; a person's Verdict makes it that person's.
    """

    actor: str
    via: Via = Via.DIRECT
    reason: str = ""
    origin: Origin | None = None
    evidence: tuple[Evidence, ...] = ()
    proposal: str | None = None
    dream: str | None = None
    undoes: str | None = None
    approved_by: str | None = None
    because: str | None = None
    policy: str | None = None

    @property
    def said_at(self) -> datetime | None:
        """When the last of the words were said that a change rests on which nobody decided. A person who writes it or
        says yes to it says so then."""
        said = [one.said_at for one in self.evidence if one.weight == "support" and one.said_at]
        return max(said, default=None) if self.dream and self.policy else None

    @property
    def tidies(self) -> bool:
        """A night put in order what stands there, and nobody had to say it again."""
        return bool(self.dream and self.policy) and not self.evidence


@dataclass(frozen=True, slots=True)
class Change:
    """`number` is its place in the ledger, once settled: history is in that order, not in the clock's."""

    id: str
    target: str
    subject: str
    edits: tuple[Edit, ...]
    grounds: Grounds
    intended_at: datetime
    operations: tuple[Operation, ...] = ()
    form: FormatName | None = None  # how the document splits into entries; None for the files of a skill
    standing: Standing = Standing.INTENDED
    number: int | None = None
    settled_at: datetime | None = None
    note: str = ""

    def edit(self, document: str) -> Edit | None:
        return next((edit for edit in self.edits if edit.document == document), None)


def operation_as_json(operation: Operation) -> dict[str, str]:
    match operation:
        case Add(document, text):
            return {"op": "add", "document": document, "text": text}
        case Replace(document, old_sha256, text):
            return {"op": "replace", "document": document, "old_sha256": old_sha256, "text": text}
        case Remove(document, old_sha256):
            return {"op": "remove", "document": document, "old_sha256": old_sha256}


def operation_from_json(value: Mapping[str, str]) -> Operation:
    match value["op"]:
        case "add":
            return Add(value["document"], value["text"])
        case "replace":
            return Replace(value["document"], value["old_sha256"], value["text"])
        case _:
            return Remove(value["document"], value["old_sha256"])


def evidence_as_json(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [
        {"session": one.session_id, "turn": one.turn, "quote": one.quote, "origin": one.origin, "weight": one.weight}
        | ({"at": rfc3339(one.said_at)} if one.said_at else {})
        for one in evidence
    ]


def evidence_from_json(values: Iterable[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(one["session"], one["turn"], one["quote"], Origin(one["origin"]), one["weight"], moment(one.get("at")))
        for one in values
    )


# ---- the ledger ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    at: datetime
    kind: str
    user: str
    body: Mapping[str, Any]
    previous: str
    hash: str = ""
    salt: str | None = None
    details: str | None = None  # the salted digest of user and body; None in rows from before schema 0013
    erased: bool = False

    def salted(self, salt: str) -> Row:
        """The row with the digest of what can be erased."""
        return replace(self, salt=salt, details=self._digest(salt))

    def sealed(self) -> Row:
        """The row with the hash of everything else in it."""
        told: dict[str, Any] = {"number": self.number, "at": rfc3339(self.at), "kind": self.kind}
        told |= {"previous": self.previous}
        told |= {"user": self.user, "body": self.body} if self.details is None else {"details": self.details}
        return replace(self, hash=sha256(canonical(told)))

    @property
    def altered(self) -> bool:
        if self.erased:
            return self.details is not None and self.hash != self.sealed().hash
        if self.details is not None and self.details != self._digest(self.salt or ""):
            return True
        return self.hash != self.sealed().hash

    def _digest(self, salt: str) -> str:
        return sha256(salt.encode() + canonical({"user": self.user, "body": self.body}))


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as first and last of each run: an erasure may name thousands of rows."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def broken_links(rows: Iterable[Row]) -> Iterator[str]:
    """Faults of a chain, in words; none when it is whole."""
    emptied: set[int] = set()
    previous, expected = BEGINNING, 1
    for one in rows:
        if one.number != expected:
            yield f"row {expected} is missing: the next one is {one.number}"
        elif one.previous != previous:
            yield f"row {one.number} does not continue row {expected - 1}"
        if one.altered:
            yield f"row {one.number} was altered"
        if one.erased:
            emptied.add(one.number)
        elif one.kind == ERASURE:
            for first, last in one.body.get("rows", ()):
                emptied.difference_update(range(first, min(last, one.number) + 1))
        previous, expected = one.hash, one.number + 1
    yield from (f"row {number} was emptied, and no erasure says so" for number in sorted(emptied))


def digest(salt: str, content: bytes | None) -> str | None:
    return None if content is None else sha256(salt.encode() + content)


def ledger_body(change: Change, salt: str) -> dict[str, Any]:
    """The ledger's row of a settled Change: no content, only names and salted digests."""
    grounds = change.grounds
    named = {
        "change": change.id,
        "target": change.target,
        "subject": change.subject,
        "standing": str(change.standing),
        "via": str(grounds.via),
        "actor": grounds.actor,
        "origin": str(grounds.origin) if grounds.origin else None,
        "proposal": grounds.proposal,
        "dream": grounds.dream,
        "undoes": grounds.undoes,
        "approved_by": grounds.approved_by,
        "policy": grounds.policy,
        "edits": [
            {"document": edit.document, "before": digest(salt, edit.before), "after": digest(salt, edit.after)}
            for edit in change.edits
        ],
        "grounds": digest(salt, canonical([grounds.reason, grounds.because, [e.quote for e in grounds.evidence]])),
    }
    return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry as it was last seen. `since` is None when it was there before Reverie first looked.

    `seen` is when its present wording was first seen: the wording is at least that old. `said` is when the words were
    said that it rests on, where a night landed it by itself.
    """

    id: str
    sha256: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: str
    said: datetime | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A document as it was last seen: its bytes, the ledger's number then, and its entries in no order."""

    content: bytes | None
    number: int
    entries: tuple[KnownEntry, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of a Change among the entries of one document: hashes for what is new, ids for what was there.
    `critical` are those of the new that were critical where they stood before."""

    new: tuple[str, ...] = ()
    edited: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()
    critical: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Which Changes: newest first, unless asked otherwise. `ours`: without what was found or written from outside."""

    target: str | None = None
    subject: str | None = None
    document: str | None = None
    after: int = 0
    upto: int | None = None
    until: datetime | None = None
    limit: int | None = None
    proposal: str | None = None
    dream: str | None = None
    undoes: str | None = None
    oldest_first: bool = False
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Anchored:
    """A landed Change and the hash of its row in the ledger."""

    change: Change
    hash: str


class HistoryReader(Protocol):
    def known(self, scope: Scope, target: str, document: str, at: int | None = None) -> Known | None:
        """A document as it was last seen, or as it was when the ledger had reached the number `at`."""

    def documents(self, scope: Scope, target: str | None = None, under: str = "") -> list[tuple[str, str]]:
        """Target and path of every document ever seen whose path begins so."""

    def content(self, scope: Scope, sha256: str) -> bytes | None:
        """The bytes with this hash, if they stood on either side of a Change."""

    def critical(self, scope: Scope) -> frozenset[str]:
        """The hashes of all statements that are marked critical."""

    def get(self, scope: Scope, change: str) -> Change | None: ...

    def find(self, scope: Scope, asked: ChangeQuery) -> list[Change]: ...

    def unsettled(self, scope: Scope, target: str | None = None, subject: str | None = None) -> list[Change]:
        """Changes that were intended and neither landed nor dropped: a crash left them. Oldest first."""


class HistoryRecords(HistoryReader, Protocol):
    def intend(self, scope: Scope, change: Change) -> None:
        """Commit what is about to be written, with the bytes on both sides. A proposal has one such Change."""

    def settle(
        self, scope: Scope, change: Change, moves: Mapping[str, Moves], instead_of: Change | None = None
    ) -> Change:
        """Commit that it was written: standing, documents, entries and the ledger's row at once; and that `instead_of`,
        which was intended, was not."""

    def drop(self, scope: Scope, change: Change, note: str) -> None:
        """Commit that it will not be written after all."""

    def mark(self, scope: Scope, entry: str, critical: bool) -> None: ...

    def keep_rule(self, scope: Scope, target: str, document: str, rule: KnownEntry) -> str:
        """The id of the row that a rule of a skill has from now on, so that it can be marked. Twice is once."""

    def append(self, scope: Scope, kind: str, body: Mapping[str, Any]) -> Row: ...

    def rows(self, scope: Scope) -> Iterator[Row]: ...

    def anchored(self, scope: Scope, target: str, after: int = 0) -> Iterator[Anchored]:
        """The landed Changes of a target, oldest first, behind this number."""

    def mismatches(self, scope: Scope) -> Iterator[str]:
        """Where the ledger and the Changes it tells of do not say the same."""
