"""Which Hermes home this is, and how `reverie` is called for it: in a process of its own, with Hermes' environment."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MISSING = (
    "Reverie itself is not installed: this plugin calls it and found none, neither beside Hermes nor as the command "
    "`reverie`. Run `pip install reverie` in Hermes' environment, or `uv tool install reverie` for one of its own, or "
    "name the program in config.yaml: `dreaming: {program: /path/to/reverie}`."
)


MOST_BYTES = 1_000_000  # of a file that a night reads


class NoReverie(Exception):
    """There is no `reverie` to call; says what to do."""


@dataclass(frozen=True, slots=True)
class HermesHome:
    """The home Hermes runs in now, which may be that of a profile, and what Reverie calls its memory."""

    path: Path

    @property
    def profile(self) -> str:
        return self.path.name if self.path.parent.name == "profiles" else ""

    @property
    def root(self) -> Path:
        return self.path.parent.parent if self.profile else self.path

    @property
    def target(self) -> str:
        return f"hermes/{self.profile}" if self.profile else "hermes"

    @property
    def dreaming(self) -> Path:
        return self.path / "dreaming"


def hermes_home() -> HermesHome:
    from hermes_constants import get_hermes_home

    return HermesHome(Path(get_hermes_home()).absolute())


def settings() -> Mapping[str, Any]:
    """The block `dreaming:` of Hermes' config.yaml. Reverie reads its own keys of it by itself."""
    from hermes_cli.config import load_config

    block = (load_config() or {}).get("dreaming")
    return block if isinstance(block, Mapping) else {}


def launch() -> Mapping[str, Any]:
    """The command `reverie install hermes` wrote down to start Reverie; empty where the plugin came in another way."""
    try:
        told = json.loads((hermes_home().path / "plugins/reverie/launch.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) and Path(str(told.get("program", [""])[0])).exists() else {}


def reverie_program() -> list[str]:
    """Named in the settings, written down when it was installed, beside Hermes, or found as a command."""
    if named := settings().get("program"):
        return [str(Path(str(named)).expanduser())]
    if known := launch():
        return list(map(str, known["program"]))
    if find_spec("reverie") is not None:
        return [sys.executable, "-P", "-m", "reverie"]  # -P: nothing of the folder Hermes was started in is imported
    if found := shutil.which("reverie"):
        return [found]
    raise NoReverie(MISSING)


def program_environment(home: HermesHome, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A profile is one of the targets of the home above it."""
    known: Mapping[str, str] = launch().get("environment", {})
    return {**known, **os.environ, "HERMES_HOME": str(home.root), **(more or {})}


def reverie_home() -> str:
    """Where the settings of this process say that Reverie's home is; empty for the usual place."""
    return os.environ.get("REVERIE_HOME") or str(launch().get("environment", {}).get("REVERIE_HOME", ""))


def reads_only_what_was_added() -> bool:
    path = Path(reverie_home() or "~/.reverie").expanduser() / "reverie.toml"
    try:
        stored = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        stored = {}  # where the file cannot be read, Reverie itself says so
    return (os.environ.get("REVERIE_SOURCES") or stored.get("sources")) == "added"


def append_lines(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    """Each as JSON at the end of a file that a night reads; nothing where it is long, for then nobody dreams here."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MOST_BYTES:
        return
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("".join(f"{json.dumps(line)}\n" for line in lines))


def run_reverie(
    arguments: Sequence[str],
    *,
    captured: bool,
    more: Mapping[str, str] | None = None,
    seconds: float | None = None,
    named: str = "hermes dreaming",
) -> subprocess.CompletedProcess[str]:
    """`captured`: what it prints is handed back. Otherwise it has this terminal, and asks what it has to ask. Its hints
    are for who calls it `named`."""
    return subprocess.run(
        [*reverie_program(), *arguments],
        env={**program_environment(hermes_home(), more), "REVERIE_CALLED_AS": named},
        stdin=subprocess.DEVNULL if captured else None,
        capture_output=captured,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=seconds,
    )
