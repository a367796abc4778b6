"""Recorded sessions and their events as rows, and how their listings are walked."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Select

from reverie.transcripts.recorded.session import Recorded, RecordedEvent, Walk


def recorded_row(session: Recorded) -> dict[str, Any]:
    details = {
        "agent": session.agent,
        "title": session.title,
        "metadata": session.metadata,
        "resources": session.resources,
        "vaults": session.vaults,
        "budget": session.budget,
    }
    stores = [one["memory_store_id"] for one in session.resources if one.get("type") == "memory_store"]
    return {
        "agent": session.agent["id"],
        "agent_version": session.agent["version"],
        "environment": session.environment,
        "status": session.status,
        "stores": f" {' '.join(stores)} ",
        "details": json.dumps(details),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "archived_at": session.archived_at,
    }


def recorded_from_row(found: Any) -> Recorded:
    told = json.loads(found.details)
    return Recorded(
        found.id,
        found.user,
        told["agent"],
        found.environment,
        found.created_at,
        found.updated_at,
        told["title"],
        told["metadata"],
        tuple(told["resources"]),
        tuple(told["vaults"]),
        told["budget"],
        found.status,
        found.archived_at,
    )


def event_from_row(found: Any) -> RecordedEvent:
    return RecordedEvent(found.id, found.type, found.at, json.loads(found.details), found.number)


def walked(asked: Select[Any], column: Any, walk: Walk) -> Select[Any]:
    if walk.after is not None:
        asked = asked.where(column < walk.after if walk.descending else column > walk.after)
    return asked.order_by(column.desc() if walk.descending else column).limit(walk.limit)
