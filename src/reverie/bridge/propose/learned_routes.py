"""Where a reviewer put what the bridge had put elsewhere: the next statement like it goes there, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.core.errors import BadInput
from reverie.skills.library import FoundSkill
from reverie.text.embedding import embed
from reverie.text.wording.words import normal

LIKE = 0.55  # likeness from which a statement is of the same sort
SAME_PAGE = 0.2  # what it counts for that both stand on the same page of a managed memory
MEMORY, USER, NOTHING, SKILL = "memory", "user", "nothing", "skill:"


@dataclass(frozen=True, slots=True)
class LearnedRoute:
    """Send what is like `text` to `to`: `memory`, `user`, `nothing`, or `skill:<name>`. `place` is where it stood."""

    id: str
    text: str
    to: str
    by: str
    at: datetime
    place: str = ""

    def __str__(self) -> str:
        return f"{self.by} put “{self.text}” there on {self.at:%Y-%m-%d} ({self.id})"


class LearnedRoutes(Protocol):
    def all(self) -> list[LearnedRoute]: ...

    def put(self, route: LearnedRoute, /) -> None: ...

    def remove(self, name: str, /) -> bool: ...


def learned_for(text: str, path: str, learned: Sequence[LearnedRoute]) -> LearnedRoute | None:
    """The nearest that is like it; of two that are as near, the newer."""
    if not learned:
        return None
    alike = embed([normal(one.text) for one in learned]) @ embed([normal(text)])[0]
    likeness = [float(near) + SAME_PAGE * one.place.endswith(path) for near, one in zip(alike, learned, strict=True)]
    best = max(range(len(learned)), key=lambda at: (round(likeness[at], 4), learned[at].at))
    return learned[best] if likeness[best] >= LIKE else None


def checked_place(to: str, skills: Sequence[FoundSkill]) -> str:
    known = [MEMORY, USER, NOTHING, *(f"{SKILL}{one.skill.subject}" for one in skills)]
    if to not in known:
        raise BadInput(f"There is no place {to!r}.", expected=f"one of {', '.join(known)}")
    return to
