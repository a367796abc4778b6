"""From dimensions to a score: the odds that a careful curator would do the same.

Weights are log-odds, fitted on labelled cases by benchmarks/training/fit_scoring.py and shipped beside this module;
a dimension that speaks for a change can only raise the score, one that speaks against it can only lower it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp

from reverie.deep.decision import Decision, Verb
from reverie.rem.dimensions import Weighing, dimensions
from reverie.review.proposal import Part, Score


@dataclass(frozen=True, slots=True)
class Weights:
    dimensions: dict[str, float]
    bias: dict[str, float]  # by verb


@cache
def weights() -> Weights:
    stored = json.loads((files("reverie.rem") / "weights.json").read_text("utf-8"))
    return Weights(stored["weights"], stored["bias"])


def scored(decision: Decision, weighing: Weighing) -> Score:
    known = weights()
    found = dimensions(decision, weighing)
    parts = tuple(Part(one.name, one.value, round(known.dimensions[one.name] * one.value, 4), one.why) for one in found)
    odds = known.bias[bias_of(decision.verb)] + sum(part.adds for part in parts)
    return Score(round(1 / (1 + exp(-max(-30.0, min(30.0, odds)))), 4), parts)


def bias_of(verb: Verb) -> str:
    """Which kind of change it is: each begins from its own odds."""
    return _BIAS.get(verb, "add")


_BIAS = {Verb.SUPERSEDE: "replace", Verb.MERGE: "replace", Verb.REMOVE: "remove", Verb.BETTER_AS_SKILL: "skill"}
