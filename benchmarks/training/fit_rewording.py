"""Fit the weights of `reverie.bridge.compare.rewording`, and write them into the package.

    python benchmarks/training/fit_rewording.py [--check]

Logistic regression on pairs of statements that say the same or do not: those of training/data/relate-v.jsonl, from
which the network that is asked has learned nothing, and those of labelled/store_edits.txt that are not set aside, each
with the statements that are next to it in meaning.
`--check` prints five-fold figures on either and writes nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.store_edits import qualified, read_edits, touched_up
from reverie.bridge.compare.rewording import FOR, rewording_features
from reverie.text.embedding import embed

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "training/data/relate-v.jsonl"
ARTEFACT = ROOT / "src/reverie/bridge/compare/rewording.json"
PULL, STEPS, EDITS_COUNT, OTHERS = 3.0, 1_500, 3.0, 3
UNRELATED = 0.3  # how much a pair about two matters counts beside one about the same: they are seldom put together
Floats = NDArray[np.float64]


def main() -> None:
    features, same, counts, block = _read()
    centre, spread = features.mean(0), features.std(0) + 1e-9
    scaled = (features - centre) / spread
    if "--check" in sys.argv:
        _check(scaled, same, counts, block)
        return
    weights = _fitted(scaled, same, counts)
    plain = weights[:-1] / spread
    bias = weights[-1] - float(plain @ centre)
    told = {"bias": round(bias, 4)} | {name: round(float(one), 4) for name, one in zip(NAMES, plain, strict=True)}
    ARTEFACT.write_text(json.dumps({"weights": told}, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"Wrote {ARTEFACT.name}: {len(same)} pairs.\n")


NAMES = list(rewording_features("One thing.", "Another thing."))
SIGNS = np.array([0.0 if name == "ratio" else 1.0 if name in FOR else -1.0 for name in NAMES])


def _read() -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Features, whether a pair says the same, how much it counts, and its block: below 0 of a chat, else of a store."""
    rows = list(map(json.loads, PAIRS.read_text("utf-8").splitlines()))
    pairs = [(row["old"], row["new"], row["kind"] == "same", -int(row["block"][1:])) for row in rows]
    edits = [one for one in read_edits() if not one.set_aside]
    nearest = np.argsort(-(vectors := embed([one.text for one in edits])) @ vectors.T, axis=1)
    for number, edit in enumerate(edits):
        pairs += [(edit.text, edits[other].text, False, number) for other in nearest[number][1 : 1 + OTHERS]]
        pairs += [(edit.text, other, True, number) for other in (*edit.reworded, *touched_up(edit.text)[::2])]
        pairs += [(edit.text, other, False, number) for other in (*edit.changed, *edit.negated)]
        more = qualified(edit.text, aside=False)[number % 3 :: 3]
        pairs += [(edit.text, other, False, number) for other in more] + [
            (one, edit.text, False, number) for one in more
        ]
    features = np.array([list(rewording_features(old, new).values()) for old, new, _, _ in pairs])
    same = np.array([float(one[2]) for one in pairs])
    block = np.array([one[3] for one in pairs])
    counts = np.full(len(pairs), EDITS_COUNT)
    counts[: len(rows)] = [0.5 * (UNRELATED if row["kind"] == "unrelated" else 1.0) for row in rows]
    for group in (block >= 0, block < 0):  # both answers weigh the same in each group
        counts[group & (same == 1)] *= counts[group & (same == 0)].sum() / counts[group & (same == 1)].sum()
    return features, same, counts, block


def _fitted(features: Floats, same: Floats, counts: Floats) -> Floats:
    """Each weight is held to the sign its feature has by its meaning."""
    rows = np.c_[features, np.ones(len(features))]
    pull = PULL * np.r_[np.ones(features.shape[1]), 1e-6]
    weights, ahead, last = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 1.0
    pace = 4 / np.linalg.eigvalsh((rows * counts[:, None]).T @ rows)[-1]
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ ahead))
        moved = ahead - pace * (rows.T @ (counts * (chance - same)) + pull * ahead)
        moved[:-1] = np.where(moved[:-1] * SIGNS >= 0, moved[:-1], 0.0)
        now = (1 + np.sqrt(1 + 4 * last**2)) / 2
        ahead, weights, last = moved + (last - 1) / now * (moved - weights), moved, now
    return weights


def _check(features: Floats, same: Floats, counts: Floats, block: NDArray[np.int64]) -> None:
    chance = np.zeros(len(same))
    for fold in range(5):
        out = block % 5 == fold
        weights = _fitted(features[~out], same[~out], counts[~out])
        chance[out] = 1 / (1 + np.exp(-np.c_[features[out], np.ones(out.sum())] @ weights))
    for name, here in (("store", block >= 0), ("chat", block < 0)):
        for bar in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            kept, found = (chance[here & (same == 1)] >= bar).mean(), (chance[here & (same == 0)] < bar).mean()
            sys.stdout.write(f"{name} {bar:.1f}: {kept:.1%} of rewordings at or above, {found:.1%} of changes below\n")


if __name__ == "__main__":
    main()
