"""Something Light noticed that may be worth keeping."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Literal

from reverie.core.scope import Origin, weakest
from reverie.transcripts.session import Evidence

MAX_WORDING = 160

About = Literal["person", "world"]


class Kind(StrEnum):
    USER_PREFERENCE = "user_preference"
    COMMUNICATION_PREFERENCE = "communication_preference"
    PROJECT_FACT = "project_fact"
    PROJECT_DECISION = "project_decision"
    CORRECTION = "correction"
    RECURRING_WORKFLOW = "recurring_workflow"
    SUPERSESSION_SIGNAL = "supersession_signal"
    STALE_SIGNAL = "stale_signal"
    SKILL_CANDIDATE = "skill_candidate"


@dataclass(frozen=True, slots=True)
class Candidate:
    """`text` stands on its own, in the language it was said in; the verbatim words are in the evidence.

    `explicitness` says how directly it was put: an order to remember is 1, a fact mentioned in passing is low.
    `about` says whom it concerns, which decides the document it would go to. `language` is an ISO 639-1 code,
    or "und" where no cues of ours apply. `dates` are those the words speak of, resolved against the day they
    were said. `marks` name the cues that fired, so that a person can be told why.
    """

    kind: Kind
    text: str
    confidence: float
    explicitness: float
    evidence: tuple[Evidence, ...]
    about: About = "world"
    language: str = "und"
    dates: tuple[date, ...] = ()
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not any(item.weight == "support" for item in self.evidence):
            raise ValueError(f"The candidate {self.text!r} rests on nothing: it has no supporting evidence.")

    @property
    def origin(self) -> Origin:
        return weakest(item.origin for item in self.evidence if item.weight == "support")

    @property
    def first_turn(self) -> int:
        return min(item.turn for item in self.evidence)


@dataclass(frozen=True, slots=True)
class Noted:
    """A Candidate with whose words it is and when they were said. `speaker` is None where nobody can be named."""

    id: str
    candidate: Candidate
    session_id: str
    speaker: str | None
    said_at: datetime | None

    @property
    def text(self) -> str:
        return self.candidate.text

    @property
    def origin(self) -> Origin:
        return self.candidate.origin

    @property
    def marks(self) -> frozenset[str]:
        return frozenset(self.candidate.marks)

    @property
    def words(self) -> str:
        """The verbatim words it rests on."""
        return " ".join(one.quote for one in self.support)

    @property
    def order(self) -> tuple[float, int, str]:
        at = self.said_at.timestamp() if self.said_at else 0.0
        return at, self.candidate.first_turn, self.id

    @property
    def support(self) -> tuple[Evidence, ...]:
        return tuple(one for one in self.candidate.evidence if one.weight == "support")
