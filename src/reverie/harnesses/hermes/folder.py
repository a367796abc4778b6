"""A Hermes home: its memory, which a night may change, its own queue, and what puts Reverie into it.

The target `hermes` is the home itself, `hermes/<profile>` one of its profiles, each of which is a home of its own:
`memories/MEMORY.md` and `USER.md`, under Hermes' own lock files. Where `memory.write_approval` is on, what its memory
tool would write is staged as a file each in `pending/memory/`. What the plugin wrote down about skills that Hermes used
is in `dreaming/outcomes.jsonl`.

Installed are the plugin, which brings `/dreaming` and queues each session; the MCP server; a skill. The plugin is
copied into the home, with a file beside it that says how Reverie is started from anywhere. Where Reverie is installed
beside Hermes, Hermes loads the one it finds by the entry point instead, which is the same. `config.yaml` gets one line
each in `plugins.enabled` and `mcp_servers`. (Seen in 0.19.0.)
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.core.errors import BadInput, BadSetting, NotPermitted
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file, write_lines
from reverie.harnesses.markdown import FolderTarget, folders_in, is_folder, names_in, real
from reverie.memory.target import Place, StagedStep, StagedWrite, Target
from reverie.memory.targets import HomePlaces
from reverie.system import toml_yaml_edits
from reverie.system.installation import ConfigEdit, OwnFile, YamlElement, YamlMember

if TYPE_CHECKING:
    from reverie.skills.library import Outcomes

NAME, FOLDER = "hermes", "${HERMES_HOME:-~/.hermes}"
PURPOSES = {
    "MEMORY.md": "The agent's notes: environment, projects, conventions, tools. Read in every session.",
    "USER.md": "Who the person is and how they want to be treated. Read in every session.",
}
LIMITS = {"MEMORY.md": ("memory_char_limit", 2200), "USER.md": ("user_char_limit", 1375)}
_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # as Hermes allows them
_YES = ("true", "yes", "on")  # as YAML has it
_MARKS = {"config.yaml", "state.db", "SOUL.md"}


class HermesTarget(FolderTarget):
    """Hermes' lock file is for the exchange."""

    def __init__(self, home: Path, name: str = NAME) -> None:
        self._home = real(home)
        self.folder = real(self._home / "memories")
        self.name = name
        self.key = f"hermes:{self._home}"
        self.dreaming = self._home / "dreaming"  # where its users look for the diary
        self.agent_folder = self._home
        self.harness = "hermes"
        self.skills = self._home / "skills"  # a profile's are mostly copies of the home's
        self.instructions = (self._home / "SOUL.md",)  # read with memory, and never changed by a dream
        self.reach = f"every session of the Hermes home {home.name}, whoever talks to it"

    def places(self) -> list[Place]:
        configured = _configured(self._home / "config.yaml", r"(\w+_char_limit):\s*['\"]?(\d+)")
        return [
            Place(name, "hermes", int(configured.get(key, limit)), purpose=PURPOSES[name])
            for name, (key, limit) in LIMITS.items()
        ]

    @property
    def settings(self) -> DreamingBlock:
        """The `dreaming` block of its config.yaml. Only that is read as YAML: the rest is long and not ours."""
        path = self._home / "config.yaml"
        lines = _config_lines(path)
        start = next((number for number, line in enumerate(lines) if line.startswith("dreaming:")), None)
        if start is None:
            return DreamingBlock(path, {})
        end = next((at for at in range(start + 1, len(lines)) if re.match(r"[^\s#]", lines[at])), len(lines))
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            found = YAML(typ="safe").load("\n".join(lines[start:end]))["dreaming"]
        except YAMLError as error:
            raise BadSetting(
                f"The block `dreaming:` in {path} is not YAML: {getattr(error, 'problem', None) or error}.",
                next_step="Mend it or take it out.",
            ) from error
        if found is not None and not isinstance(found, Mapping):
            raise BadSetting(
                f"`dreaming:` in {path} is {found!r}.", expected="a block with keys such as `enabled: true`"
            )
        return DreamingBlock(path, found or {})

    @property
    def approval(self) -> str:
        """Why nothing may land here without a person, if Hermes' own settings say so."""
        path = self._home / "config.yaml"
        said = _configured(path, r"(write_approval):\s*['\"]?(\w+)").get("write_approval", "")
        return f"memory.write_approval in {path} wants every write approved" if said.lower() in _YES else ""

    def staged(self) -> list[StagedWrite]:
        """The writes Hermes itself holds back until a person approves: oldest first, behind those that cannot be
        read."""
        found = list[tuple[float, StagedWrite]]()
        for path in (self._home / "pending/memory").glob("*.json"):
            try:
                told = json.loads(path.read_bytes())
                payload: Mapping[str, Any] = told["payload"]
                steps = payload["operations"] if payload["action"] == "batch" else [payload]
                write = StagedWrite(path.stem, _DOCUMENTS[payload["target"]], tuple(map(_staged_step, steps)))
                found.append((float(told.get("created_at") or 0), write))
            except FileNotFoundError:
                continue  # decided meanwhile
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                why = f"{path} is not a write as Hermes stages it ({type(error).__name__}: {error})"
                found.append((0, StagedWrite(path.stem, "", (), why)))
        return [write for _, write in sorted(found, key=lambda one: (one[0], one[1].id))]

    def discard(self, staged: str) -> None:
        if _STAGED_NAME.fullmatch(staged):
            (self._home / "pending/memory" / f"{staged}.json").unlink(missing_ok=True)

    def _path(self, document: str) -> Path:
        if document not in LIMITS:
            raise BadInput(f"A Hermes home has no document {document!r}.", expected=" or ".join(LIMITS))
        return self.folder / document


