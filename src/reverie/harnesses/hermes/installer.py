"""Puts Reverie into Hermes: the plugin, which brings `/dreaming` and queues each session; the MCP server; a skill.

The plugin is copied into the Hermes home, with a file beside it that says how Reverie is started from anywhere. Where
Reverie is installed beside Hermes, Hermes loads the one it finds by the entry point instead, which is the same.
`config.yaml` gets one line each in `plugins.enabled` and `mcp_servers`. (Seen in 0.19.0.)
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from reverie.core.errors import BadInput
from reverie.harnesses.installers import SKILL, InstallPlan, Launch
from reverie.memory.targets import HomePlaces
from reverie.system.config_files import yaml_edits
from reverie.system.config_files.edits import ConfigEdit, OwnFile, YamlElement, YamlMember

LAUNCH = "launch.json"
JOB = "reverie-night"  # as the plugin names it
_PLUGIN = (".py", ".yaml", ".md")
_SECONDS = 60


class HermesInstaller:
    name = "hermes"
    title = "Hermes"
    target = "hermes"
    reader = "hermes"

    def folder(self, where: HomePlaces) -> Path:
        return where.place("${HERMES_HOME:-~/.hermes}")

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        config = folder / "config.yaml"
        edits: list[ConfigEdit] = [
            YamlElement(config, "the plugin", ("plugins", "enabled"), "reverie"),
            YamlMember(config, "the MCP server", ("mcp_servers", "reverie"), launch.server(self.name, self.target)),
            *_plugin(folder / "plugins/reverie", launch),
            OwnFile(folder / "skills/reverie/SKILL.md", "a skill: when to recall, when to propose", SKILL),
        ]
        return InstallPlan(edits, [*_notes(config)])

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        said = event.get("transcript_path")
        return Path(said) if isinstance(said, str) and said else None

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"202601{number:02}_090000_00000{number}", f"2026-01-{number:02}T09:00:00Z"
        messages = [{"role": "user", "content": sentence}, {"role": "assistant", "content": "All right."}]
        told = {"session_id": session, "session_start": at, "platform": "cli", "messages": messages}
        path = self.folder(where) / f"sessions/session_{session}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told), "utf-8")
        return {"transcript_path": str(path)}

    def left(self, where: HomePlaces) -> list[str]:
        """The job of `hermes dreaming install-cron`: Hermes' cron would run it every night, and fail."""
        try:
            jobs = json.loads((self.folder(where) / "cron/jobs.json").read_text("utf-8"))["jobs"]
            named = any(one["name"] == JOB for one in jobs)
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [f"Hermes' cron still has the night: `hermes cron remove {JOB}` takes it out."] if named else []

    def prove(self, where: HomePlaces) -> str:
        """Ask the real Hermes, if it is found, whether it has the plugin's commands."""
        beside = Path(sys.executable).with_name("hermes")
        program = str(beside) if beside.exists() else shutil.which("hermes")
        if program is None:
            return "Hermes itself was not asked: there is no `hermes` on the PATH. `hermes dreaming status` shows it."
        asked = ["env", f"HERMES_HOME={self.folder(where)}", program, "dreaming", "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=_SECONDS)
        if done.returncode or "install-cron" not in done.stdout:
            raise BadInput(f"`hermes dreaming --help` failed: {(done.stderr or done.stdout).strip()[-500:]}")
        return "Hermes has the commands `hermes dreaming` and `/dreaming`."


def _plugin(folder: Path, launch: Launch) -> Iterator[OwnFile]:
    environment = {**launch.environment, "REVERIE_HOME": str(launch.home)}
    told = {"program": launch.words()[:-2], "environment": environment, "nights": launch.nights}
    yield OwnFile(folder / LAUNCH, "how the plugin starts Reverie", f"{json.dumps(told, indent=1)}\n")
    source = files("reverie") / "integrations/hermes"
    for file in sorted(source.iterdir(), key=lambda one: one.name):
        if Path(file.name).suffix in _PLUGIN:
            yield OwnFile(folder / file.name, "the plugin", file.read_text("utf-8"))


def _notes(config: Path) -> Iterator[str]:
    yield "Hermes calls the tools of the MCP server only where it has its extra `mcp` (hermes-agent[mcp])."
    try:
        disabled = yaml_edits.yaml_value(config.read_text("utf-8-sig"), ("plugins", "disabled"))
    except (OSError, ValueError, BadInput):  # installing says so
        return
    if "reverie" in (disabled or ()):
        yield f"`plugins.disabled` in {config} names reverie, which wins: take it out there."
