"""A coding agent that Reverie is installed into by the real command, and the home it is installed from."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.testing.model_server import Server
from tests.commands import run_command
from tests.peers.agents import CodingAgent

SAID = (
    "Add the chart library. Remember: use pnpm, never npm.",
    "No, as I said: use pnpm, never npm.",
    "Again: use pnpm, never npm. Then run the tests.",
)
LEARNT = "Use pnpm, never npm."


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
        return done.stdout

    def told(self, *words: str) -> Any:
        return json.loads(self.reverie(*words, "--json"))

    @property
    def queued(self) -> list[Path]:
        return [Path(json.loads(file.read_text())["path"]) for file in sorted((self.home / "queue").glob("*.json"))]

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

    def approve_all(self) -> None:
        for proposal in self.told("review", "list")["proposals"]:
            self.reverie("review", "approve", proposal["id"])
