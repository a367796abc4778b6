"""Fit the weights of REM's score on the cases of scoring.txt beside this file, and write them into the package.

    python benchmarks/training/fit_scoring.py [--check]

Logistic regression on the thirteen dimensions with one bias per kind of change, drawn towards `PRIOR` (what each
dimension was expected to be worth before fitting) and held to its sign and to a tenth of that at least. What is fitted
is whether the change Deep would make of a case is the one the case wants. PULL was chosen by five folds of these cases.
`--check` prints five-fold figures and writes nothing.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.scoring import TRAINING, read_cases, right, weighed
from reverie.rem.dimensions import NAMES, NEGATIVE
from reverie.rem.scoring import bias_of

ARTEFACT = Path(__file__).parents[2] / "src/reverie/rem/weights.json"
KINDS = ("add", "replace", "remove", "skill")
PULL, LEAST, STEPS, RATE = 0.03, 0.1, 8_000, 0.05
PRIOR = {
    "future_usefulness": 2.0, "query_diversity": 0.5, "actionability": 2.0, "compression_value": 0.5, "stability": 1.5,
    "recurrence": 3.5, "recency": 0.3, "explicitness": 4.0, "correction_signal": 0.5, "character_cost": -0.7,
    "duplication": -1.0, "volatility": -2.0, "sensitivity": -3.0,
}  # fmt: skip
BIAS = {"add": -6.5, "replace": -4.0, "remove": -4.0, "skill": -4.0}

Vector = NDArray[np.float64]


def rows() -> tuple[Vector, NDArray[np.bool_]]:
    """One row per change: the dimensions, then which kind of change it is."""
    found, good = [], []
    for case in read_cases(TRAINING):
        for one in weighed(case):
            kind = bias_of(one.decision.verb)
            found.append([*(part.value for part in one.score.parts), *(float(kind == name) for name in KINDS)])
            good.append(right(case, one))
    return np.array(found), np.array(good)


def fit(x: Vector, good: NDArray[np.bool_]) -> Vector:
    prior = np.array([*(PRIOR[name] for name in NAMES), *(BIAS[kind] for kind in KINDS)])
    signs = np.array([-1.0 if name in NEGATIVE else 1.0 for name in NAMES])
    least = LEAST * np.abs(prior[: len(NAMES)])
    weights = prior.copy()
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (chance - good) + PULL * (weights - prior)
        weights -= RATE * slope / np.sqrt(len(x))
        weights[: len(NAMES)] = signs * np.maximum(signs * weights[: len(NAMES)], least)
    return weights


def check(x: Vector, good: NDArray[np.bool_]) -> None:
    folds = np.arange(len(x)) % 5
    chance = np.zeros(len(x))
    for fold in range(5):
        weights = fit(x[folds != fold], good[folds != fold])
        chance[folds == fold] = 1 / (1 + np.exp(-(x[folds == fold] @ weights)))
    for gate in (0.5, 0.8, 0.85, 0.88):
        passed = chance >= gate
        right_ones = f"{good[passed].mean():.3f} of {passed.sum()} right"
        print(f"at {gate}: {right_ones}, {passed[good].mean():.3f} of the right ones pass")


if __name__ == "__main__":
    features, wanted = rows()
    print(f"{len(features)} changes, {wanted.sum()} of them right")
    if "--check" in sys.argv:
        check(features, wanted)
    else:
        fitted = fit(features, wanted)
        told = {
            "fitted_on": hashlib.sha256(TRAINING.read_bytes()).hexdigest()[:16],
            "weights": {name: round(float(value), 3) for name, value in zip(NAMES, fitted, strict=False)},
            "bias": {kind: round(float(value), 3) for kind, value in zip(KINDS, fitted[len(NAMES) :], strict=True)},
        }
        ARTEFACT.write_text(json.dumps(told, indent=1) + "\n")
        print(json.dumps(told, indent=1))
