"""What memory and skills say about a question, beside what was said in sessions.

Few statements stand against many turns: they are ranked by the share of the question's words they hold, rare words
counting more. A statement that holds too little of the question does not answer it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reverie.text.tokens import terms, tokens

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
