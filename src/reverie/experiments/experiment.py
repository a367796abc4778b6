"""An experiment: two arms, what is measured, and what it says so far. Values and pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from math import erfc, exp, inf, log, sqrt
from typing import Literal

# ---- the difference of two means, with an interval that holds at every look ------------------------------------------
#
# A mixture sequential probability ratio test with a normal mixture (Robbins; Johari, Pekelis and Walsh). The means are
# taken for normal, so nothing is said before each arm has `FEWEST` units.

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


Arm = Literal["a", "b"]
# ---- experiments -----------------------------------------------------------------------------------------------------

OFF_BALANCE = 0.001  # chance of the split seen, below which the assignment is broken
KNOWN = {"success": ("higher", 0.1), "corrections": ("lower", 0.5), "turns": ("lower", 3.0), "cost": ("lower", 0.1)}


@dataclass(frozen=True, slots=True)
class Metric:
    """`effect` is the difference that matters; of a guardrail, the harm that is put up with at most."""

    name: str
    better: Literal["higher", "lower"] = "higher"
    effect: float = 0.1

    @property
    def binary(self) -> bool:
        return self.name == "success"


@dataclass(frozen=True, slots=True)
class Experiment:
    """`a` is what is in use, `b` what might be better: memory stores, or versions of a skill library. Each unit, a
    session or a person, gets one of them. `alpha` is how often at most an arm is called better that is not."""

    name: str
    a: str
    b: str
    metric: Metric
    guardrails: tuple[Metric, ...]
    made_at: datetime
    alpha: float = 0.05
    share: float = 0.5  # of the units that get b
    decided: Literal["", "promoted", "rolled_back"] = ""

    def arm(self, unit: str) -> Arm:
        """The same every time, as if a coin was thrown for each unit once; after a decision, the arm that won."""
        if self.decided:
            return "b" if self.decided == "promoted" else "a"
        return self.thrown(unit)

    def thrown(self, unit: str) -> Arm:
        number = int.from_bytes(sha256(f"{self.name}\0{unit}".encode()).digest()[:8], "big")
        return "b" if number / 2**64 < self.share else "a"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one session of a unit. `values` by metric."""

    unit: str
    arm: Arm
    at: datetime
    values: dict[str, float] = field(default_factory=dict)


class Conclusion(StrEnum):
    B_IS_BETTER = "b_is_better"
    A_IS_BETTER = "a_is_better"
    INCONCLUSIVE = "inconclusive"
    HARM = "harm"  # a guardrail is broken
    NOT_SAFE_YET = "not_safe_yet"  # b is better, and a guardrail cannot be told yet
    BROKEN = "broken"  # the arms are not split as they should be


@dataclass(frozen=True, slots=True)
class Measured:
    metric: Metric
    a: Sample
    b: Sample
    interval: Interval

    @property
    def gain(self) -> tuple[float, float, float]:
        """Low, estimate and high of how much better b is."""
        one = self.interval
        return (
            (one.low, one.estimate, one.high)
            if self.metric.better == "higher"
            else (-one.high, -one.estimate, -one.low)
        )


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    verdict: Conclusion
    metric: Measured
    guardrails: tuple[Measured, ...]
    split: float  # chance of a split as uneven as this one


def result_so_far(experiment: Experiment, outcomes: Sequence[Outcome]) -> ExperimentResult:
    """The result as of now. A unit counts once, by the mean of its sessions, however many it has."""
    found = _measured(experiment, experiment.metric, outcomes)
    rails = tuple(_measured(experiment, one, outcomes) for one in experiment.guardrails)
    split = _split(experiment, outcomes)
    return ExperimentResult(_verdict(found, rails, split), found, rails, split)


def _measured(experiment: Experiment, metric: Metric, outcomes: Sequence[Outcome]) -> Measured:
    sides: dict[Arm, dict[str, list[float]]] = {"a": {}, "b": {}}
    for one in outcomes:
        if metric.name in one.values:
            sides[one.arm].setdefault(one.unit, []).append(one.values[metric.name])
    a, b = (sample((sum(each) / len(each) for each in sides[arm].values()), binary=metric.binary) for arm in ("a", "b"))
    return Measured(metric, a, b, interval(a, b, experiment.alpha, metric.effect))


def _verdict(found: Measured, rails: Sequence[Measured], split: float) -> Conclusion:
    if split < OFF_BALANCE:
        return Conclusion.BROKEN
    if any(rail.gain[2] < -rail.metric.effect for rail in rails):
        return Conclusion.HARM
    low, _, high = found.gain
    if high < 0:
        return Conclusion.A_IS_BETTER
    if low <= 0 or found.interval == NOTHING_YET:
        return Conclusion.INCONCLUSIVE
    safe = all(rail.gain[0] >= -rail.metric.effect for rail in rails)
    return Conclusion.B_IS_BETTER if safe else Conclusion.NOT_SAFE_YET


def _split(experiment: Experiment, outcomes: Sequence[Outcome]) -> float:
    units = {one.unit: one.arm for one in outcomes}
    number, expected = len(units), len(units) * experiment.share
    if number < 2 * FEWEST:
        return 1.0
    off = sum(arm == "b" for arm in units.values()) - expected
    return erfc(abs(off) / sqrt(2 * number * experiment.share * (1 - experiment.share)))
