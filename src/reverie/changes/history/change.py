"""A Change: what happened to a document or a skill. The unit of history, blame and undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from reverie.core.clock import moment, rfc3339
from reverie.core.origin import Origin
from reverie.memory.formats import FormatName
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.transcripts.session import Evidence


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
