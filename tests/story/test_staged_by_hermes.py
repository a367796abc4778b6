"""What Hermes holds back for approval waits in Reverie's review, too, and is decided in one place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.app import Home, open_home
from reverie.changes.proposal import ProposalStatus
from reverie.cli import reverie

STOOD = "CI runs on every push\n§\nThe staging host is db1"


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes"
    monkeypatch.setenv("HERMES_HOME", str(folder))
    (folder / "memories").mkdir(parents=True)
    (folder / "pending/memory").mkdir(parents=True)
    (folder / "memories/MEMORY.md").write_text(STOOD)
    (folder / "config.yaml").write_text("memory: {write_approval: true}\n")
    return folder


@pytest.fixture
def home(hermes: Path, tmp_path: Path) -> Home:
    return open_home(tmp_path / "reverie", settings={"owner": "ann"})


def stage(hermes: Path, name: str, **payload: Any) -> Path:
    """As Hermes 0.19 writes it."""
    told = {"id": name, "subsystem": "memory", "action": payload["action"], "summary": "", "origin": "foreground"}
    path = hermes / f"pending/memory/{name}.json"
    path.write_text(json.dumps(told | {"created_at": 1.5, "payload": {"target": "memory", **payload}}))
    return path


def test_what_is_decided_here_leaves_the_queue_of_hermes(home: Home, hermes: Path) -> None:
    kept = stage(hermes, "0000000a", action="replace", old_text="db1", content="The staging host is db2")
    dropped = stage(hermes, "0000000b", action="add", content="Nobody wants this", old_text=None)
    home.mirror_staged()
    home.mirror_staged()
    one, other = sorted(home.review.waiting(), key=lambda proposal: proposal.suggestion.proposer)
    assert (one.suggestion.proposer, one.suggestion.origin) == ("hermes/0000000a", "agent")
    home.review.approve(one)
    home.review.reject(other)
    home.mirror_staged()
    assert not kept.exists() and not dropped.exists()
    assert (hermes / "memories/MEMORY.md").read_text() == "CI runs on every push\n§\nThe staging host is db2"


def test_what_is_decided_in_hermes_does_not_wait_here(home: Home, hermes: Path) -> None:
    batch = [{"action": "add", "content": "One"}, {"action": "remove", "old_text": "db1"}]
    staged = stage(hermes, "0000000c", action="batch", operations=batch)
    home.mirror_staged()
    [proposal] = home.review.waiting()
    staged.unlink()
    home.mirror_staged()
    assert home.review.waiting() == []
    assert home.review.get(proposal.id).status is ProposalStatus.REJECTED
    assert (hermes / "memories/MEMORY.md").read_text() == STOOD


def test_what_cannot_be_read_or_is_not_there_any_more_is_left_to_hermes_and_told(home: Home, hermes: Path) -> None:
    rotten = stage(hermes, "0000000d", action="replace", old_text="gone since", content="x")
    broken = stage(hermes, "0000000e", action="add", content="Deploy on Tuesdays")
    home.mirror_staged()
    [proposal] = home.review.waiting()
    broken.write_text('{"payload": {"action"')
    assert home.mirror_staged() == [], "what cannot be read now was not decided in Hermes"
    assert home.review.waiting() == [proposal] and rotten.exists() and broken.exists()
    unread, lost = home.mirror_staged.problems()
    assert f"{broken} is not a write as Hermes stages it (JSONDecodeError" in unread
    assert "0000000d" in lost and "not in MEMORY.md" in lost
    for command in (["status"], ["review", "list"]):
        shown = CliRunner().invoke(reverie, [*command, "--home", str(home.config.home)]).output
        assert str(broken) in shown and "0000000d" in shown
