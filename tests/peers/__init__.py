"""Third-party programs, each in an environment of its own, made once and kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reverie" / "peers"
MUST_BE_THERE = bool(os.environ.get("REVERIE_REQUIRE_PEERS"))
ANTHROPIC = "anthropic==2.8.0"
HERMES = "hermes-agent==0.19.0"
DREAMING = "hermes-dreaming==0.3.2"
SKILLS_REF = "skills-ref==0.1.1"


def python_with(requirement: str) -> Path:
    """The interpreter of an environment that has `requirement`.

    Where it cannot be made the test is reported as not run, except under CI's REVERIE_REQUIRE_PEERS, where it fails.
    """
    folder = CACHE / requirement.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        problem = _made(folder, requirement)
        if problem:
            message = f"not run: no environment with {requirement} could be made: {problem}"
            pytest.fail(message) if MUST_BE_THERE else pytest.skip(message)
    return python


def _made(folder: Path, requirement: str) -> str | None:
    """Make it beside and move it into place, so that two test runs cannot see half of one."""
    building = folder.with_name(f"{folder.name}.{os.getpid()}")
    uv = [sys.executable, "-m", "uv"]
    commands = (
        [*uv, "venv", "--quiet", "--relocatable", "--python", sys.executable, str(building)],
        [*uv, "pip", "install", "--quiet", "--python", str(building / "bin" / "python"), requirement],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            shutil.rmtree(building, ignore_errors=True)
            return done.stderr.strip()[-400:]
    (building / "complete").touch()
    if folder.exists():
        shutil.rmtree(building)
    else:
        building.rename(folder)
    return None
