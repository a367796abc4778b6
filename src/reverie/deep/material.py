"""What Deep is given: what was noticed and by whom it was said, and what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reverie.kernel.origin import Origin
from reverie.light.candidate import Candidate
from reverie.sessions.session import Evidence

BESIDE = "matters beside what is known"  # a mark: a statement that says nothing by itself
AGAIN = "speaks of something again"  # a mark: words of a day's work that may show that something said still holds


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
    def support(self) -> tuple[Evidence, ...]:
        return tuple(one for one in self.candidate.evidence if one.weight == "support")

    @property
    def words(self) -> str:
        """The verbatim words it rests on."""
        return " ".join(one.quote for one in self.support)

    @property
    def order(self) -> tuple[float, int, str]:
        at = self.said_at.timestamp() if self.said_at else 0.0
        return at, self.candidate.first_turn, self.id


@dataclass(frozen=True, slots=True)
class Known:
    """A statement on some surface the agent reads. `document` is None where a dream may not change it.

    `since` is when it came in, if that was seen; it is at least as old as `seen`.
    """

    surface: str
    text: str
    document: str | None = None
    sha256: str = ""
    since: datetime | None = None
    seen: datetime | None = None
    critical: bool = False
