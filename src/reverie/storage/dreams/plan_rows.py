"""Between rows and what a night is going to do, without loss in either direction."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from reverie.changes.history.change import evidence_as_json, evidence_from_json, operation_as_json, operation_from_json
from reverie.changes.proposal import Part, Score, Suggestion, score_as_json
from reverie.core.clock import rfc3339
from reverie.dreams.dream import Judged
from reverie.dreams.records import ModelReport, Planned, SessionChoice, Thought, Used
from reverie.llm.settings import BUILT_IN
from reverie.skills.amendments.amendment_json import amendment_as_json, amendment_from_json
from reverie.storage.dreams.rows import judged_as_json, judged_from_json, noted_as_json, noted_from_json


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
    told = {"judged": judged_as_json(one.judged), "asks": one.asks, "done": one.done}
    return json.dumps(told | {"suggestion": one.suggestion and _suggestion(one.suggestion)}, ensure_ascii=False)


def planned_from(row: Any) -> Planned:
    told = json.loads(row.details)
    suggestion = told["suggestion"] and _suggestion_from(told["suggestion"])
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


def _suggestion(wanted: Suggestion) -> dict[str, Any]:
    assert not wanted.edits, "a dream suggests operations and amendments"
    return {
        "target": wanted.target,
        "subject": wanted.subject,
        "reason": wanted.reason,
        "people": wanted.people,
        "operations": [operation_as_json(one) for one in wanted.operations],
        "amendment": wanted.amendment and amendment_as_json(wanted.amendment),
        "evidence": evidence_as_json(wanted.evidence),
        "score": wanted.score and score_as_json(wanted.score),
        "proposer": wanted.proposer,
        "dream": wanted.dream,
    }


def _suggestion_from(told: dict[str, Any]) -> Suggestion:
    score = told["score"]
    return Suggestion(
        told["target"],
        told["subject"],
        tuple(operation_from_json(one) for one in told["operations"]),
        reason=told["reason"],
        evidence=evidence_from_json(told["evidence"]),
        score=Score(score["total"], tuple(Part(**part) for part in score["parts"])) if score else None,
        proposer=told["proposer"],
        dream=told["dream"],
        people=told["people"],
        amendment=amendment_from_json(told["amendment"]) if told["amendment"] else None,
    )
