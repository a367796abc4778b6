"""Between rows and nouns, without loss in either direction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Row, Select

from reverie.core.clock import TimeSpan
from reverie.core.origin import Origin
from reverie.core.scope import Scope
from reverie.storage.database.schema import microseconds
from reverie.transcripts.records import Stored
from reverie.transcripts.session import Head, Said, ToolCall, Turn

TURN_ROW = ("number", "role", "origin", "name", "at", "noise", "detail", "text")


def owner_key(scope: Scope) -> dict[str, Any]:
    """The columns that say whose a row is."""
    return {"workspace": scope.workspace, "user": scope.user or ""}


def in_span(asked: Select[Any], column: Any, span: TimeSpan) -> Select[Any]:
    limits = (
        (span.since, column.__ge__),
        (span.until, column.__le__),
        (span.after, column.__gt__),
        (span.before, column.__lt__),
    )
    return asked.where(*(compared(limit) for limit, compared in limits if limit is not None))


def mine(table: Any, scope: Scope) -> ColumnElement[bool]:
    """Rows of this person, or of the whole workspace where the scope names nobody."""
    ours: ColumnElement[bool] = table.c.workspace == scope.workspace
    return ours if scope.user is None else ours & (table.c.user == scope.user)


def turn_row(turn: Turn) -> tuple[object, ...]:
    """The values of TURN_ROW as the driver takes them."""
    said = turn.said
    at = None if said.at is None else microseconds(said.at)
    return turn.number, said.role, turn.origin.value, said.name, at, said.noise, _detail(said), said.text


def _detail(said: Said) -> str | None:
    if not said.calls and said.answers is None and said.failed is None:
        return None
    detail: dict[str, Any] = {}
    if said.calls:
        detail["calls"] = [[call.name, call.arguments, call.id] for call in said.calls]
    if said.answers is not None:
        detail["answers"] = said.answers
    if said.failed is not None:
        detail["failed"] = said.failed
    return json.dumps(detail, ensure_ascii=False, separators=(",", ":"))


def turn_of(row: Row[Any]) -> Turn:
    detail = json.loads(row.detail) if row.detail else {}
    said = Said(
        role=row.role,
        text=row.text,
        name=row.name,
        at=row.at,
        calls=tuple(ToolCall(*call) for call in detail.get("calls", ())),
        answers=detail.get("answers"),
        failed=detail.get("failed"),
        noise=row.noise,
    )
    return Turn(row.number, said, Origin(row.origin))


def head_values(head: Head) -> dict[str, Any]:
    return {
        "harness": head.harness,
        "agent": head.agent,
        "title": head.title,
        "started_at": head.started_at,
        "ended_at": head.ended_at,
        "parent": head.parent,
        "outcome": head.outcome,
        "facts": json.dumps(dict(head.facts), ensure_ascii=False, sort_keys=True) if head.facts else None,
        "project": head.project,
        "project_path": head.project_path,
    }


def stored_of(row: Row[Any]) -> Stored:
    return Stored(
        head=_head(row._mapping),
        user=row.user,
        revision=row.revision,
        turns=row.turns,
        source=row.source,
        changed=row.changed,
        removed=row.removed_at is not None,
    )


def _head(row: Mapping[Any, Any]) -> Head:
    return Head(
        id=row["id"],
        user=row["user"],
        harness=row["harness"],
        agent=row["agent"],
        title=row["title"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        parent=row["parent"],
        outcome=row["outcome"],
        facts=json.loads(row["facts"]) if row["facts"] else {},
        project=row["project"],
        project_path=row["project_path"],
    )
