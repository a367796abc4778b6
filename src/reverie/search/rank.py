"""Which of the turns an index proposes answers best, and why. Pure: scores in, an order with its reasons out.

A score is a sum of named parts, each on the scale of the best lexical match, which is 1:

    words       how well the turn matches, with its speaker and the turns beside it (the index's score)
    neighbours  the better of the two turns beside it, for an answer whose question was asked a turn earlier
    session     the best turns of its session: a session about the subject is likelier to hold the answer
    meaning     the cosine of question and turn; a turn without a vector yet stands where the middle one stands
    person      said by a person: people ask about what people said
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median


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
    sessions = _sessions(words)
    known = [similarity for similarity in similarities if similarity is not None]
    middle = median(known) if known else 0.0
    scored = []
    for candidate, similarity in zip(candidates, similarities, strict=True):
        key = candidate.key
        parts = (
            ("words", words[key]),
            ("neighbours", weights.neighbours * _beside(key, words)),
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


def _sessions(words: Mapping[TurnKey, float]) -> dict[tuple[str, str], float]:
    matches: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for key, value in words.items():
        matches[key.user, key.session_id].append(value)
    return {
        session: sum(sorted(values, reverse=True)[:BEST_OF_SESSION]) / BEST_OF_SESSION
        for session, values in matches.items()
    }


def _beside(key: TurnKey, words: Mapping[TurnKey, float]) -> float:
    return max(words.get(TurnKey(key.user, key.session_id, key.turn + step), 0.0) for step in (-1, 1))
