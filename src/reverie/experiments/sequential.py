"""The difference of two means, with an interval that holds at every look and not only at one that was planned.

A mixture sequential probability ratio test with a normal mixture (Robbins; Johari, Pekelis and Walsh). The means are
taken for normal, so nothing is said before each arm has `FEWEST` units.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, inf, log, sqrt

FEWEST = 30  # units of an arm


@dataclass(frozen=True, slots=True)
class Sample:
    number: int
    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Interval:
    """The second arm less the first; with probability 1 - alpha it covers the truth at every look. `p` is always valid,
    too."""

    estimate: float
    low: float
    high: float
    p: float


NOTHING_YET = Interval(0.0, -inf, inf, 1.0)


def sample(values: Iterable[float], *, binary: bool = False) -> Sample:
    """Of a share, the variance is that of a share with one success and one failure more: it is never zero."""
    kept = list(values)
    number = len(kept)
    if not number:
        return Sample(0, 0.0, 0.0)
    mean = sum(kept) / number
    if binary:
        smooth = (sum(kept) + 1) / (number + 2)
        return Sample(number, mean, smooth * (1 - smooth))
    spread = sum((one - mean) ** 2 for one in kept) / max(1, number - 1)
    return Sample(number, mean, spread)


def interval(first: Sample, second: Sample, alpha: float, effect: float) -> Interval:
    """`effect` is the size of difference the test is made for: others are found as well, only later."""
    if min(first.number, second.number) < FEWEST:
        return NOTHING_YET
    estimate = second.mean - first.mean
    variance = first.variance / first.number + second.variance / second.number
    if variance <= 0:
        return NOTHING_YET
    mixed = effect * effect / variance  # how much the mixture weighs beside what was seen
    wide = sqrt(variance * (1 + mixed) / mixed * (2 * log(1 / alpha) + log(1 + mixed)))
    odds = mixed / (1 + mixed) * estimate * estimate / (2 * variance) - log(1 + mixed) / 2
    return Interval(estimate, estimate - wide, estimate + wide, min(1.0, exp(-odds)) if odds > 0 else 1.0)
