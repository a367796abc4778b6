"""Proposals and Verdicts: implements `reverie.changes.proposal.Proposals`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, func, select, tuple_

from reverie.changes.ledger import (
    Edit,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.changes.proposal import OpenProposals, Part, Proposal, ProposalStatus, Related, Score, Suggestion, Verdict
from reverie.core.clock import Clock, rfc3339
from reverie.core.scope import Origin, Scope
from reverie.safety.report import SafetyFinding
from reverie.skills.amendment import amendment_as_json, amendment_from_json
from reverie.storage import ledger, schema
from reverie.storage.database import owner_key, reading, upsert, writing


class SqlProposals:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def put(self, scope: Scope, proposal: Proposal) -> None:
        suggestion = proposal.suggestion
        row = {
            "kind": proposal.kind,
            "target": suggestion.target,
            "subject": suggestion.subject,
            "status": proposal.status,
            "proposer": suggestion.proposer,
            "dream": suggestion.dream,
            "hash": proposal.hash,
            "details": _details(proposal),
            "made_at": proposal.made_at,
            "expires_at": proposal.expires_at,
            "decided_at": proposal.verdict and proposal.verdict.at,
            "rank": proposal.rank,
            "project": proposal.project,
            "snoozed_until": proposal.snoozed_until,
        }
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
        with reading(self._engine, scope) as connection:
            found = connection.execute(select(schema.proposals).filter_by(**owner_key(scope), id=proposal)).first()
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
        with reading(self._engine, scope) as connection:
            found = connection.execute(_open(scope, asked).with_only_columns(table.id, table.hash).order_by(table.id))
            return [(one.id, one.hash) for one in found]

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
        with reading(self._engine, scope) as connection:
            found = connection.execute(each.group_by(table.dream).order_by(made.desc()))
            return [(one[0], one[1], one[2]) for one in found]

    def projects(self, scope: Scope, asked: OpenProposals) -> list[str]:
        project = schema.proposals.c.project
        each = _open(scope, asked).with_only_columns(project).where(project != "").distinct()
        with reading(self._engine, scope) as connection:
            return list(connection.scalars(each.order_by(project)))

    def expired(self, scope: Scope, now: datetime, limit: int) -> list[Proposal]:
        table = schema.proposals.c
        over = _with_status(scope, [ProposalStatus.WAITING]).where(table.expires_at <= now)
        return self._fetch(scope, over.order_by(table.made_at, table.id).limit(limit))

    def newest(self, scope: Scope, statuses: Iterable[ProposalStatus], limit: int) -> list[Proposal]:
        decided, name = schema.proposals.c.decided_at, schema.proposals.c.id
        asked = _with_status(scope, statuses).where(decided.is_not(None))
        return self._fetch(scope, asked.order_by(decided.desc(), name.desc()).limit(limit))

    def _fetch(self, scope: Scope, asked: Select[Any]) -> list[Proposal]:
        with reading(self._engine, scope) as connection:
            return [_proposal(found) for found in connection.execute(asked)]


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
    suggestion, verdict = proposal.suggestion, proposal.verdict
    return json.dumps(
        {
            "operations": [operation_as_json(one) for one in suggestion.operations],
            "edits": [[one.document, _text(one.before), _text(one.after)] for one in suggestion.edits],
            "amendment": suggestion.amendment and amendment_as_json(suggestion.amendment),
            "action": suggestion.action,
            "reason": suggestion.reason,
            "evidence": evidence_as_json(suggestion.evidence),
            "score": suggestion.score and asdict(suggestion.score),
            "people": suggestion.people,
            "spoken_by": suggestion.spoken_by,
            "checks": suggestion.checks,
            "target_name": proposal.target_name,
            "diff": proposal.diff,
            "findings": [asdict(one) for one in proposal.findings],
            "blocked": proposal.blocked,
            "asks_because": proposal.asks_because,
            "related": [asdict(one) for one in proposal.related],
            "reach": proposal.reach,
            "verdict": verdict and asdict(verdict) | {"at": rfc3339(verdict.at)},
            "change": proposal.change,
            "note": proposal.note,
        }
    )


def _proposal(found: Any) -> Proposal:
    told = json.loads(found.details)
    verdict = told["verdict"]
    return Proposal(
        found.id,
        _suggestion(found, told),
        told["target_name"],
        told["diff"],
        found.hash,
        tuple(SafetyFinding(**one) for one in told["findings"]),
        told["blocked"],
        told["asks_because"],
        tuple(Related(**one) for one in told["related"]),
        told["reach"],
        found.made_at,
        found.expires_at,
        ProposalStatus(found.status),
        Verdict(**verdict | {"at": datetime.fromisoformat(verdict["at"])}) if verdict else None,
        told["change"],
        told["note"],
        found.snoozed_until,
        found.project,
    )


def _suggestion(found: Any, told: dict[str, Any]) -> Suggestion:
    return Suggestion(
        found.target,
        found.subject,
        tuple(operation_from_json(one) for one in told["operations"]),
        tuple(Edit(name, _bytes(before), _bytes(after)) for name, before, after in told["edits"]),
        told["action"],
        told["reason"],
        evidence_from_json(told["evidence"]),
        score_from_json(told["score"]),
        found.proposer,
        found.dream,
        told["people"],
        amendment_from_json(told["amendment"]) if told["amendment"] else None,
        Origin(told["spoken_by"]) if told.get("spoken_by") else None,
        tuple((name, found) for name, found in told.get("checks", ())),
    )


def score_from_json(told: dict[str, Any] | None) -> Score | None:
    return Score(told["total"], tuple(Part(**one) for one in told["parts"])) if told else None


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
