"""`reverie compact` and `reverie status` on every kind of target."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.core.clock import SystemClock, rfc3339
from tests.story.test_cli import Cli
from tests.story.test_dream_command import KILOMETRES, say

SAID = ["The wiki runs on port 8080.", "Always use tabs for indentation.", "The wiki runs on port 8080."]
AGAINST = "Never use tabs for indentation."


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


FILES = {
    "hermes": "hermes/memories/MEMORY.md",
    "claude": "claude/CLAUDE.md",
    "./notes": "notes/rules.md",
    "./single/rules.md": "single/rules.md",
}


def written(cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A target with a doubled line and two that contradict each other."""
    path = cli.folder / FILES[name]
    path.parent.mkdir(parents=True)
    entries = (*SAID, AGAINST)
    path.write_text("\n§\n".join(entries) if name == "hermes" else "".join(f"- {text}\n" for text in entries))
    monkeypatch.setenv("HERMES_HOME", str(cli.folder / "hermes"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(cli.folder / "claude"))
    return path


@pytest.mark.parametrize("name", FILES)
def test_compact_finds_what_is_doubled_and_what_contradicts_on_the_target_that_is_meant(
    cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(cli, name, monkeypatch)
    before = path.read_bytes()
    said = cli("compact", "--target", name)
    assert "2 findings" in said and "duplicated" in said and "contradictory" in said
    assert "1 change proposed." in said and path.read_bytes() == before
    (waiting,) = cli.json("review")["proposals"]
    cli("review", "approve", waiting["id"])
    assert path.read_text().count("8080") == 1
    assert "1 finding " in cli("compact", "--target", name)


def test_compact_refuses_a_target_that_is_not_there(cli: Cli) -> None:
    for name in ("nonsense", "./nonsense", "emacs"):
        assert "There is no target" in cli("compact", "--target", name, code=2)


def test_status_shows_a_folder_that_has_had_a_night(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(cli, "./notes", monkeypatch)
    say(cli, "s1", "I prefer tables for numbers.", at=rfc3339(SystemClock().now()))
    cli("dream", "--target", "./notes")
    notes = str(path.parent)
    told = cli.json("status")
    assert [one["document"] for one in told["usage"][notes]] == ["rules.md"] and told["staged"][notes] == 1
    said = cli("status")
    assert f"{notes}/rules.md  " in said and f"{notes}  1 candidate staged" in said
    path.unlink()
    path.parent.rmdir()
    assert notes not in cli.json("status")["usage"]


def test_status_shows_the_last_changes_behind_any_number_of_edits_by_others(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(cli, "claude", monkeypatch)
    say(cli, "s1", KILOMETRES)
    cli("dream", "--target", "claude")
    change = cli.json("history")[0]["id"]
    for number in range(6):
        path.write_text(path.read_text() + f"- The rack {number} is full.\n")
        cli("memory", "list", "--target", "claude")
    assert cli.json("status")["changes"] == [change] and change in cli("status")
