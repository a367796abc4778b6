"""`reverie sync`: the rules of one memory are rendered to the surfaces of other agents, and nobody's edits are lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run_command

Run = Callable[..., str]


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """Someone with Hermes, Claude Code and Codex, and notes of their own in each."""
    for name, text in {
        ".hermes/config.yaml": "memory: {memory_char_limit: 200}\n",
        ".claude/CLAUDE.md": "# Mine\n\n- Be brief.\n",
        ".codex/AGENTS.md": "- Be brief.\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def reverie(person: Path) -> Run:
    def run(*words: str) -> str:
        variables = {"HOME": str(person), "PATH": os.environ["PATH"], "REVERIE_OWNER": "ann"}
        done = run_command(words, environment=variables, folder=person)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def fates(told: str, target: str) -> dict[str, str]:
    rendered: list[dict[str, Any]] = json.loads(told)["rendered"]
    return {one["text"]: one["fate"] for one in rendered if one["target"] == target}


def test_a_rule_is_rendered_everywhere_follows_its_source_and_can_be_undone(reverie: Run, person: Path) -> None:
    claude, codex = person / ".claude/CLAUDE.md", person / ".codex/AGENTS.md"
    before = claude.read_bytes()
    reverie("memory", "add", "Use pnpm, never npm.", "--target", "hermes")
    assert "Nothing was changed." in reverie("sync", "--dry-run")
    assert claude.read_bytes() == before
    reverie("sync")
    assert claude.read_text() == "# Mine\n\n- Be brief.\n- Use pnpm, never npm.\n"
    assert codex.read_text() == "- Be brief.\n- Use pnpm, never npm.\n"
    rendered = claude.read_bytes()
    assert set(fates(reverie("sync", "--json"), "claude").values()) == {"same"}, "twice is once"

    entry = json.loads(reverie("memory", "list", "--target", "hermes", "--json"))["hermes"]["entries"][0]
    reverie("memory", "replace", entry["id"], "Use pnpm 9, never npm.", "--target", "hermes")
    reverie("sync", "--to", "claude")
    assert claude.read_text() == "# Mine\n\n- Be brief.\n- Use pnpm 9, never npm.\n"
    assert "pnpm 9" not in codex.read_text()
    reverie("undo", "--target", "claude")
    assert claude.read_bytes() == rendered, "history has it, and takes it back to the last byte"
    reverie("memory", "remove", entry["id"], "--target", "hermes")
    reverie("sync", "--to", "codex")
    assert codex.read_text() == "- Be brief.\n"


def test_what_someone_changed_on_a_surface_is_theirs_and_nothing_goes_round_in_circles(
    reverie: Run, person: Path
) -> None:
    claude = person / ".claude/CLAUDE.md"
    reverie("memory", "add", "Use pnpm, never npm.", "--target", "hermes")
    reverie("memory", "add", "The staging host is db2.", "--target", "hermes")
    reverie("sync", "--to", "claude")
    claude.write_text("# Mine\n\n- Be brief.\n- Use pnpm, unless it is Friday.\n")
    edited = claude.read_bytes()
    for _ in range(2):
        told = reverie("sync", "--to", "claude", "--json")
        assert fates(told, "claude") == {
            "Use pnpm, never npm.": "left alone",
            "The staging host is db2.": "left alone",
        }
    assert claude.read_bytes() == edited
    assert "outside" in reverie("history", "--json", "claude/CLAUDE.md")

    hermes = person / ".hermes/memories/MEMORY.md"
    source = hermes.read_bytes()
    reverie("sync", "--to", "codex")
    back = fates(reverie("sync", "--from", "codex", "--to", "hermes", "--json"), "hermes")
    assert back == {"Be brief.": "waits"}, "what was rendered is no source; what was found there asks"
    assert hermes.read_bytes() == source


def test_what_was_written_into_the_source_from_outside_asks_once_and_what_does_not_fit_is_said(
    reverie: Run, person: Path
) -> None:
    claude = person / ".claude/CLAUDE.md"
    claude.write_text("- Be brief.\n- Answer in English.\n")
    for _ in range(2):
        told = fates(reverie("sync", "--from", "claude", "--to", "hermes", "--json"), "hermes")
        assert told == {"Be brief.": "waits", "Answer in English.": "waits"}
    [proposal] = json.loads(reverie("review", "list", "--json"))["proposals"]
    reverie("review", "approve", proposal["id"])
    hermes = person / ".hermes/memories/MEMORY.md"
    assert hermes.read_text() == "Be brief.\n§\nAnswer in English."
    assert set(fates(reverie("sync", "--from", "claude", "--to", "hermes", "--json"), "hermes").values()) == {"same"}

    reverie("memory", "add", "x" * 190, "--target", "claude")
    shown = reverie("sync", "--from", "claude", "--to", "hermes")
    assert "does not fit" in shown and "200 are allowed" in shown
    assert "xxx" not in hermes.read_text()


def test_a_file_that_is_read_whole_in_every_session_does_not_grow_beyond_its_budget(reverie: Run, person: Path) -> None:
    reverie("memory", "add", "Use pnpm, never npm.", "--target", "hermes")
    for path in (".claude/CLAUDE.md", ".codex/AGENTS.md"):
        (person / path).write_text(f"- {'x' * 39_990}\n")
    shown = reverie("sync", "--from", "hermes")
    assert "claude: 1 does not fit" in shown and "codex: 1 does not fit" in shown and "40,000 are allowed" in shown
    assert "pnpm" not in (person / ".claude/CLAUDE.md").read_text()
