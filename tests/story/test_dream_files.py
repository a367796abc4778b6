"""What a night leaves beside the target, and what it does not touch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.app import Home
from reverie.transcripts.session import Said, noise_in
from tests.conftest import HomeMaker

MEMORY = "Staging DB is db1.internal:5432.\n§\nThe shop is Django."
SESSION = {
    "id": "s1",
    "user": "ann",
    "started_at": "2026-05-11T10:00:00Z",
    "messages": [
        {"role": "user", "content": "Our staging db moved to db2.internal:6432 yesterday, db1 is switched off."},
        {"role": "assistant", "content": "Noted."},
    ],
}


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes"
    (folder / "memories").mkdir(parents=True)
    (folder / "memories" / "MEMORY.md").write_text(MEMORY)
    monkeypatch.setenv("HERMES_HOME", str(folder))
    return folder


def test_a_night_can_be_read_over_breakfast_and_by_tools(hermes: Path, home: Home) -> None:
    home.sessions.add(SESSION)
    dream = home.dream(target="hermes")
    folder = hermes / "dreaming"
    diary = (folder / "DREAMS.md").read_text()
    assert dream.diary in diary
    assert noise_in(Said("user", diary)) is not None  # our own output is never learnt from
    assert json.loads((folder / "state.json").read_text())["last_status"] == "completed"
    decisions = [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]
    assert [one["verb"] for one in decisions] == [one.verb for one in dream.judged]
    (run,) = (folder / "runs").iterdir()
    assert json.loads(run.read_text())["id"] == dream.dreams[0].id


def test_what_another_tool_left_is_put_aside_and_not_lost(hermes: Path, home: Home) -> None:
    folder = hermes / "dreaming"
    (folder / "runs").mkdir(parents=True)
    (folder / "state.json").write_text('{"last_run": "yesterday"}')
    (folder / "DREAMS.md").write_text("# their diary\n")
    (folder / "runs" / "1.json").write_text("{}")
    home.dream(target="hermes")
    home.dream(target="hermes")
    aside = folder / "before-reverie"
    assert (aside / "DREAMS.md").read_text() == "# their diary\n"
    assert (aside / "runs" / "1.json").read_text() == "{}"
    assert not (folder / "before-reverie-2").exists()


def test_a_document_is_kept_as_it_was_before_the_night(hermes: Path, homes: HomeMaker) -> None:
    early = homes()
    list(early.memory.entries("hermes"))
    early.sessions.add(SESSION | {"started_at": "2026-05-12T13:00:00Z"})
    dream = early.dream(target="hermes")
    kept = list((hermes / "dreaming").glob("backups/*/MEMORY.md"))
    assert [path.read_text() for path in kept] == [MEMORY] * bool(dream.changes)


def test_the_same_night_twice_changes_nothing(hermes: Path, home: Home) -> None:
    home.sessions.add(SESSION)
    home.dream(target="hermes")
    before = {path: path.read_bytes() for path in (hermes / "memories").iterdir()}
    waiting = [one.id for one in home.review.waiting()]
    again = home.dream(target="hermes")
    assert again.quiet and "nothing new" in again.diary
    assert {path: path.read_bytes() for path in (hermes / "memories").iterdir()} == before
    assert [one.id for one in home.review.waiting()] == waiting
