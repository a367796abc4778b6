"""Counting what a fault did. A point is one place or way a fault was put in, with the checks that follow it.

Each test runs a bounded number of them; in a long soak (`make soak`), or with REVERIE_FAULTS=full, many or all, as
`benchmarks/faults.py` does, and with REVERIE_FAULTS=every those that are killed are killed at every single line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tests.sizes import LEVEL

FULL = LEVEL == "long" or os.environ.get("REVERIE_FAULTS") in ("full", "every")
LINES = 1_000_000 if os.environ.get("REVERIE_FAULTS") == "every" else 400
KINDS = ("lost", "torn", "manual", "other")
Point = TypeVar("Point")


@dataclass
class Tally:
    """`lost`: something acknowledged is not there. `torn`: neither the old nor the new. `manual`: needs a person."""

    fault: str
    done: str
    points: int = 0
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    manual: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        return [f"{kind}: {one}" for kind in KINDS for one in getattr(self, kind)]

    def add(self, told: dict[str, list[str]]) -> None:
        for kind, problems in told.items():
            getattr(self, kind).extend(problems)

    def as_json(self) -> dict[str, object]:
        counts = {kind: len(getattr(self, kind)) for kind in KINDS}
        return {"fault": self.fault, "done": self.done, "points": self.points, **counts}


def spread(points: Sequence[Point], most: int) -> list[Point]:
    """At most so many of them, evenly spread, the first and the last included."""
    if len(points) <= most or most < 2:
        return list(points[: max(most, 1)] if most < 2 else points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(at * step)] for at in range(most)]
