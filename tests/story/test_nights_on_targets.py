"""Nights over targets named by a path, and over Claude Code's: one place is one target, however it is spelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.app import Home
from reverie.core.errors import StillLocked
from reverie.system import file_records
from tests.conftest import HomeMaker


def project(folder: Path, name: str, words: str = "- Standup is at nine.\n") -> Path:
    notes = folder / name / "notes"
    notes.mkdir(parents=True)
    (notes / "rules.md").write_text(words)
    return notes


def test_two_projects_with_a_folder_of_one_name_have_diaries_of_their_own(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = {}
    for name in ("one", "two"):
        monkeypatch.chdir(project(tmp_path, name).parent)
        nights[name] = home.dream(target="./notes")
    told = [path.read_text() for path in sorted((home.config.home / "dreaming").glob("*/DREAMS.md"))]
    assert len(told) == 2
    for name, night in nights.items():
        assert night.targets == (str(tmp_path / name / "notes"),)
        assert sum(str(tmp_path / name / "notes") in diary for diary in told) == 1


def test_however_a_target_is_spelt_it_has_one_lock_and_one_diary(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = project(tmp_path, "one")
    (tmp_path / "link").symlink_to(notes)
    monkeypatch.chdir(notes.parent)
    spelt = ("./notes", str(notes), "../one/notes", str(tmp_path / "link"), f"markdown:{notes}", "notes/rules.md")
    folders = {home.dream.shown(name).folder for name in spelt}  # type: ignore[attr-defined]
    assert len(folders) == 1
    home.dream(target="./notes")
    monkeypatch.chdir(tmp_path)
    again = home.dream(target=str(notes))
    assert len(home.dreams.records.find(home.owned, str(notes))) == 2
    (folder,) = folders
    assert again.diary in (folder / "DREAMS.md").read_text() and len(list((folder / "runs").iterdir())) == 2


def test_a_night_by_another_spelling_waits_for_the_one_under_way(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = project(tmp_path, "one")
    monkeypatch.chdir(notes.parent)
    monkeypatch.setattr(file_records, "PATIENCE_SECONDS", 0.1)
    with home.dream.shown("./notes").alone(), pytest.raises(StillLocked):
        home.dream(target=str(notes))
    assert home.dreams.records.find(home.owned, str(notes)) == []


def test_the_known_targets_keep_their_diaries_where_they_were(
    homes: HomeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hermes = tmp_path / "hermes"
    (hermes / "memories").mkdir(parents=True)
    (hermes / "SOUL.md").touch()
    monkeypatch.setenv("HERMES_HOME", str(hermes))
    home = homes()
    own = home.config.home / "dreaming"
    where = {"hermes": hermes / "dreaming", "home": own / "home", "claude": own / "claude"}
    where |= dict.fromkeys((str(hermes), f"hermes:{hermes}", f"{hermes}/memories"), hermes / "dreaming")
    assert {name: home.dream.shown(name).folder for name in where} == where  # type: ignore[attr-defined]
