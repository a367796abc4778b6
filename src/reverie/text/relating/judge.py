"""From two Statements to the odds that the new one takes the old one's place, and what speaks for it.

The odds are a weighted sum of features (`weights.json`, fitted by benchmarks/training/fit_relate.py on pairs written
for that purpose). Of all pairs of clauses the one with the highest odds decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from math import exp, log

from reverie.text.relating.clause import Clause
from reverie.text.relating.features import features
from reverie.text.relating.opposition import Compared, compare
from reverie.text.relating.statement import ParsedStatement

_BIAS = "bias"
# Pairs of authors who took no part in the fitting conflict less often than these odds say (`relate.py --authors`).
_OPTIMISM = 0.62


@dataclass(frozen=True, slots=True)
class DecidingClauses:
    """The pair of clauses that decides, with what each feature adds to the log-odds of a conflict."""

    compared: Compared
    parts: dict[str, float]
    odds: float

    @property
    def conflict(self) -> float:
        return 1 / (1 + exp(-max(-30.0, min(30.0, self.odds - _OPTIMISM))))


@cache
def weights() -> dict[str, float]:
    stored = json.loads(files("reverie.text.relating").joinpath("weights.json").read_text("utf-8"))
    return {str(name): float(weight) for name, weight in stored["weights"].items()}


def evidence(old: ParsedStatement, new: ParsedStatement, about: float) -> DecidingClauses:
    """The clause pair most likely to be a conflict, weighed."""
    return max((weighed(compared, found) for compared, found in pairings(old, new, about)), key=lambda each: each.odds)


def pairings(old: ParsedStatement, new: ParsedStatement, about: float) -> Iterator[tuple[Compared, dict[str, float]]]:
    """Every clause of one with every clause of the other. The more there are, the less one chance match says."""
    short = old.short and new.short
    crowd = 0.0 if short else log(len(old.clauses) * len(new.clauses))
    several = len(old.clauses) * len(new.clauses) > 1
    for a, b in product(old.readings, new.readings):
        first = a is old.clauses[0] and b is new.clauses[0]
        if not short and ((several and a is old.whole and b is new.whole) or not (first or _touch(a, b))):
            continue
        compared = compare(a, b, closely=short)
        yield compared, features(compared, about, crowd)


def _touch(a: Clause, b: Clause) -> bool:
    return not a.words.keys().isdisjoint(b.words) or not a.attributes.isdisjoint(b.attributes)


def weighed(compared: Compared, found: dict[str, float]) -> DecidingClauses:
    known = weights()
    parts = {_BIAS: known[_BIAS], **{name: known[name] * value for name, value in found.items()}}
    return DecidingClauses(compared, parts, sum(parts.values()))
