"""What stands in the targets, through Home and the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.app import Home
from reverie.core.errors import BadInput
from tests.conftest import FIXTURES, HomeMaker


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    memories = tmp_path / "hermes" / "memories"
    shutil.copytree(FIXTURES / "hermes_home" / "memories", memories)
    monkeypatch.setenv("HERMES_HOME", str(memories.parent))
    return memories.parent


def test_the_entries_of_a_real_hermes_home_are_read(hermes: Path, homes: HomeMaker) -> None:
    entries = list(homes().memory.entries("hermes"))
    assert [(entry.document, entry.text.splitlines()[0]) for entry in entries] == [
        ("MEMORY.md", "Project demo uses pytest with xdist"),
        ("MEMORY.md", "Staging DB host is db-stage.internal"),
        ("MEMORY.md", "CI runs on GitHub Actions, ubuntu-22.04"),
        ("USER.md", "User prefers concise answers without preamble"),
        ("USER.md", "User's name is Dana; timezone Europe/Berlin"),
    ]


def test_a_home_without_memory_is_empty_and_a_target_nobody_has_is_refused(home: Home) -> None:
    assert list(home.memory.entries("hermes")) == []
    assert [usage.characters for usage in home.memory.usage("hermes")] == [0, 0]
    with pytest.raises(BadInput, match="hermes"):
        list(home.memory.entries("attic"))


def test_listing_shows_how_full_each_document_is_and_changes_nothing(hermes: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in (hermes / "memories").iterdir()}
    command = [sys.executable, "-m", "reverie", "memory", "list", "--home", str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert "MEMORY.md  126 of 2,200 characters" in done.stdout
    assert "  - Staging DB host is db-stage.internal\n    port 5433\n" in done.stdout
    after = {path.name: path.read_bytes() for path in (hermes / "memories").iterdir() if path.suffix != ".lock"}
    assert after == before
