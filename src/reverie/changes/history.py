"""`home.history`: what happened, what a document said at any time, why each statement is there; and rules as rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from io import StringIO
from typing import Any

from reverie.changes.ledger import Change, ChangeQuery, Edit, HistoryRecords, Known, Via
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput, NotFound, required
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Scope
from reverie.memory.formats import FORMATS
from reverie.memory.operation import entry_hash, places_of
from reverie.skills.edits import rules_of
from reverie.skills.skill import read_skill


@dataclass(frozen=True, slots=True)
class Rule:
    """A landed statement an agent obeys, and everything an auditor asks about it.

    `since` is None when it was there before Reverie first looked; then `seen` says since when at the latest.
    """

    text: str
    target: str
    document: str
    id: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: Change
    user: str = ""  # whose memory it is in; '' is nobody's

    @property
    def where(self) -> str:
        """`hermes/MEMORY.md`, `skills/deploy/SKILL.md`, `memstore_01J…/notes.md`."""
        return f"{self.target}/{self.document.removeprefix('/')}"

    @property
    def approved_by(self) -> str | None:
        return self.change.grounds.approved_by


@dataclass(frozen=True, slots=True)
class Instruction:
    """A statement of a file that agents read and Reverie never changes: since when it stands there is not known."""

    text: str
    file: str


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """A document at one point and at a later one."""

    target: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class History:
    """`name_of` says how people call the target with this key."""

    scope: Scope
    records: HistoryRecords
    name_of: Callable[[str], str]

    def changes(self, path: str | None = None, limit: int | None = 20, *, ours: bool = False) -> list[Change]:
        """The newest Changes, of one document or skill if a path is given (`MEMORY.md`, `hermes/MEMORY.md`); `ours` are
        those that nobody wrote past Reverie."""
        if path is None:
            return self.records.find(self.scope, ChangeQuery(limit=limit, ours=ours))
        found = [
            change
            for target, document in self._named(path)
            for change in self.records.find(
                self.scope, ChangeQuery(target=target, document=document, limit=limit, ours=ours)
            )
        ]
        unique = {change.id: change for change in found}
        return sorted(unique.values(), key=lambda change: -(change.number or 0))[:limit]

    def get(self, change: str) -> Change:
        missing = NotFound(f"There is no change {change}.", next_step="`reverie history` lists them.")
        return required(self.records.get(self.scope, change), missing)

    def _one(self, asked: ChangeQuery) -> Change | None:
        """The first Change that is asked for."""
        return next(iter(self.records.find(self.scope, replace(asked, limit=1))), None)

    def content(self, path: str, as_of: datetime | None = None) -> bytes | None:
        """The exact bytes of a document then; None if there was none."""
        number = self.number_at(as_of) if as_of else None
        known = self.records.known(self.scope, *self.place(path), number)
        return known.content if known else None

    def place(self, path: str) -> tuple[str, str]:
        """The target and the document that are meant by a path; a refusal where that could be several."""
        place, *others = self._named(path)
        if others:
            names = " or ".join(f"{self.name_of(target)}/{document}" for target, document in [place, *others])
            raise BadInput(f"{path!r} could be several documents.", expected=names)
        return place

    def last_text(self, path: str) -> tuple[bytes, Change] | None:
        """The last text that a document had which is gone, and the Change that took it away."""
        target, document = self.place(path)
        last = self._one(ChangeQuery(target=target, document=document))
        edit = last.edit(document) if last else None
        return (edit.before, last) if last and edit and edit.after is None and edit.before is not None else None

    def first_seen(self, path: str) -> datetime | None:
        """When Reverie first looked at a document. Of the time before nothing is known."""
        target, document = next(iter(self._named(path)))
        first = self._one(ChangeQuery(target=target, document=document, oldest_first=True))
        return first.settled_at if first else None

    def number_at(self, when: datetime) -> int:
        """The ledger's number at a time. Order is the ledger's; the clock only finds the place in it."""
        last = self._one(ChangeQuery(until=when))
        return (last.number or 0) if last else 0

    def latest(self) -> int:
        last = self._one(ChangeQuery())
        return (last.number or 0) if last else 0

    def rules(self, as_of: datetime | None = None) -> Iterator[Rule]:
        """Every statement in force, with since when, on what evidence and approved by whom."""
        number = self.number_at(as_of) if as_of else None
        for target, document in self.records.documents(self.scope):
            known = self.records.known(self.scope, target, document, number)
            if known is not None:
                yield from self._rules(target, document, known)

    def blame(self, path: str, as_of: datetime | None = None) -> list[Rule]:
        """Which Change brought each statement of a document."""
        number = self.number_at(as_of) if as_of else None
        found = [(*place, self.records.known(self.scope, *place, number)) for place in self._named(path)]
        return [rule for target, document, known in found if known for rule in self._rules(target, document, known)]

    def rule(self, path: str, words: str) -> Rule:
        """The one rule of a document or skill that is meant: by its id, or by words that stand in no other."""
        rules = self.blame(path)
        wanted = " ".join(words.split()).casefold()
        flat = [" ".join(rule.text.split()).casefold() for rule in rules]
        exact = [rule for rule, text in zip(rules, flat, strict=True) if words == rule.id or text == wanted]
        found = exact or [rule for rule, text in zip(rules, flat, strict=True) if wanted and wanted in text]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadInput(f"{len(found)} rules of {path} say {words!r}.", expected="words that stand in only one")
        raise NotFound(f"No rule of {path} says {words!r}.", next_step=f"`reverie blame {path}` shows them.")

    def difference(self, earlier: int, later: int, path: str | None = None) -> list[DocumentDiff]:
        """The differences between two places in the ledger."""
        places = self._named(path) if path else self.records.documents(self.scope)
        differences = list[DocumentDiff]()
        for target, document in places:
            old, new = self._content_at(target, document, earlier), self._content_at(target, document, later)
            if old is None:
                first = self._one(ChangeQuery(target=target, document=document, upto=later, oldest_first=True))
                found = first.edit(document) if first and first.grounds.via is Via.FOUND else None
                old = found.after if found else None  # what it said before Reverie first looked is not known
            if old != new:
                differences.append(DocumentDiff(self.name_of(target), Edit(document, old, new)))
        return differences

    def files_at(self, target: str, subject: str, number: int) -> dict[str, bytes]:
        """The files of a skill at a place in the ledger."""
        found = {}
        for _, document in self.records.documents(self.scope, target, subject):
            content = self._content_at(target, document, number)
            if content is not None and (document == subject or document.startswith(f"{subject}/")):
                found[document] = content
        return found

    def _content_at(self, target: str, document: str, number: int) -> bytes | None:
        known = self.records.known(self.scope, target, document, number)
        return known.content if known else None

    def _rules(self, target: str, document: str, known: Known) -> Iterator[Rule]:
        last = self._one(ChangeQuery(target=target, document=document, upto=known.number))
        if not last or known.content is None:
            return
        if last.form is None:
            yield from self._rules_of_skill(target, document, known)
            return
        texts = FORMATS[last.form].read(known.content or b"").entries
        place, user = (self.name_of(target), document), self.scope.user or ""
        for at, one in sorted(places_of(known.entries, texts).items()):
            yield Rule(texts[at], *place, one.id, one.since, one.seen, one.critical, self.get(one.change), user)

    def _rules_of_skill(self, target: str, document: str, known: Known) -> Iterator[Rule]:
        """Each rule of a skill with the Change that brought it, and since which it stands there."""
        brought: dict[str, Change] = {}
        asked = ChangeQuery(target=target, document=document, upto=known.number, oldest_first=True)
        critical = {one.sha256 for one in known.entries if one.critical}
        for change in self.records.find(self.scope, asked):
            edit = change.edit(document)
            said = rules_in(change.subject, document, edit.after if edit else None)
            brought = {text: brought.get(text, change) for text in said}
        for text, change in brought.items():
            since = None if change.grounds.via is Via.FOUND else change.settled_at
            seen = change.settled_at or change.intended_at
            name = f"rule_{sha256(canonical([target, document, text]))[:24]}"
            marked = entry_hash(text) in critical
            yield Rule(text, self.name_of(target), document, name, since, seen, marked, change, self.scope.user or "")

    def _named(self, path: str) -> list[tuple[str, str]]:
        """The documents a person may mean by a path."""
        every = self.records.documents(self.scope)
        meant = [
            (target, document)
            for target, document in every
            if path in (document, *(f"{name}/{document.removeprefix('/')}" for name in (self.name_of(target), target)))
            or document.startswith(f"{path}/")
            or ("/" in path and f"{self.name_of(target)}/{document}".startswith(f"{path}/"))
            or (target.startswith("store:") and path == self.name_of(target))
        ]
        if not meant:
            known = ", ".join(f"{self.name_of(target)}/{document}" for target, document in every[:8])
            begin = "" if known else "No memory was seen yet: `reverie memory list` looks for some."
            raise NotFound(f"Nothing is known of {path!r}.", expected=known and f"one of: {known}", next_step=begin)
        return meant


def rules_in(subject: str, document: str, content: bytes | None) -> list[str]:
    """The rules of a skill: its items and sentences. Files beside it are material."""
    if content is None or document not in (subject, f"{subject}/SKILL.md", f"{subject}/skill.md"):
        return []
    body = read_skill(subject, {document: content}).body
    found = (rule.text for rule in rules_of(body.splitlines(keepends=True)))
    return list(dict.fromkeys(text for text in found if not text.startswith(("#", "```", "~~~"))))


def happened(change: Change) -> str:
    """One line in plain words."""
    grounds = change.grounds
    match grounds.via:
        case Via.FOUND:
            return f"first seen {change.subject}"
        case Via.OUTSIDE:
            return f"{change.subject} was written from outside"
        case Via.UNDO:
            return f"took back {grounds.undoes}"
        case Via.DIRECT | Via.PROPOSAL:
            verbs = {"Add": "added to", "Replace": "replaced in", "Remove": "removed from"}
            done = {verbs[type(one).__name__] for one in change.operations} or {"changed"}
            return f"{' and '.join(sorted(done))} {change.subject}"


def sizes(changes: Sequence[Change]) -> list[tuple[datetime, float]]:
    """Characters after each change of one document or skill, oldest first. `changes` are newest first."""
    held: dict[str, int] = {}
    found = []
    for change in reversed(changes):
        for edit in change.edits:
            held[edit.document] = len((edit.after or b"").decode("utf-8", "replace"))
        if change.settled_at is not None:
            found.append((change.settled_at, float(sum(held.values()))))
    return found


COLUMNS = (
    *("rule", "where", "since", "seen", "critical", "from", "approved_by", "because", "evidence", "change"),
    *("id", "user"),
)


def rule_row(rule: Rule) -> dict[str, Any]:
    grounds = rule.change.grounds
    return {
        "rule": rule.text,
        "where": rule.where,
        "since": rule.since,
        "seen": rule.seen,
        "critical": rule.critical,
        "from": str(grounds.origin or grounds.via),
        "approved_by": grounds.approved_by,
        "because": grounds.because,
        "evidence": grounds.evidence,
        "change": rule.change.id,
        "id": rule.id,
        "user": rule.user,
    }


def instruction_row(one: Instruction) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"rule": one.text, "where": one.file, "from": "instruction file", "evidence": []}


def rules_as_csv(rules: Iterable[Rule], instructions: Iterable[Instruction]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    for rule in rules:
        told = rule_row(rule)
        told |= {name: rfc3339(told[name]) for name in ("since", "seen") if told[name]}
        told["evidence"] = " | ".join(f"{one.session_id}#{one.turn} {one.quote}" for one in told["evidence"])
        told["rule"] = _inert(told["rule"])
        told["because"] = _inert(told["because"] or "")
        writer.writerow(told)
    for one in instructions:
        writer.writerow(instruction_row(one) | {"rule": _inert(one.text), "evidence": ""})
    return out.getvalue()


def rules_as_json(rules: Iterable[Rule], instructions: Iterable[Instruction]) -> str:
    rows = [*map(rule_row, rules), *map(instruction_row, instructions)]
    for one in rows:
        one |= {name: rfc3339(one[name]) for name in ("since", "seen") if one[name]}
        one["evidence"] = [
            asdict(each) | {"said_at": each.said_at and rfc3339(each.said_at)} for each in one["evidence"]
        ]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _inert(text: str) -> str:
    """A cell that a spreadsheet takes as text, not as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
