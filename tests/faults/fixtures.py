"""What every fault test is given: a house with a Hermes home, and a tally that ends up in the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.houses import House, build
from tests.faults.tallying import Tally

Tallied = Callable[[str, str], Tally]


@pytest.fixture
def tallied(record_property: Callable[[str, object], None]) -> Iterator[Tallied]:
    """Begins a tally. When the test ends it is recorded, and whatever went wrong fails the test."""
    made: list[Tally] = []

    def begin(fault: str, done: str) -> Tally:
        made.append(Tally(fault, done))
        return made[-1]

    yield begin
    for tally in made:
        record_property("tally", json.dumps(tally.as_json()))
        assert not tally.problems, "\n".join(tally.problems[:20])
        assert tally.points, f"{tally.fault}: nothing was done"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A home and a Hermes home that Reverie has looked at once."""
    made = build(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(made.hermes))
    return made


@pytest.fixture
def hermes(house: House) -> Path:
    """Its MEMORY.md."""
    return house.memory
