"""`home.experiments`: two memories compared in use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from typing import Protocol

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.experiments.experiment import (
    KNOWN,
    Arm,
    Conclusion,
    Experiment,
    ExperimentResult,
    Metric,
    Outcome,
    result_so_far,
)
from reverie.experiments.report import SENTENCES, report

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
