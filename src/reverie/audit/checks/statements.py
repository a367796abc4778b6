"""What is wrong with a single statement: unsafe, secret, private, junk, stale, verbose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from reverie.audit.checks.commands import missing_program
from reverie.audit.checks.expiry import expired
from reverie.audit.checks.hazards import Hazards, harm, hazards
from reverie.audit.checks.junk import junk
from reverie.audit.checks.paths import dead_path
from reverie.audit.checks.project import Project, missing_from_project
from reverie.audit.filesystem import Machine
from reverie.audit.finding import Finding, FindingKind, Severity
from reverie.audit.inventory import AuditedDocument, AuditedStatement
from reverie.changes.proposal import Suggestion
from reverie.memory.operation import Operation, Remove, Replace
from reverie.safety.scan import scan

WIDE, WIDEST = 0.3, 1_000  # of a budget; characters where there is none
PROPOSER = "audit"
_INSTRUCTIONS = frozenset({"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"})


def surface(document: AuditedDocument) -> str:
    return "context" if document.spot.document in _INSTRUCTIONS else "memory"


def in_document(
    document: AuditedDocument, machine: Machine, today: date, projects: Mapping[str, Project], shown: dict[str, str]
) -> Iterator[Finding]:
    """Everything wrong with the statements of a document. `shown` is filled: each text as anyone may see it."""
    blocked = False
    for statement in document.statements:
        risks = hazards(statement.text, surface(document))
        shown[statement.text] = risks.shown
        found = list(_dangers(statement, risks))
        blocked = blocked or any(one.kind is FindingKind.UNSAFE for one in found)
        if not found:
            found = list(_wear(statement, risks.shown, machine, today, is_memory=surface(document) == "memory"))
        project = projects.get(document.project or "")
        if not found and (gone := missing_program(statement.text, machine, project)):
            why = f"It says to run “{gone}”, and this machine has no such program."
            sure: Severity = "low" if project else "note"  # an environment of some project may have it
            found = [_finding(FindingKind.STALE, sure, statement, risks.shown, why, advice="Mend or remove the line.")]
        yield from found
        if document.project and (why := missing_from_project(statement.text, projects[document.project])):
            yield _finding(FindingKind.STALE, "low", statement, risks.shown, why, advice="Mend or remove the line.")
        yield from _remarks(statement, document, risks)
    if not blocked:
        yield from _hidden(document)


def in_context(document: AuditedDocument) -> Iterator[Finding]:
    """Dangers in a file that agents are given and no proposal can change. Its words are nobody's memory."""
    blocked = False
    for statement in document.statements:
        found = list(_dangers(statement, hazards(statement.text, "context")))
        blocked = blocked or any(one.kind is FindingKind.UNSAFE for one in found)
        yield from (replace(one, suggestion=None) for one in found if one.kind is not FindingKind.SENSITIVE)
    category = "" if blocked else harm(scan(document.text, "context"), document.text)[0]
    if category:
        why = f"The document as a whole would harm whoever reads it as a prompt ({category})."
        yield Finding(FindingKind.UNSAFE, "high", document.spot, "", why)


def _dangers(statement: AuditedStatement, risks: Hazards) -> Iterator[Finding]:
    if risks.unsafe:
        why = f"It would harm whoever reads it as a prompt ({risks.unsafe})."
        yield _finding(
            FindingKind.UNSAFE, "high", statement, risks.shown, why, advice="Remove it.", wanted=removed(statement, why)
        )
    if risks.redacted.found:
        kinds = ", ".join(kind.replace("-", " ") for kind in risks.redacted.found)
        why = f"It holds a secret ({kinds}) that every session is shown."
        advice = "Take the secret out and change it: it has been sent to a model."
        yield _finding(
            FindingKind.SECRET,
            "high",
            statement,
            risks.shown,
            why,
            advice=advice,
            wanted=replaced(statement, risks.redacted.text, why),
        )
    if risks.private:
        why = f"It says something private about a person ({', '.join(risks.private)})."
        yield _finding(
            FindingKind.SENSITIVE,
            "low",
            statement,
            risks.shown,
            why,
            advice="Keep it only if that person wants it kept.",
        )


def _wear(
    statement: AuditedStatement, shown: str, machine: Machine, today: date, *, is_memory: bool
) -> Iterator[Finding]:
    """Instructions hold examples of everything, and words such as "tomorrow" in them: there only an entry is taken for
    junk, and only what names its last day for over."""
    if statement.is_entry and (why := junk(statement.text)):
        yield _finding(
            FindingKind.JUNK, "low", statement, shown, why, advice="Remove it.", wanted=removed(statement, why)
        )
    elif why := expired(statement.text, today, only_dated=not (statement.is_entry and is_memory)):
        yield _finding(
            FindingKind.STALE, "low", statement, shown, why, advice="Remove it.", wanted=removed(statement, why)
        )
    elif path := dead_path(statement.text, machine):
        why = f"It names {path}, which is not on this machine."
        yield _finding(FindingKind.STALE, "low", statement, shown, why, advice="Write where it is now, or remove it.")


def _remarks(statement: AuditedStatement, document: AuditedDocument, risks: Hazards) -> Iterator[Finding]:
    """Notes: no fault, and still worth knowing."""
    if risks.bears and surface(document) == "memory":
        why = f"It gives a standing order or says whom to obey ({risks.bears}): a person should have decided that."
        yield _finding(FindingKind.AUTHORITY, "note", statement, risks.shown, why, advice="Check that you wrote it.")
    size, budget = len(statement.text), document.budget
    if statement.is_entry and size >= min(WIDEST, WIDE * (budget or WIDEST / WIDE)):
        share = f", {size / budget:.0%} of what fits" if budget else ""
        why = f"It has {size:,} characters{share}."
        yield _finding(
            FindingKind.VERBOSE, "note", statement, risks.shown, why, advice="Say it shorter, or make it a skill."
        )


def _hidden(document: AuditedDocument) -> Iterator[Finding]:
    """Dangers no one statement shows: in a heading, in front matter, across entries, or in bytes that are no text."""
    category, _ = harm(scan(document.text, surface(document)), document.text)
    if category:
        why = f"The document as a whole would harm whoever reads it as a prompt ({category})."
        yield Finding(FindingKind.UNSAFE, "high", document.spot, "", why)


def removed(statement: AuditedStatement, why: str) -> Suggestion | None:
    return operated(statement, why, Remove(statement.spot.document, statement.sha256)) if statement.is_entry else None


def replaced(statement: AuditedStatement, text: str, why: str) -> Suggestion | None:
    wanted = Replace(statement.spot.document, statement.sha256, text)
    return operated(statement, why, wanted) if statement.is_entry else None


def operated(statement: AuditedStatement, why: str, *operations: Operation) -> Suggestion:
    return Suggestion(statement.spot.target, statement.spot.document, operations, reason=why, proposer=PROPOSER)


def _finding(
    kind: FindingKind,
    severity: Severity,
    statement: AuditedStatement,
    shown: str,
    why: str,
    *,
    advice: str,
    wanted: Suggestion | None = None,
) -> Finding:
    return Finding(kind, severity, statement.spot, shown, why, advice, wanted)
