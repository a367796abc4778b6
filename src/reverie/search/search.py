"""Search: a question and where to look in, the turns that answer it out, by key. The caller attaches the texts.

The index proposes a pool of turns by their words, the vectors say how near each is in meaning, and `rank` decides.
Turns whose vectors are not filled yet are found by their words alone. A score is a sum of named parts, each on the
scale of the best lexical match, which is 1:

    words       how well the turn matches, with its speaker and the turns beside it (the index's score)
    neighbours  the better of the two turns beside it, for an answer whose question was asked a turn earlier
    session     the best turns of its session: a session about the subject is likelier to hold the answer
    meaning     the cosine of question and turn; a turn without a vector yet stands where the middle one stands
    person      said by a person: people ask about what people said

A turn's vector is one bit per dimension, and leans a little towards the turns beside it, because a short answer means
little alone. The question keeps its full precision: against vectors of bits that loses next to nothing compared with
vectors of numbers.

What memory and skills say is searched beside it. There few statements stand against many turns: they are ranked by the
share of the question's words they hold, rare words counting more. One that holds too little of them is no answer.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Protocol

from reverie.text.embedding import embed, word_vector
from reverie.text.tokens import Term, terms, tokens, with_members

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TurnKey:
    user: str
    session_id: str
    turn: int


@dataclass(frozen=True, slots=True)
class RankedTurn:
    """A turn the index proposes. `lexical` compares only within one question."""

    key: TurnKey
    role: str
    lexical: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """`why` names the parts that add up to `score`."""

    key: TurnKey
    score: float
    why: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RankWeights:
    """The weight of each part beside the words, which count 1. `person` moves most when it is changed."""

    neighbours: float = 0.25
    session: float = 0.4
    meaning: float = 2.5
    person: float = 0.4


DEFAULT = RankWeights()
BEST_OF_SESSION = 3
HEAD = 10  # this many hits in order of score; after them every other session has its turn first


def rank(
    candidates: Sequence[RankedTurn], similarities: Sequence[float | None], weights: RankWeights = DEFAULT
) -> list[Ranked]:
    """`similarities` goes with `candidates`, None where a turn has no vector yet."""
    best = max((candidate.lexical for candidate in candidates), default=0.0)
    if best <= 0:
        return []
    words = {candidate.key: candidate.lexical / best for candidate in candidates}
    matches: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for key, value in words.items():
        matches[key.user, key.session_id].append(value)
    sessions = {
        session: sum(sorted(values, reverse=True)[:BEST_OF_SESSION]) / BEST_OF_SESSION
        for session, values in matches.items()
    }
    known = [similarity for similarity in similarities if similarity is not None]
    middle = median(known) if known else 0.0
    scored = []
    for candidate, similarity in zip(candidates, similarities, strict=True):
        key = candidate.key
        beside = (TurnKey(key.user, key.session_id, key.turn + step) for step in (-1, 1))
        parts = (
            ("words", words[key]),
            ("neighbours", weights.neighbours * max(words.get(one, 0.0) for one in beside)),
            ("session", weights.session * sessions[key.user, key.session_id]),
            ("meaning", weights.meaning * (middle if similarity is None else similarity)),
            ("person", weights.person if candidate.role == "user" else 0.0),
        )
        why = tuple((name, round(value, 4)) for name, value in parts if value)
        scored.append(Ranked(key, round(sum(value for _, value in why), 4), why))
    return sorted(scored, key=lambda row: (-row.score, row.key.user, row.key.session_id, row.key.turn))


def spread_over_sessions(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The best, then the best of each session not seen yet, then the rest: one long session cannot fill a page."""
    head, tail = list(ranked[:HEAD]), ranked[HEAD:]
    seen = {(row.key.user, row.key.session_id) for row in head}
    fresh: list[Ranked] = []
    again: list[Ranked] = []
    for row in tail:
        session = (row.key.user, row.key.session_id)
        (again if session in seen else fresh).append(row)
        seen.add(session)
    return (head + fresh + again)[:limit]


BYTES = 32
OPENING = 2000  # characters of a turn that are read: what follows turns the vector of a long text very little
LEAN = 0.25
LEAN_TO_BEST = 0.5  # from 0.8 on, and with more than one turn to lean to, what was asked gets lost


def turn_bits(said: Sequence[str]) -> list[bytes]:
    """One vector for each turn of a session, in order."""
    import numpy as np

    if not said:
        return []
    # In order of length, because the embedder pads a batch to its longest text.
    texts = [text[:OPENING] for text in said]
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    turns = embed([texts[place] for place in order])[np.argsort(order)]
    beside = np.pad(turns, ((1, 1), (0, 0)))
    leaning = turns + LEAN * (beside[:-2] + beside[2:])
    return [row.tobytes() for row in np.packbits(leaning > 0, axis=1)]


def question_vector(words: Mapping[str, float]) -> NDArray[np.float32]:
    """Words by weight: the rare ones are what the question is about."""
    import numpy as np

    weighed = np.zeros(8 * BYTES, dtype=np.float32)
    for word, weight in words.items():
        weighed += weight * word_vector(word)
    length = float(np.linalg.norm(weighed))
    return weighed / np.float32(length) if length else weighed


def leaning(question: NDArray[np.float32], best: bytes) -> NDArray[np.float32]:
    """The question, moved towards the turn that matches it best so far."""
    import numpy as np

    moved: NDArray[np.float32] = question + LEAN_TO_BEST * _signs([best])[0]
    moved /= np.linalg.norm(moved)
    return moved


def cosines(question: NDArray[np.float32], turns: Sequence[bytes]) -> list[float]:
    near: list[float] = (_signs(turns) @ question).tolist()
    return near


def _signs(turns: Sequence[bytes]) -> NDArray[np.float32]:
    """Unit vectors that point where the bits say."""
    import numpy as np

    rows = np.frombuffer(b"".join(turns), dtype=np.uint8).reshape(-1, BYTES)
    return (np.unpackbits(rows, axis=1).astype(np.float32) * 2 - 1) / np.float32((8 * BYTES) ** 0.5)


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
        words: dict[str, float] = {}
        for term, rarity in zip(asked, self.index.rarity(asked), strict=True):
            words[term.word] = max(words.get(term.word, 0.0), rarity * term.weight)
        return spread_over_sessions(self._ranked(candidates, bits, words), limit)

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
