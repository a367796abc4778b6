"""Whole nights without a model: what a careful curator expects afterwards, and diaries that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.playing import DIARIES, NIGHTS, faults, live, read


@pytest.mark.parametrize("path", NIGHTS, ids=lambda path: path.stem)
def test_a_night_ends_as_a_careful_curator_expects(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    night = read(path)
    lived = live(night, tmp_path)
    assert faults(night, lived) == [], lived.dream.diary
    kept = DIARIES / f"{path.stem}.md"
    if kept.exists():
        assert lived.dream.diary == kept.read_text("utf-8")


def test_the_nights_cover_quiet_and_poisoned_ones_and_many_languages() -> None:
    nights = [read(path) for path in NIGHTS]
    assert sum(bool(night["expect"]["quiet"]) for night in nights) >= 12
    assert sum(len({session["user"] for session in night["sessions"]}) > 1 for night in nights) >= 2
    assert len(list(DIARIES.glob("*.md"))) >= 12
