"""The real hermes-agent with Reverie installed beside it, in a home of its own, against the scripted model server."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.peers import HERMES, python_with
from tests.peers.recording import record

ROOT = Path(__file__).parents[2]


@contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Whether the folder is still to be filled. The workers of one test run share it: one fills it, the others wait."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.filling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not done.exists()
        done.touch()


def installed(folder: Path) -> tuple[Path, str]:
    """Hermes' interpreter in an environment with all that Reverie requires, by the resolver's own choice of versions,
    and the path on which it finds Reverie as it is in this checkout, with its entry points."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    python = python_with(HERMES, [HERMES.replace("==", "[mcp]=="), *requires])
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--python", str(python)]
    with made_once(folder) as missing:
        if missing:
            subprocess.run([*uv, "--target", str(folder), "--editable", str(ROOT)], check=True, capture_output=True)
    return python, f"{folder}{os.pathsep}{ROOT / 'src'}"


@dataclass(frozen=True, slots=True)
class HermesAgent:
    """`path` is its PYTHONPATH: empty where Reverie is not installed beside it."""

    python: Path
    path: str
    home: Path
    reverie: Path
    server: str
    more: dict[str, str] = field(default_factory=dict)

    @property
    def places(self) -> list[tuple[Path, str]]:
        """The folders of the test, and what a person would call them."""
        return [(self.home, "~/.hermes"), (self.reverie, "~/.reverie"), (Path(sys.executable), "python")]

    @property
    def memory(self) -> Path:
        return self.home / "memories" / "MEMORY.md"

    def configure(self, text: str = "", plugins: str = "reverie") -> None:
        model = (
            f"{{default: scripted, provider: custom, base_url: {self.server}, api_key: sk-test, context_length: 65536}}"
        )
        quiet = "security: {tirith_enabled: false}\ncurator: {enabled: false}\n"
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_text(f"model: {model}\nplugins: {{enabled: [{plugins}]}}\n{quiet}{text}\n")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home.parent / "nobody"),
            "PATH": os.environ["PATH"],
            "HERMES_HOME": str(self.home),
            "REVERIE_HOME": str(self.reverie),
            "REVERIE_OWNER": "ann",
            "PYTHONPATH": self.path,
            **self.more,
        }

    def run(self, *arguments: str, fails: bool = False) -> str:
        """A command of the real program; what it said."""
        shown = self._run([str(self.python.with_name("hermes")), *arguments], fails)
        record("hermes", ["hermes", *arguments], shown, self.places)
        return shown

    def script(self, code: str, *arguments: object, fails: bool = False) -> str:
        """Code that uses Hermes' own modules."""
        return self._run([str(self.python), "-c", code, *map(str, arguments)], fails)

    def _run(self, command: list[str], fails: bool) -> str:
        work = self.home.parent / "work"
        work.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=240, cwd=work, env=self.environment
        )
        assert bool(done.returncode) is fails, f"{command[1:]}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    def copied(self, folder: Path) -> HermesAgent:
        """The same Hermes with a copy of this home, and a Reverie home that knows nothing yet."""
        copy = replace(self, home=folder / "hermes", reverie=folder / "reverie")
        shutil.copytree(self.home, copy.home)
        copy.configure()
        return copy
