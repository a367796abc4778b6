"""A Change as a row: what is asked for by name has a column, the rest is JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reverie.changes.history.change import (
    Change,
    Edit,
    Grounds,
    Standing,
    Via,
    evidence_as_json,
    evidence_from_json,
    operation_as_json,
    operation_from_json,
)
from reverie.core.origin import Origin


def change_details(change: Change) -> str:
    grounds = change.grounds
    return json.dumps(  # escaped: a document may hold bytes that no database takes as text
        {
            "operations": [operation_as_json(one) for one in change.operations],
            "evidence": evidence_as_json(grounds.evidence),
            "reason": grounds.reason,
            "origin": grounds.origin,
            "approved_by": grounds.approved_by,
            "because": grounds.because,
            "policy": grounds.policy,
            "note": change.note,
            "form": change.form,
        }
    )


def change_from_rows(found: Any, sides: Iterable[tuple[str, bytes | None, bytes | None]]) -> Change:
    told = json.loads(found.details)
    grounds = Grounds(
        found.actor,
        Via(found.via),
        told["reason"],
        Origin(told["origin"]) if told["origin"] else None,
        evidence_from_json(told["evidence"]),
        found.proposal,
        found.dream,
        found.undoes,
        told["approved_by"],
        told["because"],
        told["policy"],
    )
    return Change(
        found.id,
        found.target,
        found.subject,
        tuple(Edit(*side) for side in sides),
        grounds,
        found.intended_at,
        tuple(operation_from_json(one) for one in told["operations"]),
        told["form"],
        Standing(found.standing),
        found.number,
        found.settled_at,
        told["note"],
    )
