"""Proposals and Verdicts: implements `reverie.changes.proposal.Proposals`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select, tuple_

from reverie.changes.ledger import (
    Edit,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.changes.proposal import OpenProposals, Part, Proposal, ProposalStatus, Score, Suggestion, score_as_json
from reverie.core.clock import rfc3339
from reverie.core.ids import from_json, json_ready, values_of
from reverie.core.scope import Scope
from reverie.skills.amendment import amendment_as_json, amendment_from_json
from reverie.storage import ledger, schema
from reverie.storage.database import SqlAdapter, owner_key, upsert, writing

_COLUMNS = ("kind", "status", "hash", "made_at", "expires_at", "rank", "project", "snoozed_until")
_TOLD = ("target_name", "diff", "findings", "blocked", "asks_because", "related", "reach", "verdict", "change", "note")


class SqlProposals(SqlAdapter):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        suggestion = proposal.suggestion
        row = values_of(suggestion, ("target", "subject", "proposer", "dream")) | values_of(proposal, _COLUMNS)
        row |= {"details": _details(proposal), "decided_at": proposal.verdict and proposal.verdict.at}
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
            ledger.append_to_ledger(connection, scope, "proposal", body, self._clock.now())

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


def _details(proposal: Proposal) -> str:
    suggestion = proposal.suggestion
    told = suggestion_as_json(suggestion) | values_of(suggestion, ("action", "spoken_by", "checks"))
    told["edits"] = [[one.document, _text(one.before), _text(one.after)] for one in suggestion.edits]
    told |= {name: json_ready(getattr(proposal, name)) for name in _TOLD}
    return json.dumps(told)


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
