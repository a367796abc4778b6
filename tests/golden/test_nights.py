"""Whole nights without a model: what a careful curator expects afterwards, and diaries that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.testing.model_plays import MISBEHAVIOURS
from reverie.testing.model_server import serving
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


@pytest.mark.parametrize("nonsense", ["prose", "fake citation", "injected text", "401"])
@pytest.mark.parametrize("name", ["twice-moved", "taken-back", "poisoned-calendar-invite", "skill-learns-a-gotcha"])
def test_a_night_is_the_same_beside_a_model_that_only_talks_nonsense(
    name: str, nonsense: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived = []
    with serving([MISBEHAVIOURS[nonsense]]) as server:
        for place, settings in (("without", {}), ("with", {"model": "openai:x", "model_url": server.openai_url})):
            monkeypatch.setenv("HERMES_HOME", str(tmp_path / place / "hermes"))
            lived.append(live(read(NIGHTS[0].with_name(f"{name}.json")), tmp_path / place, settings))
        assert server.asked
    without, beside = lived
    assert (beside.after, beside.waiting) == (without.after, without.waiting)
    assert beside.dream.diary.startswith(without.dream.diary.rstrip())


def test_the_nights_cover_quiet_and_poisoned_ones_and_many_languages() -> None:
    nights = [read(path) for path in NIGHTS]
    assert sum(bool(night["expect"]["quiet"]) for night in nights) >= 12
    assert sum(len({session["user"] for session in night["sessions"]}) > 1 for night in nights) >= 2
    assert len(list(DIARIES.glob("*.md"))) >= 12
