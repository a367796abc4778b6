"""A coding agent that Reverie is installed into by the real command, and the home it is installed from."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.testing.model_server import Server
from tests.commands import run_command
from tests.peers.agents import CodingAgent
from tests.peers.recording import record

SAID = (
    "Add the chart library. Remember: use pnpm, never npm.",
    "No, as I said: use pnpm, never npm.",
    "Again: use pnpm, never npm. Then run the tests.",
)
LEARNT = "Use pnpm, never npm."
SKILL = """\
---
name: release-notes
description: How release notes are written.
---

# Release notes

## Steps

- Begin with the version.
"""
TOOLS: Mapping[str, Mapping[str, object]] = {
    "search": {"query": "pnpm or npm"},
    "remember": {"text": "Commit messages are in German.", "because": "The person said so."},
    "refine_skill": {
        "name": "release-notes",
        "section": "Steps",
        "add": ["Thank who reported it."],
        "because": "Asked.",
    },
}


def expect_proposals(proposals: Sequence[Mapping[str, Any]], agent: str) -> None:
    """What the agent proposed through the tools waits, as the words of an agent, and nothing else does."""
    assert len(proposals) == 2
    diffs = "".join(one["diff"] for one in proposals)
    assert "+- Thank who reported it." in diffs and "Commit messages are in German." in diffs
    assert {one["suggestion"]["spoken_by"] for one in proposals} == {"agent"}
    assert {one["suggestion"]["proposer"] for one in proposals} == {agent}


def expect_answers(request: str) -> None:
    """What the tools answered is in the agent's next request."""
    assert "Quotations from past sessions" in request and "as I said" in request, "search told the agent nothing"
    assert len(set(re.findall(r"prop_\w+", request))) == 2, "the agent was not told that two proposals wait"


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    agent: CodingAgent
    server: Server

    @property
    def home(self) -> Path:
        return self.agent.folder / "reverie"

    def reverie(self, *words: str) -> str:
        variables = {"HOME": str(self.agent.home), "PATH": os.environ["PATH"], "REVERIE_OWNER": "ann"}
        done = run_command(
            [*words, "--home", str(self.home)],
            environment=variables | dict(self.agent.variables),
            folder=self.agent.folder,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-1500:]}\n{done.stderr[-1500:]}"
        if "--json" not in words:
            record(self.agent.program.name, ["reverie", *words], done.stdout, self.agent.places)
        return done.stdout

    def told(self, *words: str) -> Any:
        return json.loads(self.reverie(*words, "--json"))

    @property
    def queued(self) -> list[Path]:
        return [Path(json.loads(file.read_text())["path"]) for file in sorted((self.home / "queue").glob("*.json"))]

    def hold_night(self) -> None:
        """As if a hook had just looked whether a night is due."""
        look = self.home / "queue/next-look"
        look.parent.mkdir(parents=True, exist_ok=True)
        look.write_text((datetime.now(UTC) + timedelta(minutes=59)).isoformat())

    def let_night_begin(self) -> None:
        (self.home / "queue/next-look").unlink()

    def wait_for_night(self) -> None:
        """It was begun by the agent's own hook, and holds the lock until it ends."""
        look, end = self.home / "queue/next-look", time.monotonic() + 30
        while not (look.exists() and look.read_text()):
            assert time.monotonic() < end, "the hook began no night"
            time.sleep(0.02)
        with look.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
        self.reverie("status")

    def wait_for_queued(self, sessions: int) -> int:
        """Codex does not wait for whom it notifies: their work may end after its own."""
        end = time.monotonic() + 20
        while len(self.queued) < sessions and time.monotonic() < end:
            time.sleep(0.02)
        return len(self.queued)

    def files(self) -> dict[str, bytes]:
        """Everything in the agent's home that Reverie's installer could have touched, by its path."""
        names = ("settings.json", ".claude.json", "config.toml", "hooks.json", "SKILL.md")
        found = (path for path in self.agent.home.rglob("*") if path.is_file() and path.name in names)
        return {str(path.relative_to(self.agent.home)): path.read_bytes() for path in found}

    def add_skill(self, folder: Path | None = None) -> None:
        """A skill that can be refined: in a folder of the agent's, or in that of the home."""
        path = (folder or self.home / "skills") / "release-notes/SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(SKILL)

    def approve_all(self) -> None:
        for proposal in self.told("review", "list")["proposals"]:
            self.reverie("review", "approve", proposal["id"])
