"""`home.experiments`: two memories compared in use, and the page that says what is known: Markdown with a plot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf, isfinite
from typing import Protocol

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.experiments.experiment import (
    FEWEST,
    KNOWN,
    Arm,
    Conclusion,
    Experiment,
    ExperimentResult,
    Measured,
    Metric,
    Outcome,
    result_so_far,
)

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
    parts += [*_plot(experiment, outcomes), "", *_method(experiment, now)]
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


def _method(experiment: Experiment, now: ExperimentResult) -> list[str]:
    return [
        "Each unit counts once, by the mean of its sessions. All looks together, the intervals hold with a chance of",
        f"{1 - experiment.alpha:.0%}: it can be looked at daily, and ended at any time. They take means for normal, so",
        f"nothing is said below {FEWEST} units in each arm. B is called better only if no guardrail can be worse by",
        "more than is put up with.",
        f"The split of the units has a chance of {now.split:.3f}.",
    ]


# ---- experiments -----------------------------------------------------------------------------------------------------

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
        if not (0 < alpha <= 0.2 and 0.01 <= share <= 0.99) or a == b:
            raise BadInput("The arms are the same, or a number is out of range.", expected="alpha up to 0.2")
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
