"""Fit the weights of `reverie.relate` on the pairs of relate.txt beside this file, and write them into the package.

    python benchmarks/training/fit_relate.py [--check | --new]

Logistic regression on the features of `reverie.text.relating.features`, drawn towards `PRIOR` (what each feature
was expected to be worth before fitting) and held to the sign it was given there. Which pair of clauses decides is not
labelled, so choosing it and fitting take turns. A pair that is no conflict counts `AGAINST_COUNTS` times: in a memory
most pairs are none. AGAINST_COUNTS and the prior of `crowd` were chosen with totals on labelled sets in view, not
fitted on them. `--check` prints five-fold figures and writes nothing. `--new` fits only the features that the stored
weights do not have yet and leaves the others as they are, so that no other pair is judged differently.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.relate import Pair, auc, read_pairs
from reverie.text.embedding import embed
from reverie.text.relating.features import AGAINST, FOR, NAMES
from reverie.text.relating.judge import pairings
from reverie.text.relating.statement import normal, read
from reverie.text.relating.words import language_of

HERE = Path(__file__).parent
PAIRS = HERE / "relate.txt"
ARTEFACT = HERE.parents[1] / "src/reverie/text/relating/weights.json"
PULL, AGAINST_COUNTS, TURNS, STEPS = 2.0, 1.7, 4, 400
BIAS = -3.5
PRIOR = {
    "denied": 0.5,
    "denied_never": 1.2,
    "denied_words": 2.5,
    "denied_alike": 2.5,
    "opposite": 1,
    "opposite_alike": 3,
    "value": 0.5,
    "value_gone": 2.5,
    "value_more": 2,
    "value_attribute": 3,
    "value_shared": 1,
    "value_context": 3,
    "value_alike": 2,
    "value_changed": 0.7,
    "slot": 0.5,
    "slot_same": 1,
    "slot_alike": 2.5,
    "slot_role": 1.5,
    "slot_now": 1,
    "slot_rival": 1.5,
    "ended": 3,
    "dropped": 2,
    "change": 2.5,
    "attribute": 1.5,
    "attribute_changed": 2.5,
    "only": 2,
    "narrowed": 2.5,
    "narrowed_within": 1,
    "about": 1,
    "subject": -4,
    "scope": -3,
    "question": -4,
    "hedged": -3.5,
    "conditional": -3,
    "past": -4,
    "was": -0.7,
    "additive": -3,
    "agrees": -3,
    "equal": -1.5,
    "any_number": -2,
    "value_date": -1,
    "value_many": -1,
    "value_other_count": -1.5,
    "value_lone": -1.5,
    "crowd": -0.95,
    "denied_rest": -1,
    "limited": -5,
    "within": -1,
}

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    rows: Vector  # one row of features per pair of clauses
    conflict: bool


def case(pair: Pair) -> Case:
    language = language_of(normal(f"{pair.old} {pair.new}"))
    old, new = read(pair.old, language), read(pair.new, language)
    first, second = embed([old.text, new.text])
    found = [features for _, features in pairings(old, new, float(first @ second))]
    return Case(np.array([[1.0, *(row.get(name, 0.0) for name in NAMES)] for row in found]), pair.conflict)


def fit(cases: list[Case], held: dict[str, float] | None = None) -> Vector:
    """`held` are weights to keep as they are."""
    held = held or {}
    prior = np.array([held.get(name, value) for name, value in (("bias", BIAS), *((n, PRIOR[n]) for n in NAMES))])
    free = np.array([float(name not in held) for name in ("bias", *NAMES)])
    conflict = np.array([each.conflict for each in cases], dtype=float)
    counts = np.where(conflict > 0, 1.0, AGAINST_COUNTS)
    weights = prior
    for _ in range(TURNS):
        chosen = np.array([each.rows[np.argmax(each.rows @ weights)] for each in cases])
        weights = _descend(chosen, conflict, counts, weights, prior, free=free)
    return weights


def _descend(rows: Vector, conflict: Vector, counts: Vector, weights: Vector, prior: Vector, *, free: Vector) -> Vector:
    """Accelerated projected gradient: every weight stays on the side its feature was given."""
    steepest = 0.25 * np.linalg.eigvalsh(rows.T @ (rows * counts[:, None]))[-1] + PULL
    ahead, pace = weights.copy(), 1.0
    for _ in range(STEPS):
        wrong = counts * (1 / (1 + np.exp(-rows @ ahead)) - conflict)
        stepped = _on_its_side(ahead - free * (rows.T @ wrong + PULL * (ahead - prior)) / steepest)
        quicker = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = stepped + (pace - 1) / quicker * (stepped - weights)
        weights, pace = stepped, quicker
    return weights


def _on_its_side(weights: Vector) -> Vector:
    bias, for_it, against_it = np.split(weights, [1, 1 + len(FOR)])
    return np.concatenate([bias, np.maximum(for_it, 0), np.minimum(against_it, 0)])


def scores(cases: list[Case], weights: Vector) -> Vector:
    return np.array([(each.rows @ weights).max() for each in cases])


def check(cases: list[Case]) -> None:
    fold = np.random.default_rng(5).integers(0, 5, len(cases))
    seen = np.zeros(len(cases))
    for number in range(5):
        weights = fit([each for each, its in zip(cases, fold, strict=True) if its != number])
        seen[fold == number] = scores([each for each, its in zip(cases, fold, strict=True) if its == number], weights)
    conflict = np.array([each.conflict for each in cases])
    found, false = np.mean(seen[conflict] >= 0), np.mean(seen[~conflict] >= 0)
    print(f"five-fold on {len(cases)} pairs: AUC {auc(seen, conflict):.3f}  found {found:.3f}  false {false:.3f}")


def main() -> None:
    cases = [case(pair) for pair in read_pairs(PAIRS)]
    check(cases)
    if "--check" in sys.argv:
        return
    held = json.loads(ARTEFACT.read_text("utf-8"))["weights"] if "--new" in sys.argv else {}
    weights = fit(cases, held)
    stored = {
        "fitted_by": "benchmarks/training/fit_relate.py",
        "pairs": len(cases),
        "pairs_sha256": hashlib.sha256(PAIRS.read_bytes()).hexdigest(),
        "weights": {name: round(float(weight), 3) for name, weight in zip(("bias", *NAMES), weights, strict=True)},
    }
    ARTEFACT.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print(f"{ARTEFACT.name}: {ARTEFACT.stat().st_size} bytes")
    assert set(NAMES) == set(FOR + AGAINST)


if __name__ == "__main__":
    main()
