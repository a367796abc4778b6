"""A Finding: something wrong with what an agent reads, where it stands, and what could be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from reverie.changes.proposal import Suggestion

Severity = Literal["high", "medium", "low", "note"]
ORDER: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2, "note": 3}
LOOK = "A person has to look."


class FindingKind(StrEnum):
    """The worst first: of several things wrong with one statement, the first names it in pictures."""

    UNSAFE = "unsafe"
    SECRET = "secret"
    DAMAGED = "damaged"
    CONTRADICTORY = "contradictory"
    SUPERSEDED = "superseded"
    STALE = "stale"
    JUNK = "junk"
    DUPLICATED = "duplicated"
    SENSITIVE = "sensitive"
    BROKEN = "broken"
    UNREADABLE = "unreadable"
    OVER_BUDGET = "over budget"
    UNUSED = "never used"
    AUTHORITY = "authority"
    VERBOSE = "verbose"
    CUT = "cut short"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something stands. `number` counts the statements of a document from 1; 0 is the document, or a skill."""

    home: str
    target: str
    document: str
    number: int = 0

    def __str__(self) -> str:
        place = f"{self.target}/{self.document}" if self.document else self.target
        return f"{place} #{self.number}" if self.number else place


@dataclass(frozen=True, slots=True)
class Finding:
    """`words` are fit to be shown: secrets taken out, everything invisible spelt out. `other` is what they stand
    against. Without a `suggestion` there is nothing a machine should propose: `advice` says what a person can do."""

    kind: FindingKind
    severity: Severity
    spot: Spot
    words: str
    why: str
    advice: str = LOOK
    suggestion: Suggestion | None = None
    other: Spot | None = None
    other_words: str = ""
