"""Rules as rows: what an auditor takes along as CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO
from typing import Any

from reverie.changes.history.library import Instruction, Rule
from reverie.core.clock import rfc3339

COLUMNS = (
    "rule",
    "where",
    "since",
    "seen",
    "critical",
    "from",
    "approved_by",
    "because",
    "evidence",
    "change",
    "id",
    "user",
)


def row(rule: Rule) -> dict[str, Any]:
    grounds = rule.change.grounds
    values = (
        rule.text,
        rule.where,
        rule.since,
        rule.seen,
        rule.critical,
        str(grounds.origin or grounds.via),
        grounds.approved_by,
        grounds.because,
        grounds.evidence,
        rule.change.id,
        rule.id,
        rule.user,
    )
    return dict(zip(COLUMNS, values, strict=True))


def instruction_row(one: Instruction) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"rule": one.text, "where": one.file, "from": "instruction file", "evidence": []}


def as_csv(rules: Iterable[Rule], instructions: Iterable[Instruction]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    for rule in rules:
        told = row(rule)
        told |= {name: rfc3339(told[name]) for name in ("since", "seen") if told[name]}
        told["evidence"] = " | ".join(f"{one.session_id}#{one.turn} {one.quote}" for one in told["evidence"])
        told["rule"] = _inert(told["rule"])
        told["because"] = _inert(told["because"] or "")
        writer.writerow(told)
    for one in instructions:
        writer.writerow(instruction_row(one) | {"rule": _inert(one.text), "evidence": ""})
    return out.getvalue()


def rules_as_json(rules: Iterable[Rule], instructions: Iterable[Instruction]) -> str:
    rows = [*map(row, rules), *map(instruction_row, instructions)]
    for one in rows:
        one |= {name: rfc3339(one[name]) for name in ("since", "seen") if one[name]}
        one["evidence"] = [asdict(each) for each in one["evidence"]]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _inert(text: str) -> str:
    """A cell that a spreadsheet takes as text, not as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
