"""What can come of wanting to land something. Expected outcomes are values."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.changes.history.change import Change
from reverie.changes.history.records import ChangeQuery, HistoryRecords
from reverie.core.scope import Scope
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.safety.report import Report


@dataclass(frozen=True, slots=True)
class Landed:
    change: Change


@dataclass(frozen=True, slots=True)
class Unchanged:
    """There was nothing to do. Nothing was written."""

    why: str


@dataclass(frozen=True, slots=True)
class Unsafe:
    """The new text must not pass unseen. Nothing was written."""

    report: Report


@dataclass(frozen=True, slots=True)
class Stale:
    """The change that was approved is not the one that would be made now. Look at it again; nothing was written."""

    proposal: str
    why: str


Refusal = Conflicted | OverBudget | Unfit | Unsafe | Stale
Outcome = Landed | Unchanged | Refusal


def undone_by(records: HistoryRecords, scope: Scope, change: str) -> Change | None:
    """The Change that took this one back, unless that was taken back itself."""
    for undo in records.find(scope, ChangeQuery(undoes=change)):
        if undone_by(records, scope, undo.id) is None:
            return undo
    return None


def already_undone(change: str, by: Change) -> Unchanged:
    return Unchanged(f"{change} was taken back already, by {by.id}; to have it again, take back {by.id}")


def in_words(outcome: Outcome) -> str:
    match outcome:
        case Landed(change):
            return f"Landed as {change.id}."
        case Unchanged(why):
            return f"Nothing to do: {why}."
        case Conflicted(_, why):
            return f"Not done: {why}. Nothing was changed."
        case OverBudget(characters, budget):
            return f"Not done: the document would have {characters:,} characters; its limit is {budget:,}."
        case Unfit(_, why):
            return f"Not done: {why}."
        case Unsafe(report):
            first = report.findings[0] if report.findings else None
            found = f"{first.category}: {first.shown[:120]!r}. {first.advice}" if first else "it could not be scanned"
            return f"Not done: it looks unsafe ({found}) Nothing was changed."
        case Stale(_, why):
            return f"Not done: {why}. Look at it again."
