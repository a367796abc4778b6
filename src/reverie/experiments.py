"""Which of two memories works better: each session or person gets one of them, and what comes of it is counted.

In come units (a session, a person) and their outcomes; out go an arm for each unit, the same every time, and a verdict
that may be looked at as often as one likes. It never says that one is better before the stated error rate allows it.

`home.experiments` is all of it; its report is a page of Markdown with a plot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from math import erfc, exp, inf, isfinite, log, sqrt
from typing import Literal, Protocol

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound

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


# ---- an experiment, and what it says so far --------------------------------------------------------------------------

Arm = Literal["a", "b"]
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
    units = {one.unit: one.arm for one in outcomes}
    number, expected, split = len(units), len(units) * experiment.share, 1.0
    if number >= 2 * FEWEST:
        off = sum(arm == "b" for arm in units.values()) - expected
        split = erfc(abs(off) / sqrt(2 * number * experiment.share * (1 - experiment.share)))
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


# ---- the page --------------------------------------------------------------------------------------------------------

LOOKS = 12  # in the plot
WIDTH = 57
SENTENCES = {
    Conclusion.B_IS_BETTER: "B is better. `reverie ab promote {name}` gives it to everyone.",
    Conclusion.A_IS_BETTER: "A is better. `reverie ab roll-back {name}` gives it to everyone.",
    Conclusion.INCONCLUSIVE: "Inconclusive: there may be no difference. More units may tell.",
    Conclusion.HARM: "B does harm: a guardrail is broken. `reverie ab roll-back {name}` gives A to everyone.",
    Conclusion.NOT_SAFE_YET: "B is better in what is measured, and a guardrail is not settled yet: inconclusive.",
    Conclusion.BROKEN: "The units are not split as they should be, so nothing can be said. Look at what assigns them.",
}


def report(experiment: Experiment, outcomes: Sequence[Outcome]) -> str:
    now = result_so_far(experiment, outcomes)
    parts = [f"# {experiment.name}", "", f"- A, in use: `{experiment.a}`", f"- B: `{experiment.b}`"]
    units = len({one.unit for one in outcomes})
    parts += [f"- Began {experiment.made_at:%Y-%m-%d}; {len(outcomes):,} sessions of {units:,} units."]
    parts += [f"- Decided: {experiment.decided.replace('_', ' ')}."] if experiment.decided else []
    parts += ["", f"**{SENTENCES[now.verdict].format(name=experiment.name)}**", "", *_table(now), ""]
    parts += [*_plot(experiment, outcomes), ""]
    parts += [
        "Each unit counts once, by the mean of its sessions. All looks together, the intervals hold with a chance of",
        f"{1 - experiment.alpha:.0%}: it can be looked at daily, and ended at any time. They take means for normal, so",
        f"nothing is said below {FEWEST} units in each arm. B is called better only if no guardrail can be worse by",
        "more than is put up with.",
        f"The split of the units has a chance of {now.split:.3f}.",
    ]
    return "\n".join(parts) + "\n"


def _table(now: ExperimentResult) -> list[str]:
    lines = ["| measure | units A, B | mean A | mean B | B is better by | p |", "|---|---|---|---|---|---|"]
    for number, one in enumerate((now.metric, *now.guardrails)):
        low, middle, high = one.gain
        known = low > -inf
        span = f"{middle:+.3g} ({low:+.3g} to {high:+.3g})" if known else f"not known: {FEWEST} units each at least"
        name = f"**{one.metric.name}**" if number == 0 else f"{one.metric.name}, guardrail ±{one.metric.effect:g}"
        means = f"{one.a.mean:.3g} | {one.b.mean:.3g}"
        lines.append(f"| {name} | {one.a.number}, {one.b.number} | {means} | {span} | {one.interval.p:.3f} |")
    return lines


def _plot(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[str]:
    """The interval at a dozen looks, oldest on top; `|` is no difference, `o` the estimate."""
    places = sorted({round(len(outcomes) * (step / LOOKS) ** 2) for step in range(1, LOOKS + 1)} - {0})
    seen = [(place, result_so_far(experiment, outcomes[:place]).metric) for place in places]
    known = [(place, one) for place, one in seen if one.gain[0] > -inf]
    if not known:
        return []
    most = max(abs(edge) for _, one in known[-(LOOKS // 2) :] for edge in (one.gain[0], one.gain[2]))
    lines = [f"How much better B is in {experiment.metric.name}, by sessions seen:", "", "```"]
    lines += [f"{place:>8,} {_bar(one, most)}" for place, one in known]
    return [*lines, f"{'':9}{-most:<+28.3g}0{most:>+28.3g}", "```"]


def _bar(one: Measured, most: float) -> str:
    def at(value: float) -> int:
        return max(0, min(WIDTH - 1, round((value / most + 1) * (WIDTH - 1) / 2)))

    low, middle, high = (at(value) for value in one.gain)
    drawn = ["-" if low <= place <= high else " " for place in range(WIDTH)]
    drawn[WIDTH // 2] = "|"
    drawn[middle] = "o"
    return "".join(drawn).rstrip()


# ---- the experiments of a home ---------------------------------------------------------------------------------------

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
LONGEST_UNIT = 256


class ExperimentRecords(Protocol):
    def names(self) -> list[str]: ...

    def get(self, name: str, /) -> Experiment | None: ...

    def put(self, experiment: Experiment, /) -> None: ...

    def outcomes(self, name: str, /) -> list[Outcome]: ...

    def add(self, name: str, outcome: Outcome, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Assigned:
    """`use` is the memory store, or the version, that the unit is to be given."""

    arm: Arm
    use: str


@dataclass(frozen=True, slots=True)
class Experiments:
    """A unit is kept by its hash: what it is called stays with the caller."""

    records: ExperimentRecords
    clock: Clock

    def start(
        self,
        name: str,
        a: str,
        b: str,
        *,
        metric: str = "success",
        guardrails: Iterable[str] = (),
        alpha: float = 0.05,
        share: float = 0.5,
    ) -> Experiment:
        """A measure is a name, or `name:higher:0.1`, with what is better and the difference that matters."""
        if not _NAME.fullmatch(name):
            raise BadInput(f"{name!r} is no name for an experiment.", expected="small letters, digits and '-'")
        if self.records.get(name) is not None:
            raise BadInput(f"There is an experiment {name} already.", next_step="Choose another name.")
        if a == b:
            raise BadInput(f"Both arms are {a}.", expected="two memories, or two versions of one")
        if not (0 < alpha <= 0.2 and 0.01 <= share <= 0.99):
            raise BadInput(f"alpha {alpha:g}, share {share:g}.", expected="alpha up to 0.2, a share of 0.01 to 0.99")
        made = Experiment(
            name, a, b, read_metric(metric), tuple(map(read_metric, guardrails)), self.clock.now(), alpha, share
        )
        self.records.put(made)
        return made

    def all(self) -> list[Experiment]:
        return [self.get(name) for name in self.records.names()]

    def get(self, name: str) -> Experiment:
        found = self.records.get(name) if _NAME.fullmatch(name) else None
        if found is None:
            raise NotFound(f"There is no experiment {name!r}.", next_step="`reverie ab list` names them.")
        return found

    def assign(self, name: str, unit: str) -> Assigned:
        """The arm of a unit: the same at every call, on every machine."""
        experiment = self.get(name)
        arm = experiment.arm(_hashed(unit))
        return Assigned(arm, experiment.b if arm == "b" else experiment.a)

    def record(self, name: str, unit: str, values: Mapping[str, float]) -> bool:
        """Record the outcome of a session of this unit; False, and nothing is counted, once the experiment is
        decided."""
        experiment = self.get(name)
        wanted = {one.name for one in (experiment.metric, *experiment.guardrails)}
        if not values or not all(isfinite(one) for one in values.values()) or not wanted & set(values):
            raise BadInput("No outcome that is measured here.", expected=f"a number for {', '.join(sorted(wanted))}")
        if experiment.metric.binary and values.get("success", 0.0) not in (0.0, 1.0):
            raise BadInput(f"success: {values['success']}.", expected="0 or 1")
        if experiment.decided:
            return False
        hashed = _hashed(unit)
        kept = {key: float(one) for key, one in values.items() if key in wanted}
        self.records.add(name, Outcome(hashed, experiment.arm(hashed), self.clock.now(), kept))
        return True

    def standing(self, name: str) -> ExperimentResult:
        return result_so_far(self.get(name), self.records.outcomes(name))

    def report(self, name: str) -> str:
        return report(self.get(name), self.records.outcomes(name))

    def promote(self, name: str, *, despite: bool = False) -> Experiment:
        """Everyone gets b from now on; only if it is better, unless that is to be overlooked."""
        verdict = self.standing(name).verdict
        if verdict is not Conclusion.B_IS_BETTER and not despite:
            raise BadInput(
                f"{name} was not promoted. {SENTENCES[verdict].format(name=name)}",
                expected="a verdict for b",
                next_step="--despite promotes it all the same.",
            )
        return self._decided(name, "promoted")

    def roll_back(self, name: str) -> Experiment:
        """Everyone gets a from now on. It needs no proof."""
        return self._decided(name, "rolled_back")

    def _decided(self, name: str, decided: str) -> Experiment:
        made = replace(self.get(name), decided=decided)  # type: ignore[arg-type]
        self.records.put(made)
        return made


def read_metric(said: str) -> Metric:
    name, *rest = said.split(":")
    better, effect = KNOWN.get(name, ("higher", 0.1))
    if rest:
        better = rest[0]
    try:
        size = float(rest[1]) if len(rest) > 1 else effect
    except ValueError:
        size = 0.0
    if not name.isidentifier() or better not in ("higher", "lower") or not size > 0 or len(rest) > 2:
        raise BadInput(f"{said!r} is no measure.", expected="success, corrections, turns, cost, or name:higher:0.1")
    return Metric(name, better, size)  # type: ignore[arg-type]


def _hashed(unit: str) -> str:
    if not 0 < len(unit) <= LONGEST_UNIT:
        raise BadInput(f"unit: {len(unit)} characters.", expected=f"1 to {LONGEST_UNIT}")
    return sha256(unit.encode()).hexdigest()[:24]
