"""What must hold on every night of a life, whoever lives it. `benchmarks/soak.py` lives two months and counts more."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.lives.life import NAMES, life
from benchmarks.lives.living import live
from benchmarks.soak import Soak

NIGHTS = 6


@pytest.mark.parametrize("name", NAMES)
def test_a_few_nights_let_nothing_through_and_can_be_taken_back(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    lived = live(life(name, NIGHTS), seed=7, nights=NIGHTS)
    told = Soak(lived, tmp_path, seed=7, repeat=3, reject=4).run()
    assert told.reckoning is not None
    assert told.let_through == []
    assert told.reckoning.lost == ()
    assert told.undo_exact
    assert told.repeats_changed == told.came_back == told.not_verified == []


def test_a_life_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    once, again, other = (live(life("nurse", 9), seed, 9) for seed in (5, 5, 6))
    assert once.days == again.days != other.days
    assert [len(day) for day in once.days] != [len(day) for day in other.days]
    assert all(len(day) >= 2 for day in once.days)
