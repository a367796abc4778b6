"""From what stands to what is wrong with it: every judge in turn, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from reverie.audit.checks.compare import compare_statements
from reverie.audit.checks.hermes_dreaming_damage import damage
from reverie.audit.checks.project import read_project
from reverie.audit.checks.skills import in_skills
from reverie.audit.checks.statements import in_context, in_document
from reverie.audit.filesystem import Machine
from reverie.audit.finding import ORDER, Finding, FindingKind
from reverie.audit.inventory import AuditedDocument, Inventory

FULL = 0.9  # of a budget: from here on a tool begins to refuse what it should remember
_WORST = list(FindingKind)


def examined(standing: Inventory, machine: Machine, now: datetime) -> list[Finding]:
    """All findings, the worst first."""
    shown: dict[str, str] = {}
    folders = {document.project for document in standing.documents if document.project}
    projects = {folder: read_project(Path(folder), machine) for folder in folders}
    found: list[Finding] = []
    for document in standing.documents:
        found += in_document(document, machine, now.date(), projects, shown)
        found += _fullness(document)
    for document in standing.context:
        found += in_context(document)
    # What is to go anyway is not compared: an accusation is enough.
    going = {one.spot for one in found if one.kind in (FindingKind.JUNK, FindingKind.UNSAFE)}
    found += compare_statements(
        [statement for statement in standing.statements() if statement.spot not in going], standing.skills, shown
    )
    found += damage(standing.documents, standing.traces, shown)
    found += in_skills(standing.skills)
    found += [Finding(FindingKind.UNREADABLE, "medium", one.spot, "", one.why) for one in standing.unread]
    return sorted(
        found, key=lambda one: (ORDER[one.severity], _WORST.index(one.kind), one.spot.home != "hermes", str(one.spot))
    )


def _fullness(document: AuditedDocument) -> Iterator[Finding]:
    size, budget = len(document.text), document.budget
    if not budget or size < FULL * budget:
        return
    if size > budget:
        why = f"It has {size:,} characters and {budget:,} fit: what is beyond is refused or not read."
        yield Finding(FindingKind.OVER_BUDGET, "medium", document.spot, "", why, "Remove, merge or shorten entries.")
    else:
        why = f"It is {size / budget:.0%} full ({size:,} of {budget:,} characters): soon nothing new can be remembered."
        yield Finding(
            FindingKind.OVER_BUDGET, "low", document.spot, "", why, "Make room: remove, merge or shorten entries."
        )
