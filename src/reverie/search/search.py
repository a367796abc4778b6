"""Search: a question and where to look in, the turns that answer it out, by key. The caller attaches the texts.

The index proposes a pool of turns by their words, the vectors say how near each is in meaning, and `rank` decides.
Turns whose vectors are not filled yet are found by their words alone.

What memory and skills say is searched beside it. There few statements stand against many turns: they are ranked by the
share of the question's words they hold, rare words counting more. One that holds too little of them is no answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from reverie.search.rank import (
    DEFAULT,
    Ranked,
    RankedTurn,
    RankWeights,
    TurnKey,
    cosines,
    leaning,
    question_vector,
    rank,
    spread_over_sessions,
)
from reverie.text.categories import with_members
from reverie.text.tokens import Term, terms, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = [
    "Index",
    "IndexedSession",
    "IndexedTurn",
    "Ranked",
    "RankedTurn",
    "Search",
    "SearchFilter",
    "Term",
    "TurnKey",
    "Vectors",
]

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
class SearchFilter:
    """The turns a question may see. None leaves a side open; a turn of unknown time is outside any `since` or
    `until`."""

    user: str | None = None
    harness: str | None = None
    role: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class Index(Protocol):
    def pool(self, terms: Sequence[Term], where: SearchFilter, size: int) -> list[RankedTurn]:
        """The `size` best matches within `where`, best first."""

    def rarity(self, terms: Sequence[Term]) -> list[float]:
        """The weight of each term: large for a rare one, near zero for one that is everywhere."""


class Vectors(Protocol):
    def bits(self, keys: Sequence[TurnKey]) -> Mapping[TurnKey, bytes]:
        """The vectors of those turns that have one yet."""


@dataclass(frozen=True, slots=True)
class Search:
    index: Index
    vectors: Vectors
    weights: RankWeights = DEFAULT

    def __call__(self, query: str, where: SearchFilter = SearchFilter(), limit: int = 10) -> list[Ranked]:
        asked = with_members(terms(query))
        candidates = self.index.pool(asked, where, max(POOL, limit)) if asked else []
        if not candidates:
            return []
        bits = self.vectors.bits([candidate.key for candidate in candidates])
        return spread_over_sessions(self._ranked(candidates, bits, self._words(asked)), limit)

    def _words(self, asked: Sequence[Term]) -> dict[str, float]:
        words: dict[str, float] = {}
        for term, rarity in zip(asked, self.index.rarity(asked), strict=True):
            words[term.word] = max(words.get(term.word, 0.0), rarity * term.weight)
        return words

    def _ranked(
        self, candidates: Sequence[RankedTurn], bits: Mapping[TurnKey, bytes], words: Mapping[str, float]
    ) -> list[Ranked]:
        """Ranked twice: the best match says in other words what the question is about, and the question leans to it."""
        if not bits:
            return rank(candidates, [None] * len(candidates), self.weights)
        question = question_vector(words)
        first = rank(candidates, _near(question, candidates, bits), self.weights)
        best = bits.get(first[0].key) if first else None
        if best is None:
            return first
        return rank(candidates, _near(leaning(question, best), candidates, bits), self.weights)


def _near(
    question: NDArray[np.float32], candidates: Sequence[RankedTurn], bits: Mapping[TurnKey, bytes]
) -> list[float | None]:
    near = dict(zip(bits, cosines(question, list(bits.values())), strict=True))
    return [near.get(candidate.key) for candidate in candidates]


LEAST = 0.4  # of the weight of the question's words
MOST = 5


@dataclass(frozen=True, slots=True)
class StatementHit:
    """`kind` says what it stands in: `memory`, `skill`, `instructions` or `store`; `where` says which."""

    kind: str
    where: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class StatementSearch:
    """`statements` gives kind, place and text of all there are."""

    statements: Callable[[], Iterable[tuple[str, str, str]]]

    def __call__(self, query: str, limit: int = MOST) -> list[StatementHit]:
        asked = [term.forms for term in terms(query) if term.weight == 1]
        if not asked:
            return []
        known = [(kind, where, text, set(tokens(text))) for kind, where, text in self.statements()]
        held = Counter(at for *_, words in known for at, forms in enumerate(asked) if not words.isdisjoint(forms))
        weights = [math.log(1 + len(known) / (1 + held[at])) for at in range(len(asked))]
        whole = sum(weights) or 1.0
        hits = dict[tuple[str, str], StatementHit]()
        for kind, where, text, words in known:
            held_here = (at for at, forms in enumerate(asked) if not words.isdisjoint(forms))
            score = sum(weights[at] for at in held_here) / whole
            if score >= LEAST:
                hits.setdefault((where, text), StatementHit(kind, where, text, round(score, 3)))
        return sorted(hits.values(), key=lambda hit: (-hit.score, len(hit.text)))[:limit]
