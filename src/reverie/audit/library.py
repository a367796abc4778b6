"""`home.audit`: look at everything, say what is wrong with it, and turn that into suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.audit.collect import AuditSources
from reverie.audit.hermes_dreaming import damage
from reverie.audit.inventory import ORDER, AuditedDocument, Finding, FindingKind, Inventory, Machine
from reverie.audit.references import read_project
from reverie.audit.report import AuditReport, reported
from reverie.audit.skills import in_skills
from reverie.audit.statements import compare_statements, in_context, in_document
from reverie.changes.proposal import Suggestion
from reverie.core.clock import Clock
from reverie.memory.operation import Add
from reverie.memory.target import Target

FULL = 0.9  # of a budget: from here on a tool begins to refuse what it should remember
_WORST = list(FindingKind)
_DOUBLED = (FindingKind.CONTRADICTORY, FindingKind.SUPERSEDED, FindingKind.DUPLICATED)


@dataclass(frozen=True, slots=True)
class Audit:
    looking: AuditSources
    clock: Clock

    def __call__(self, paths: Iterable[str] = (), *, only: bool = False, also: Target | None = None) -> AuditReport:
        """Everything found on this machine and under the paths; with `only`, nothing but the paths; `also` a target."""
        now = self.clock.now()
        standing = self.looking.look(paths, now, only=only, also=also)
        return reported(standing, examined(standing, self.looking.machine, now), now)

    def compact(self, target: str) -> list[Finding]:
        """Statements of one target that repeat, contradict or were superseded, beside all that is read with it."""
        chosen = self.looking.targets.named(target)
        return [
            one
            for one in self(also=chosen).findings
            if one.kind in _DOUBLED and chosen.name in (one.spot.target, one.spot.home)
        ]


def examined(standing: Inventory, machine: Machine, now: datetime) -> list[Finding]:
    """From what stands to what is wrong with it: every judge in turn, the worst first."""
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


def suggestions(findings: Iterable[Finding]) -> Iterator[Suggestion]:
    """Possible proposals, the worst first: one change for an entry or a skill, whatever else is wrong with it."""
    touched: set[tuple[str, str, str]] = set()
    for finding in findings:
        wanted = finding.suggestion
        if wanted is None:
            continue
        named = [one.old_sha256 for one in wanted.operations if not isinstance(one, Add)] or [wanted.subject]
        keys = {(wanted.target, wanted.subject, name) for name in named}
        if touched.isdisjoint(keys):
            touched |= keys
            yield wanted
