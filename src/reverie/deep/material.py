"""What Deep is given: what was noticed and by whom it was said, and what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reverie.light.candidate import Noted as Noted

BESIDE = "matters beside what is known"  # a mark: a statement that says nothing by itself
AGAIN = "speaks of something again"  # a mark: words of a day's work that may show that something said still holds


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
