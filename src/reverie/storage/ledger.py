"""The ledger's table, and what it tells of: Changes as rows, proposals with their verdicts, contexts of sessions.
Implements `reverie.changes.proposal.Proposals` and `reverie.changes.surfaces.Contexts`.

What is asked for by name has a column, the rest is JSON.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Select, and_, func, insert, select, tuple_, update

from reverie.changes.ledger import (
    BEGINNING,
    Anchored,
    Change,
    Edit,
    Grounds,
    Row,
    Standing,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.changes.proposal import OpenProposals, Part, Proposal, ProposalStatus, Score, Suggestion, score_as_json
from reverie.changes.surfaces import ContextRequest, GivenContext
from reverie.core.clock import rfc3339
from reverie.core.errors import DatabaseUnusable
from reverie.core.ids import from_json, json_ready, values_of
from reverie.core.scope import Scope
from reverie.skills.skill import amendment_as_json, amendment_from_json
from reverie.storage import schema
from reverie.storage.database import (
    SqlAdapter,
    next_number,
    owner_key,
    put_blob,
    read_blob,
    reading,
    upsert,
    writing,
)
from reverie.storage.schema import ledger

PAGE = 1_000
EMPTIED = ""
CHANGES_AT_ONCE = 100
CONTENTS_AT_ONCE = 500  # changes, or contents, that are read with one question
_OF_PROPOSAL = ("kind", "status", "hash", "made_at", "expires_at", "rank", "project", "snoozed_until")
_TOLD = ("target_name", "diff", "findings", "blocked", "asks_because", "related", "reach", "verdict", "change", "note")


def append_to_ledger(connection: Connection, scope: Scope, kind: str, body: Mapping[str, Any], at: datetime) -> Row:
    number = next_number(connection, scope.workspace, "ledger")
    asked = select(ledger.c.hash).filter_by(workspace=scope.workspace, number=number - 1)
    previous = connection.execute(asked).scalar() or BEGINNING
    added = Row(number, at, kind, scope.user or "", body, previous).salted(secrets.token_hex(16)).sealed()
    values = {"at": at, "kind": kind, "user": added.user, "previous": previous, "hash": added.hash}
    values |= {"salt": added.salt, "details": added.details}
    key = {"workspace": scope.workspace, "number": number}
    connection.execute(insert(ledger), key | values | {"body": json.dumps(body)})
    return added


def emptied(connection: Connection, scope: Scope, numbers: Iterable[int]) -> None:
    """Take out whose rows these are and what they say. Their hashes stay; a row of the kind `erasure` has to name
    them."""
    for number in sorted(numbers):
        row = update(ledger).filter_by(workspace=scope.workspace, number=number)
        connection.execute(row.values(user="", body=EMPTIED, salt=None))


def rows(engine: Engine, scope: Scope) -> Iterator[Row]:
    """All of them in order, a page at a time: a reader who stops to think holds no transaction open."""
    last = 0
    while True:
        asked = select(ledger).filter_by(workspace=scope.workspace).where(ledger.c.number > last)
        with reading(engine, scope) as connection:
            page = connection.execute(asked.order_by(ledger.c.number).limit(PAGE)).all()
        for one in page:
            erased = one.body == EMPTIED
            body = {} if erased else json.loads(one.body)
            yield Row(
                one.number, one.at, one.kind, one.user, body, one.previous, one.hash, one.salt, one.details, erased
            )
        if not page:
            return
        last = page[-1].number


def change_details(change: Change) -> str:
    grounds = change.grounds
    told = values_of(grounds, ("reason", "origin", "approved_by", "because", "policy"))
    told |= {"note": change.note, "form": change.form, "evidence": evidence_as_json(grounds.evidence)}
    told["operations"] = [operation_as_json(one) for one in change.operations]
    return json.dumps(told)  # escaped: a document may hold bytes that no database takes as text


def changes_from_rows(connection: Connection, scope: Scope, found: Sequence[Any]) -> list[Change]:
    """Changes with their edits and the bytes on both sides, read for many at once."""
    loaded = list[Change]()
    for start in range(0, len(found), CONTENTS_AT_ONCE):
        rows = found[start : start + CONTENTS_AT_ONCE]
        theirs = schema.edits.c.change_id.in_([one.id for one in rows])
        chosen = select(schema.edits).filter_by(**owner_key(scope)).where(theirs).order_by(schema.edits.c.place)
        edits = connection.execute(chosen).all()
        names = list({name for one in edits for name in (one.before, one.after) if name is not None})
        blobs = select(schema.blobs.c.sha256, schema.blobs.c.content).filter_by(**owner_key(scope))
        contents = dict[str, bytes]()
        for first in range(0, len(names), CONTENTS_AT_ONCE):  # a change of a skill may be of many files
            read = connection.execute(blobs.where(schema.blobs.c.sha256.in_(names[first : first + CONTENTS_AT_ONCE])))
            contents |= {name: bytes(content) for name, content in read}
        sides = dict[str, list[tuple[str, bytes | None, bytes | None]]]()
        for one in edits:
            before, after = contents.get(one.before), contents.get(one.after)
            sides.setdefault(one.change_id, []).append((one.document, before, after))
        for one in rows:
            told = {**one._mapping, **json.loads(one.details)}
            told["evidence"] = evidence_from_json(told["evidence"])
            told["operations"] = map(operation_from_json, told["operations"])
            between = tuple(Edit(*side) for side in sides.get(one.id, ()))
            loaded.append(from_json(Change, told | {"edits": between, "grounds": from_json(Grounds, told)}))
    return loaded


def anchored(engine: Engine, scope: Scope, target: str, after: int) -> Iterator[Anchored]:
    """A page at a time: a reader who stops to think holds no transaction open."""
    changes, rows = schema.changes, schema.ledger
    there = and_(rows.c.workspace == changes.c.workspace, rows.c.number == changes.c.number)
    asked = select(changes, rows.c.hash.label("anchor")).outerjoin(rows, there)
    asked = asked.where(changes.c.workspace == scope.workspace, changes.c.user == (scope.user or ""))
    asked = asked.where(changes.c.target == target, changes.c.standing == Standing.LANDED)
    asked = asked.order_by(changes.c.number).limit(CHANGES_AT_ONCE)
    while True:
        with reading(engine, scope) as connection:
            found = connection.execute(asked.where(changes.c.number > after)).all()
            loaded = changes_from_rows(connection, scope, found)
        if missing := next((one for one in found if one.anchor is None), None):
            raise DatabaseUnusable(
                f"Row {missing.number} of the ledger is missing: it told of {missing.id}.",
                next_step="`reverie verify` says more.",
            )
        yield from (Anchored(change, str(one.anchor)) for change, one in zip(loaded, found, strict=True))
        if len(loaded) < CHANGES_AT_ONCE:
            return
        after = loaded[-1].number or 0


class SqlContexts(SqlAdapter):
    def keep(self, scope: Scope, given: GivenContext) -> None:
        owner = owner_key(scope)
        details = values_of(given, ("skills", "left_out", "withheld"))
        with writing(self._engine, scope) as connection:
            name = put_blob(connection, scope, given.text.encode("utf-8", "surrogateescape"))
            body = {"context": given.id, "session": given.session, "actor": scope.actor}
            row = append_to_ledger(connection, scope, "context", body, self._clock.now())
            values = {"id": given.id, "number": row.number, "session": given.session, "at": given.at, "sha256": name}
            told = json.dumps(asdict(given.asked) | details)
            connection.execute(insert(schema.contexts), owner | values | {"asked": told})

    def last(self, scope: Scope, session: str | None = None, until: datetime | None = None) -> GivenContext | None:
        table = schema.contexts
        owner = owner_key(scope)
        asked = select(table).filter_by(**owner).order_by(table.c.number.desc()).limit(1)
        if session is not None:
            asked = asked.filter_by(session=session)
        if until is not None:
            asked = asked.where(table.c.at <= until)
        with reading(self._engine, scope) as connection:
            found = connection.execute(asked).first()
            if found is None:
                return None
            told = json.loads(found.asked)
            text = (read_blob(connection, scope, found.sha256) or b"").decode("utf-8", "surrogateescape")
            asked_for = from_json(ContextRequest, told)
            return from_json(GivenContext, {**found._mapping, **told, "asked": asked_for, "text": text})


class SqlProposals(SqlAdapter):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        suggestion = proposal.suggestion
        row = values_of(suggestion, ("target", "subject", "proposer", "dream")) | values_of(proposal, _OF_PROPOSAL)
        details = suggestion_as_json(suggestion) | values_of(suggestion, ("action", "spoken_by", "checks"))
        details["edits"] = [[one.document, _text(one.before), _text(one.after)] for one in suggestion.edits]
        details |= {name: json_ready(getattr(proposal, name)) for name in _TOLD}
        row |= {"details": json.dumps(details), "decided_at": proposal.verdict and proposal.verdict.at}
        with writing(self._engine, scope) as connection:
            upsert(connection, schema.proposals, owner_key(scope) | {"id": proposal.id}, row)
            # For the ledger: what happened to which proposal, by whom; none of its words.
            verdict = proposal.verdict
            told: dict[str, Any] = {"proposal": proposal.id, "status": str(proposal.status), "hash": proposal.hash}
            told["actor"] = scope.actor
            told["snoozed_until"] = proposal.snoozed_until and rfc3339(proposal.snoozed_until)
            if verdict is not None:
                told |= {"by": verdict.by, "approved": verdict.approved, "policy": verdict.policy}
            body = {name: value for name, value in told.items() if value is not None}
            append_to_ledger(connection, scope, "proposal", body, self._clock.now())

    def get(self, scope: Scope, proposal: str) -> Proposal | None:
        found = self._first(scope, select(schema.proposals).filter_by(**owner_key(scope), id=proposal))
        return None if found is None else _proposal(found)

    def find(
        self,
        scope: Scope,
        statuses: Iterable[ProposalStatus],
        since: datetime | None = None,
        place: tuple[str, str] | None = None,
    ) -> list[Proposal]:
        asked = _with_status(scope, statuses)
        asked = asked.where(schema.proposals.c.decided_at > since) if since else asked
        asked = asked.filter_by(target=place[0], subject=place[1]) if place else asked
        return self._fetch(scope, asked.order_by(schema.proposals.c.made_at, schema.proposals.c.id))

    def waiting(self, scope: Scope, asked: OpenProposals, limit: int | None = None, first: int = 0) -> list[Proposal]:
        best = _open(scope, asked).order_by(schema.proposals.c.rank, schema.proposals.c.id)
        return self._fetch(scope, best.limit(limit).offset(first) if limit is not None else best)

    def marks(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, str]]:
        table = schema.proposals.c
        wanted = _open(scope, asked).with_only_columns(table.id, table.hash).order_by(table.id)
        return [(one.id, one.hash) for one in self._rows(scope, wanted)]

    def places(self, scope: Scope, asked: OpenProposals) -> dict[tuple[str, str], Proposal]:
        table = schema.proposals.c
        each = _open(scope, asked).with_only_columns(func.min(table.id)).group_by(table.target, table.subject)
        whole = _with_status(scope, [ProposalStatus.WAITING]).where(table.id.in_(each))
        return {(one.suggestion.target, one.suggestion.subject): one for one in self._fetch(scope, whole)}

    def dreams(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, datetime, str]]:
        table = schema.proposals.c
        made = func.min(table.made_at, type_=table.made_at.type)  # one that was undone is made again, later
        columns = table.dream, made, func.min(table.target)
        each = _open(scope, asked).with_only_columns(*columns).where(table.dream.is_not(None))
        found = self._rows(scope, each.group_by(table.dream).order_by(made.desc()))
        return [(one[0], one[1], one[2]) for one in found]

    def projects(self, scope: Scope, asked: OpenProposals) -> list[str]:
        project = schema.proposals.c.project
        each = _open(scope, asked).with_only_columns(project).where(project != "").distinct()
        return [row.project for row in self._rows(scope, each.order_by(project))]

    def expired(self, scope: Scope, now: datetime, limit: int) -> list[Proposal]:
        table = schema.proposals.c
        over = _with_status(scope, [ProposalStatus.WAITING]).where(table.expires_at <= now)
        return self._fetch(scope, over.order_by(table.made_at, table.id).limit(limit))

    def newest(self, scope: Scope, statuses: Iterable[ProposalStatus], limit: int) -> list[Proposal]:
        decided, name = schema.proposals.c.decided_at, schema.proposals.c.id
        asked = _with_status(scope, statuses).where(decided.is_not(None))
        return self._fetch(scope, asked.order_by(decided.desc(), name.desc()).limit(limit))

    def _fetch(self, scope: Scope, asked: Select[Any]) -> list[Proposal]:
        return [_proposal(found) for found in self._rows(scope, asked)]


def _with_status(scope: Scope, statuses: Iterable[ProposalStatus]) -> Select[Any]:
    table = schema.proposals
    return select(table).filter_by(**owner_key(scope)).where(table.c.status.in_(list(statuses)))


def _open(scope: Scope, asked: OpenProposals) -> Select[Any]:
    table = schema.proposals.c
    chosen = _with_status(scope, [ProposalStatus.WAITING]).where(table.expires_at > asked.now)
    later = table.snoozed_until > asked.now
    chosen = chosen.where(later if asked.snoozed else table.snoozed_until.is_(None) | ~later)
    if asked.places is not None:
        chosen = chosen.where(tuple_(table.target, table.subject).in_(asked.places))
    chosen = chosen.where(table.dream == asked.dream) if asked.dream else chosen
    chosen = chosen.where(table.project == asked.project) if asked.project else chosen
    return chosen


def _proposal(found: Any) -> Proposal:
    told = json.loads(found.details) | dict(found._mapping)
    told["edits"] = tuple(Edit(name, _bytes(before), _bytes(after)) for name, before, after in told["edits"])
    return from_json(Proposal, told | {"suggestion": suggestion_from_json(told)})


def suggestion_as_json(suggestion: Suggestion) -> dict[str, Any]:
    """Without what rows have columns for."""
    return values_of(suggestion, ("reason", "people")) | {
        "operations": [operation_as_json(one) for one in suggestion.operations],
        "amendment": suggestion.amendment and amendment_as_json(suggestion.amendment),
        "evidence": evidence_as_json(suggestion.evidence),
        "score": suggestion.score and score_as_json(suggestion.score),
    }


def suggestion_from_json(told: dict[str, Any]) -> Suggestion:
    amendment = told["amendment"] and amendment_from_json(told["amendment"])
    made: dict[str, Any] = {
        "operations": map(operation_from_json, told["operations"]),
        "score": score_from_json(told["score"]),
    }
    made |= {"evidence": evidence_from_json(told["evidence"]), "amendment": amendment}
    return from_json(Suggestion, told | made)


def score_from_json(told: dict[str, Any] | None) -> Score | None:
    return Score(told["total"], tuple(Part(**one) for one in told["parts"])) if told else None


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
