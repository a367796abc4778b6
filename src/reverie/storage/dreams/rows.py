"""Between rows and what a night is going to do and leaves behind, without loss in either direction."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

from reverie.changes.ledger import evidence_as_json, evidence_from_json
from reverie.changes.proposal import score_as_json
from reverie.core.ids import from_json, json_ready, values_of
from reverie.dreams.dream import Dream, Judged
from reverie.dreams.light.candidate import Candidate, Noted
from reverie.dreams.records import ModelReport, Planned, SessionChoice, Thought
from reverie.storage.proposals import score_from_json, suggestion_as_json, suggestion_from_json

_JUDGED = tuple(field.name for field in fields(Judged))
_CANDIDATE = ("kind", "text", "confidence", "explicitness", "about", "language", "marks")
_COUNTED = ("noticed", "carried", "themes", "duplicates", "reduced")
_DREAM = (*_COUNTED, "target", "mode", "left", "left_out", "partial", "diary", "dropped", "enough", "flaws")
_THOUGHT = (*_COUNTED, "staged", "settled", "curator")


def noted_details(one: Noted) -> str:
    candidate = one.candidate
    told = values_of(candidate, _CANDIDATE) | {"speaker": one.speaker}
    told |= {"evidence": evidence_as_json(candidate.evidence), "dates": [day.isoformat() for day in candidate.dates]}
    return json.dumps(told, ensure_ascii=False)


def noted_from(row: Any) -> Noted:
    told = json.loads(row.details)
    dates = [date.fromisoformat(day) for day in told["dates"]]
    candidate = from_json(Candidate, told | {"evidence": evidence_from_json(told["evidence"]), "dates": dates})
    return Noted(row.id, candidate, row.session_id, told["speaker"], row.said_at)


def noted_as_json(one: Noted) -> dict[str, Any]:
    """A whole Noted in one value, where it has no row of its own yet."""
    said_at = one.said_at.isoformat() if one.said_at else None
    return {"id": one.id, "session_id": one.session_id, "said_at": said_at, "details": noted_details(one)}


def noted_from_json(told: dict[str, Any]) -> Noted:
    said_at = datetime.fromisoformat(told["said_at"]) if told["said_at"] else None
    return noted_from(SimpleNamespace(**told | {"said_at": said_at}))


def dream_details(dream: Dream) -> dict[str, Any]:
    told = values_of(dream, _DREAM) | {"judged": [judged_as_json(one) for one in dream.judged]}
    return told | {name: [asdict(one) for one in getattr(dream, name)] for name in ("sessions", "consulted")}


def judged_as_json(one: Judged) -> dict[str, Any]:
    """Not by `asdict`, which copies every word: a night has hundreds of these."""
    told = values_of(one, (name for name in _JUDGED if name != "confirms" or one.confirms))
    return told | {"evidence": evidence_as_json(one.evidence), "score": one.score and score_as_json(one.score)}


def dream_from(row: Any) -> Dream:
    told = json.loads(row.details)
    told |= {"target": told.get("target", row.target), "judged": tuple(map(judged_from_json, told["judged"]))}
    return from_json(Dream, told | values_of(row, ("id", "status", "started_at", "ended_at")))


def judged_from_json(told: dict[str, Any]) -> Judged:
    score = score_from_json(told["score"])
    return from_json(Judged, told | {"evidence": evidence_from_json(told["evidence"]), "score": score})


def asked_details(asked: SessionChoice) -> str:
    return json.dumps({name: one for name, one in json_ready(asked).items() if name != "queued"})


def asked_from(row: Any) -> SessionChoice:
    return from_json(SessionChoice, {"once": True} | json.loads(row.asked) | {"queued": row.queued})


def planned_details(one: Planned) -> str:
    told = {"judged": judged_as_json(one.judged), "asks": one.asks, "done": one.done, "suggestion": None}
    if wanted := one.suggestion:
        assert not wanted.edits, "a dream suggests operations and amendments"
        told["suggestion"] = values_of(wanted, ("target", "subject", "proposer", "dream")) | suggestion_as_json(wanted)
    return json.dumps(told, ensure_ascii=False)


def planned_from(row: Any) -> Planned:
    told = json.loads(row.details)
    suggestion = suggestion_from_json(told["suggestion"]) if told["suggestion"] else None
    if row.became is None:
        return Planned(judged_from_json(told["judged"]), suggestion, told["asks"], told["done"])
    return Planned(judged_from_json(json.loads(row.became)), suggestion, told["asks"], True)


def became_details(judged: Judged) -> str:
    return json.dumps(judged_as_json(judged), ensure_ascii=False)


def thought_details(thought: Thought) -> str:
    """Its counts and ids; the plan has rows of its own."""
    told = values_of(thought, _THOUGHT) | {"told": told_details(thought.told)}
    return json.dumps(told | {"extra": [noted_as_json(one) for one in thought.extra]})


def thought_from(details: str, planned: tuple[Planned, ...]) -> Thought:
    told = json.loads(details)
    told |= {"planned": planned, "told": told_from(told.get("told"))}
    return from_json(Thought, told | {"extra": [noted_from_json(one) for one in told.get("extra", ())]})


def told_details(told: ModelReport) -> str | None:
    return json.dumps(asdict(told)) if told != ModelReport() else None


def told_from(details: str | None) -> ModelReport:
    return ModelReport(**json.loads(details)) if details else ModelReport()
