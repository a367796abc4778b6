"""Proves the loop after an installation: a session ends, a night learns from it, the next session is given it.

All of it happens with made-up words in a folder that is thrown away, by the same commands that were written into the
agent's settings: what the hook does is what is run here. Nothing of the person's is read.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.core.errors import BadInput, ReverieError
from reverie.integrations.mcp_server import started_tools

if TYPE_CHECKING:
    from reverie.harnesses.installers import Installer, Launch
    from reverie.memory.targets import HomePlaces

_VARIABLE = re.compile(r"\$\{\w+:-([^${}]*)\}")
SENTENCES = ("Remember: use pnpm, never npm.", "No, as I said: use pnpm, never npm.")
LEARNT = "Use pnpm, never npm."
SECONDS = 120


@dataclass(frozen=True, slots=True)
class Step:
    ok: bool
    said: str


@dataclass(frozen=True, slots=True)
class _Away:
    """A machine of its own in a folder: nothing of the person's is to be found there."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "reverie"

    def place(self, pattern: str) -> Path:
        """The place of another tool where no variable is set."""
        while _VARIABLE.search(pattern):
            pattern = _VARIABLE.sub(r"\1", pattern)
        return self.folder / pattern.removeprefix("~/")

    def run(self, words: list[str], given: str = "") -> str:
        environment = {"HOME": str(self.folder), "REVERIE_OWNER": "you", "PATH": os.defpath}
        done = subprocess.run(
            words, input=given, capture_output=True, text=True, check=False, env=environment, timeout=SECONDS
        )
        if done.returncode:
            raise BadInput(f"`{shlex.join(words[4:])}` failed: {done.stderr.strip()[-500:]}")
        return done.stdout


def check_loop(installer: Installer, launch: Launch, where: HomePlaces) -> Iterator[Step]:
    """The steps that were tried; behind the first that fails there is nothing."""
    prove: Callable[[HomePlaces], str] | None = getattr(installer, "prove", None)
    try:
        with tempfile.TemporaryDirectory(prefix="reverie-check-") as made:
            yield from _loop(installer, replace(launch, home=Path(made, "reverie")), _Away(Path(made)))
        names = started_tools(launch.server(installer.name, installer.target))
        yield Step(True, f"The MCP server starts and offers {', '.join(names)}.")
        if prove:
            yield Step(True, prove(where))
    except (ReverieError, OSError, subprocess.SubprocessError) as error:
        yield Step(False, str(error))


def _loop(installer: Installer, launch: Launch, away: _Away) -> Iterator[Step]:
    installer.folder(away).mkdir(parents=True)
    for number, sentence in enumerate(SENTENCES, 1):
        event = json.dumps(installer.rehearse(away, sentence, number))
        away.run(launch.words("sessions", "queue", "--agent", installer.name), event)
    yield Step(
        True, f"{len(SENTENCES)} made-up sessions of {installer.title} ended, and the hook's command queued them."
    )
    away.run(launch.words("dream", "--target", installer.target))
    yield Step(True, f"A night read them: “{SENTENCES[0]}”")
    given = away.run(launch.words("memory", "list"))
    if LEARNT not in given:
        raise BadInput(f"The next session is not given what was said: {given.strip() or 'nothing'}")
    yield Step(True, f"The next session is given, in {given.split()[0]}: “{LEARNT}”")
