"""Between rows and what a night is going to do and leaves behind, without loss in either direction."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

from reverie.changes.ledger import evidence_as_json, evidence_from_json, operation_as_json, operation_from_json
from reverie.changes.proposal import Suggestion, score_as_json
from reverie.core.clock import rfc3339
from reverie.core.scope import Origin
from reverie.dreams.dream import Consulted, Dream, Fate, Judged, Read, Status
from reverie.dreams.light.candidate import Candidate, Kind, Noted
from reverie.dreams.records import ModelReport, Planned, SessionChoice, Thought, Used
from reverie.llm.settings import BUILT_IN
from reverie.skills.amendment import amendment_as_json, amendment_from_json
from reverie.storage.proposals import score_from_json

_JUDGED = tuple(field.name for field in fields(Judged))


def noted_details(one: Noted) -> str:
    candidate = one.candidate
    told = {
        "speaker": one.speaker,
        "kind": candidate.kind,
        "text": candidate.text,
        "confidence": candidate.confidence,
        "explicitness": candidate.explicitness,
        "evidence": evidence_as_json(candidate.evidence),
        "about": candidate.about,
        "language": candidate.language,
        "marks": list(candidate.marks),
        "dates": [day.isoformat() for day in candidate.dates],
    }
    return json.dumps(told, ensure_ascii=False)


def noted_from(row: Any) -> Noted:
    told = json.loads(row.details)
    candidate = Candidate(
        Kind(told["kind"]),
        told["text"],
        told["confidence"],
        told["explicitness"],
        evidence_from_json(told["evidence"]),
        told["about"],
        told["language"],
        tuple(date.fromisoformat(day) for day in told["dates"]),
        tuple(told["marks"]),
    )
    return Noted(row.id, candidate, row.session_id, told["speaker"], row.said_at)


def noted_as_json(one: Noted) -> dict[str, Any]:
    """A whole Noted in one value, where it has no row of its own yet."""
    said_at = one.said_at.isoformat() if one.said_at else None
    return {"id": one.id, "session_id": one.session_id, "said_at": said_at, "details": noted_details(one)}


def noted_from_json(told: dict[str, Any]) -> Noted:
    said_at = datetime.fromisoformat(told["said_at"]) if told["said_at"] else None
    return noted_from(SimpleNamespace(**told | {"said_at": said_at}))


def dream_details(dream: Dream) -> dict[str, Any]:
    return {
        "target": dream.target,
        "mode": dream.mode,
        "sessions": [asdict(one) for one in dream.sessions],
        "left": dream.left,
        "left_out": dream.left_out,
        "partial": dream.partial,
        "noticed": dream.noticed,
        "carried": dream.carried,
        "themes": dream.themes,
        "diary": dream.diary,
        "duplicates": dream.duplicates,
        "consulted": [asdict(one) for one in dream.consulted],
        "dropped": dict(dream.dropped),
        "enough": dream.enough,
        "flaws": list(dream.flaws),
        "reduced": list(dream.reduced),
        "judged": [judged_as_json(one) for one in dream.judged],
    }


def judged_as_json(one: Judged) -> dict[str, Any]:
    """Not by `asdict`, which copies every word: a night has hundreds of these."""
    told: dict[str, Any] = {name: getattr(one, name) for name in _JUDGED if name != "confirms" or one.confirms}
    return told | {"evidence": evidence_as_json(one.evidence), "score": one.score and score_as_json(one.score)}


def dream_from(row: Any) -> Dream:
    told = json.loads(row.details)
    return Dream(
        row.id,
        told.get("target", row.target),
        told["mode"],
        Status(row.status),
        row.started_at,
        row.ended_at,
        tuple(Read(**one) for one in told["sessions"]),
        told["left"],
        told["noticed"],
        told["carried"],
        told["themes"],
        tuple(judged_from_json(one) for one in told["judged"]),
        told["diary"],
        tuple(told["flaws"]),
        tuple(Consulted(**one | {"models": tuple(one["models"])}) for one in told.get("consulted", ())),
        told.get("dropped", {}),
        told.get("enough", ""),
        told.get("duplicates", 0),
        tuple(told.get("reduced", ())),
        told.get("left_out", 0),
        told.get("partial", False),
    )


def judged_from_json(told: dict[str, Any]) -> Judged:
    return Judged(
        **told
        | {
            "candidates": tuple(told["candidates"]),
            "fate": Fate(told["fate"]),
            "origin": Origin(told["origin"]),
            "evidence": evidence_from_json(told["evidence"]),
            "reasons": tuple(told.get("reasons", ())),
            "checks": tuple((name, found) for name, found in told.get("checks", ())),
            "score": score_from_json(told["score"]),
        }
    )


def asked_details(asked: SessionChoice) -> str:
    since = asked.since and rfc3339(asked.since)
    told = {"names": asked.names, "since": since, "limit": asked.limit, "user": asked.user}
    told |= {"everything": asked.everything, "once": asked.once, "earlier": asked.earlier, "run": asked.run}
    return json.dumps(told | {"used": asdict(asked.used)})


def asked_from(row: Any) -> SessionChoice:
    told = json.loads(row.asked)
    since = datetime.fromisoformat(told["since"]) if told["since"] else None
    names = None if told["names"] is None else tuple(told["names"])
    return SessionChoice(
        names,
        since,
        told["limit"],
        row.queued,
        told.get("user"),
        told.get("everything", False),
        told.get("once", True),
        tuple(told.get("earlier", ())),
        Used(**told.get("used", {})),
        told.get("run", ""),
    )


def planned_details(one: Planned) -> str:
    told = {"judged": judged_as_json(one.judged), "asks": one.asks, "done": one.done, "suggestion": None}
    if wanted := one.suggestion:
        assert not wanted.edits, "a dream suggests operations and amendments"
        told["suggestion"] = {
            "target": wanted.target,
            "subject": wanted.subject,
            "reason": wanted.reason,
            "people": wanted.people,
            "operations": [operation_as_json(each) for each in wanted.operations],
            "amendment": wanted.amendment and amendment_as_json(wanted.amendment),
            "evidence": evidence_as_json(wanted.evidence),
            "score": wanted.score and score_as_json(wanted.score),
            "proposer": wanted.proposer,
            "dream": wanted.dream,
        }
    return json.dumps(told, ensure_ascii=False)


def planned_from(row: Any) -> Planned:
    told = json.loads(row.details)
    suggestion = None
    if wanted := told["suggestion"]:
        suggestion = Suggestion(
            wanted["target"],
            wanted["subject"],
            tuple(operation_from_json(one) for one in wanted["operations"]),
            reason=wanted["reason"],
            evidence=evidence_from_json(wanted["evidence"]),
            score=score_from_json(wanted["score"]),
            proposer=wanted["proposer"],
            dream=wanted["dream"],
            people=wanted["people"],
            amendment=amendment_from_json(wanted["amendment"]) if wanted["amendment"] else None,
        )
    if row.became is None:
        return Planned(judged_from_json(told["judged"]), suggestion, told["asks"], told["done"])
    return Planned(judged_from_json(json.loads(row.became)), suggestion, told["asks"], True)


def became_details(judged: Judged) -> str:
    return json.dumps(judged_as_json(judged), ensure_ascii=False)


def thought_details(thought: Thought) -> str:
    """Its counts and ids; the plan has rows of its own."""
    return json.dumps(
        {
            "noticed": thought.noticed,
            "carried": thought.carried,
            "themes": thought.themes,
            "staged": thought.staged,
            "settled": thought.settled,
            "told": told_details(thought.told),
            "duplicates": thought.duplicates,
            "extra": [noted_as_json(one) for one in thought.extra],
            "reduced": thought.reduced,
            "curator": thought.curator,
        }
    )


def thought_from(details: str, planned: tuple[Planned, ...]) -> Thought:
    told = json.loads(details)
    return Thought(
        told["noticed"],
        told["carried"],
        told["themes"],
        planned,
        tuple(told["staged"]),
        tuple(told["settled"]),
        told_from(told.get("told")),
        told.get("duplicates", 0),
        tuple(noted_from_json(one) for one in told.get("extra", ())),
        tuple(told.get("reduced", ())),
        told.get("curator", BUILT_IN),
    )


def told_details(told: ModelReport) -> str | None:
    return json.dumps(asdict(told)) if told != ModelReport() else None


def told_from(details: str | None) -> ModelReport:
    return ModelReport(**json.loads(details)) if details else ModelReport()
