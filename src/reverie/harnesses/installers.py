"""Who puts Reverie into an agent: one installer for each, registered under the entry point group `reverie.installers`.

An installer says which edits of which files it takes; `reverie.system.installation` makes them and takes them back. The
whole of a stranger's, beside the Installer itself:

    [project.entry-points."reverie.installers"]
    my-agent = "my_package:MyAgentInstaller"
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from reverie.core.errors import NotFound
from reverie.memory.targets import HomePlaces
from reverie.system.installation import ConfigEdit, FileChange, Installation, JsonElement, OwnFile

GROUP = "reverie.installers"
SKILL = Path(__file__).with_name("agent_skill.md").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Launch:
    """The way an agent starts Reverie from anywhere: for this home, with the settings that are in no file."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    nights: bool = True  # whether the end of a session begins a night that is due

    def queue(self, agent: str) -> list[str]:
        """For the hook that runs when a session of this agent ended."""
        return ["sessions", "queue", "--agent", agent, *(["--night"] if self.nights else [])]

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "reverie", *words, "--home", str(self.home)]

    def line(self, *words: str) -> str:
        """For a shell, with the environment in it."""
        variables = [f"{name}={text}" for name, text in sorted(self.environment.items())]
        return shlex.join([*(["env", *variables] if variables else []), *self.words(*words)])

    def script(self, source: Path, *words: str) -> str:
        """A script in JavaScript that an agent runs, and before it, as `launch`, what it is to start."""
        command, *arguments = self.words(*words)
        told = {"command": command, "words": arguments, "environment": dict(sorted(self.environment.items()))}
        return f"const launch = {json.dumps(told)};\n{source.read_text('utf-8')}"

    def server(self, agent: str, target: str, *, hooked: bool = True) -> dict[str, Any]:
        """The MCP server, as most agents write it down. Where no hook tells that a session ended, its end does."""
        night = ["--night"] if self.nights and not hooked else []
        command, *arguments = self.words("mcp", "--agent", agent, "--target", target, *night)
        env = {"env": dict(sorted(self.environment.items()))} if self.environment else {}
        return {"command": command, "args": arguments, **env}


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """`notes` are what a person should know: what was left alone, what the agent will ask them."""

    edits: Sequence[ConfigEdit]
    notes: Sequence[str] = ()


def skill_file(folder: Path) -> OwnFile:
    """The skill, where the agent of this folder looks for skills."""
    return OwnFile(folder / "skills/reverie/SKILL.md", "a skill: when to recall, when to propose", SKILL)


class Installer(Protocol):
    """`name` is what people type, `title` what the agent is called, `target` the memory it reads in every session, and
    `reader` reads its transcripts. It may have `prove(where)`: asks the real agent whether it knows of Reverie now, and
    says what it answered; and `left(where)`: what a person still has to take out by hand."""

    name: str
    title: str
    reader: str

    @property
    def target(self) -> str: ...

    def folder(self, where: HomePlaces) -> Path:
        """It is there if the agent is used on this machine."""

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan: ...

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        """The transcript that what the agent told its hook is about."""

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        """Write the transcript of a made-up session in which the person says a sentence, where the agent would, and
        return what the agent would tell its hook. Only `reverie install` does so, in a folder that is thrown away."""


class FolderInstaller:
    """An agent with a folder of its own, which names the transcript to its hook. Its name is its target's, too."""

    name: str
    place: str

    @property
    def target(self) -> str:
        return self.name

    @property
    def queue(self) -> tuple[str, ...]:
        """The words by which a hook of ours is known."""
        return ("sessions", "queue", "--agent", self.name)

    def session_hook(self, settings: Path, hook: Mapping[str, Any], *, json5: bool = False) -> JsonElement:
        """A hook for the end of a session, as settings of several agents have it."""
        what, keys = "a hook that queues each session for the next night", ("hooks", "SessionEnd")
        return JsonElement(settings, what, keys, {"hooks": [hook]}, f"-m reverie {' '.join(self.queue)}", json5=json5)

    def folder(self, where: HomePlaces) -> Path:
        return where.place(self.place)

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        said = event.get("transcript_path")
        return Path(said) if isinstance(said, str) and said else None


def write_lines(path: Path, *lines: object) -> Path:
    """A made-up transcript, a JSON value on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Installing:
    installer: Installer
    where: HomePlaces
    launch: Launch
    kept: Installation

    @property
    def plan(self) -> InstallPlan:
        return self.installer.plan(self.where, self.launch)

    def check(self) -> None:
        folder = self.installer.folder(self.where)
        if not folder.is_dir():
            raise NotFound(
                f"{self.installer.title} is not used here: there is no {folder}.",
                next_step=f"Start {self.installer.title} once, or make the folder.",
            )

    def to_install(self) -> list[FileChange]:
        self.check()
        return self.kept.to_install(self.plan.edits)

    def install(self) -> list[FileChange]:
        self.check()
        return self.kept.install(self.plan.edits)

    def to_uninstall(self) -> list[FileChange]:
        return self.kept.to_uninstall(self.plan.edits)

    @property
    def left(self) -> Sequence[str]:
        look: Callable[[HomePlaces], Sequence[str]] | None = getattr(self.installer, "left", None)
        return look(self.where) if look else ()

    def uninstall(self) -> list[FileChange]:
        return self.kept.uninstall(self.plan.edits)


@cache
def installers() -> Mapping[str, Installer]:
    found = (entry.load()() for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name))
    return {one.name: one for one in found}
