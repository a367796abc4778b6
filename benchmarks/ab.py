"""How often does `reverie ab` call an arm better that is not, and how soon does it find one that is?

    python benchmarks/ab.py [runs]

Each run is an experiment that is looked at after every unit, and ended at the first verdict or after `MOST` units.
`success` is a share, `cost` is skewed (log-normal, sigma 1), `corrections` are counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from reverie.experiments import FEWEST, Sample, interval

MOST, ALPHA = 4_000, 0.05
Draw = Callable[[np.random.Generator, int, float], "np.ndarray"]


def success(dice: np.random.Generator, number: int, lift: float) -> np.ndarray:
    return (dice.random(number) < 0.7 + lift).astype(float)


def cost(dice: np.random.Generator, number: int, lift: float) -> np.ndarray:
    return np.exp(dice.normal(-2.0, 1.0, number)) * (1 - lift)


def corrections(dice: np.random.Generator, number: int, lift: float) -> np.ndarray:
    return dice.poisson(0.8 * (1 - lift), number).astype(float)


def run(draw: Draw, lift: float, effect: float, better: int, dice: np.random.Generator) -> tuple[int, int]:
    """1: b is called better, -1: a, 0: neither; and after how many units."""
    half = MOST // 2
    sides = [draw(dice, half, 0.0), draw(dice, half, lift)]
    sums = [np.cumsum(one) for one in sides]
    squares = [np.cumsum(one * one) for one in sides]
    binary = draw is success
    for number in range(FEWEST, half + 1):
        samples = []
        for total, square in zip(sums, squares, strict=True):
            mean = float(total[number - 1]) / number
            smooth = (float(total[number - 1]) + 1) / (number + 2)
            spread = (float(square[number - 1]) - number * mean * mean) / (number - 1)
            samples.append(Sample(number, mean, smooth * (1 - smooth) if binary else spread))
        found = interval(samples[0], samples[1], ALPHA, effect)
        if found.low > 0 or found.high < 0:
            return (better if found.low > 0 else -better), 2 * number
    return 0, MOST


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("measure      b is better by   promoted  rolled back  inconclusive  units at the end, median")
    cases: list[tuple[Draw, float, float, int]] = [(success, lift, 0.1, 1) for lift in (0.0, 0.02, 0.05, 0.1, -0.05)]
    cases += [(cost, lift, 0.05, -1) for lift in (0.0, 0.2)] + [(corrections, lift, 0.3, -1) for lift in (0.0, 0.2)]
    for draw, lift, effect, better in cases:
        dice = np.random.default_rng(17)
        found = [run(draw, lift, effect, better, dice) for _ in range(runs)]
        shares = [sum(one == wanted for one, _ in found) / runs for wanted in (1, -1, 0)]
        units = int(np.median([number for _, number in found]))
        print(f"{draw.__name__:12} {lift:+14.0%} {shares[0]:11.1%} {shares[1]:11.1%} {shares[2]:13.1%} {units:10,}")


if __name__ == "__main__":
    main()
