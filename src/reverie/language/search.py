"""Search: a question and where to look in, the turns that answer it out, by key. The caller attaches the texts.

The index proposes a pool of turns by their words, the vectors say how near each is in meaning, and `ranking` decides.
Turns whose vectors are not filled yet are found by their words alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.language.ranking import DEFAULT, Candidate, Ranked, TurnKey, Weights, page, rank
from reverie.language.tokens import Term, terms

__all__ = [
    "Candidate", "Index", "IndexedSession", "IndexedTurn", "Ranked", "Search", "Term", "TurnKey", "Vectors", "Where",
]  # fmt: skip

POOL = 200


@dataclass(frozen=True, slots=True)
class IndexedTurn:
    """A turn that is not noise, as both index and vectors read it."""

    number: int
    role: str
    name: str | None
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class IndexedSession:
    """`turns` in order, without noise."""

    user: str
    session_id: str
    harness: str
    title: str | None
    started_at: datetime | None
    turns: Iterable[IndexedTurn]


@dataclass(frozen=True, slots=True)
class Where:
    """What a question may see. None leaves a side open; a turn of unknown time is outside any `since` or `until`."""

    user: str | None = None
    harness: str | None = None
    role: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    session_ids: frozenset[str] | None = None


class Index(Protocol):
    def pool(self, terms: Sequence[Term], where: Where, size: int) -> list[Candidate]:
        """The `size` best matches within `where`, best first."""

    def rarity(self, terms: Sequence[Term]) -> list[float]:
        """How much each term tells: large for a rare one, near zero for one that is everywhere."""


class Vectors(Protocol):
    def similarities(self, words: Mapping[str, float], keys: Sequence[TurnKey]) -> list[float | None]:
        """Cosine of the weighted words and each turn; None where the turn has no vector yet."""


@dataclass(frozen=True, slots=True)
class Search:
    index: Index
    vectors: Vectors
    weights: Weights = DEFAULT

    def __call__(self, query: str, where: Where = Where(), limit: int = 10) -> list[Ranked]:
        asked = terms(query)
        candidates = self.index.pool(asked, where, max(POOL, limit)) if asked else []
        if not candidates:
            return []
        words: dict[str, float] = {}
        for term, rarity in zip(asked, self.index.rarity(asked), strict=True):
            words[term.word] = max(words.get(term.word, 0.0), rarity * term.weight)
        similarities = self.vectors.similarities(words, [candidate.key for candidate in candidates])
        return page(rank(candidates, similarities, self.weights), limit)