def hermes_targets(where: HomePlaces) -> Iterator[HermesTarget]:
    home = where.place(FOLDER)
    yield HermesTarget(home)
    for profile in folders_in(home / "profiles", _PROFILE):
        yield HermesTarget(profile, f"{NAME}/{profile.name}")


def is_hermes_home(folder: Path) -> bool:
    return is_folder(folder / "memories") and not _MARKS.isdisjoint(names_in(folder))


@dataclass(frozen=True, slots=True)
class DreamingBlock:
    """The block `dreaming:` of a config.yaml; empty where there is none."""

    path: Path
    values: Mapping[str, object]


def _config_lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise NotPermitted(f"{path} could not be read: {error.strerror}.", expected="Hermes' settings") from error


def _configured(path: Path, wanted: str) -> dict[str, str]:
    """Keys of the section `memory:` of Hermes' config.yaml. Three keys of one section need no YAML library."""
    found: dict[str, str] = {}
    section = ""
    for line in _config_lines(path):
        if top := re.match(r"(\w+):", line):
            section = top[1]
        if section == "memory":
            found |= dict(re.findall(wanted, line.partition("#")[0]))
    return found


_DOCUMENTS = {"memory": "MEMORY.md", "user": "USER.md"}
_STAGED_NAME = re.compile(r"[0-9a-f]{8}")


def _staged_step(told: Mapping[str, Any]) -> StagedStep:
    action = told["action"]
    if action not in ("add", "replace", "remove"):
        raise ValueError(action)
    old = "" if action == "add" else str(told["old_text"])
    text = "" if action == "remove" else str(told["content"])
    if not (old or text) or (action != "add" and not old):
        raise ValueError("nothing to do")
    return StagedStep(old, text.strip())


_OUTCOMES = ("succeeded", "failed", "ignored")


def skill_outcomes(targets: Iterable[Target]) -> Mapping[str, Outcomes]:
    """By the name of the skill, over every Hermes home. Lines that cannot be read count for nothing."""
    from reverie.skills.library import Outcomes  # heavy, and asked for by few

    found = dict[str, Outcomes]()
    for target in targets:
        folder: Path | None = getattr(target, "dreaming", None)
        try:
            lines = (folder / "outcomes.jsonl").read_text("utf-8", "replace").splitlines() if folder else []
        except OSError:
            continue  # none, or none that may be read
        for line in lines:
            try:
                told = json.loads(line)
                name = str(told["skill"]).rpartition("/")[2]
                if told["outcome"] in _OUTCOMES:
                    found[name] = found.get(name, Outcomes()) + Outcomes(**{told["outcome"]: 1})
            except (ValueError, KeyError, TypeError):
                continue  # cut by a crash
    return found


LAUNCH = "launch.json"
JOB = "reverie-night"  # as the plugin names it
_PLUGIN = (".py", ".yaml", ".md")
_SECONDS = 60


class HermesInstaller(FolderInstaller):
    name, title, reader, place = NAME, "Hermes", NAME, FOLDER

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        config = folder / "config.yaml"
        environment, plugin = {**launch.environment, "REVERIE_HOME": str(launch.home)}, folder / "plugins/reverie"
        told = {"program": launch.words()[:-2], "environment": environment, "nights": launch.nights}
        source = files("reverie") / "integrations/hermes"
        edits: list[ConfigEdit] = [
            YamlElement(config, "the plugin", ("plugins", "enabled"), "reverie"),
            YamlMember(config, "the MCP server", ("mcp_servers", "reverie"), launch.server(self.name, self.target)),
            OwnFile(plugin / LAUNCH, "how the plugin starts Reverie", f"{json.dumps(told, indent=1)}\n"),
            *(
                OwnFile(plugin / file.name, "the plugin", file.read_text("utf-8"))
                for file in sorted(source.iterdir(), key=lambda one: one.name)
                if Path(file.name).suffix in _PLUGIN
            ),
            skill_file(folder),
        ]
        notes = ["Hermes calls the tools of the MCP server only where it has its extra `mcp` (hermes-agent[mcp])."]
        try:
            disabled = toml_yaml_edits.yaml_value(config.read_text("utf-8-sig"), ("plugins", "disabled"))
        except (OSError, ValueError, BadInput):  # installing says so
            disabled = None
        if "reverie" in (disabled or ()):
            notes.append(f"`plugins.disabled` in {config} names reverie, which wins: take it out there.")
        return InstallPlan(edits, notes)

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"202601{number:02}_090000_00000{number}", f"2026-01-{number:02}T09:00:00Z"
        messages = [{"role": "user", "content": sentence}, {"role": "assistant", "content": "All right."}]
        told = {"session_id": session, "session_start": at, "platform": "cli", "messages": messages}
        path = write_lines(self.folder(where) / f"sessions/session_{session}.json", told)
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
