"""The memory of a Hermes home: `memories/MEMORY.md` and `USER.md`, under Hermes' own lock files.

`hermes` is the home itself, `hermes/<profile>` one of its profiles, each of which is a home of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.core.errors import BadInput, BadSetting, NotPermitted
from reverie.harnesses.hermes.staged import discard_staged, staged_in
from reverie.harnesses.markdown.lists import folders_in, is_folder, names_in, real
from reverie.memory.target import Held, Place, StagedWrite
from reverie.memory.targets import HomePlaces
from reverie.system.files import PATIENCE_SECONDS, flocked, flocked_folder, read_file
from reverie.system.shared_files import HeldFiles, has_displaced_files, modified_at

NAME = "hermes"
PURPOSES = {
    "MEMORY.md": "The agent's notes: environment, projects, conventions, tools. Read in every session.",
    "USER.md": "Who the person is and how they want to be treated. Read in every session.",
}
LIMITS = {"MEMORY.md": ("memory_char_limit", 2200), "USER.md": ("user_char_limit", 1375)}
_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # as Hermes allows them
_YES = ("true", "yes", "on")  # as YAML has it
_MARKS = {"config.yaml", "state.db", "SOUL.md"}


class HermesTarget:
    def __init__(self, home: Path, name: str = NAME) -> None:
        self._home = real(home)
        self.folder = self._folder = real(self._home / "memories")
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
        """The `dreaming` block of its config.yaml."""
        return dreaming_block(self._home / "config.yaml")

    @property
    def approval(self) -> str:
        """Why nothing may land here without a person, if Hermes' own settings say so."""
        path = self._home / "config.yaml"
        said = _configured(path, r"(write_approval):\s*['\"]?(\w+)").get("write_approval", "")
        return f"memory.write_approval in {path} wants every write approved" if said.lower() in _YES else ""

    def staged(self) -> list[StagedWrite]:
        """The writes Hermes itself holds back until a person approves."""
        return list(staged_in(self._home))

    def discard(self, staged: str) -> None:
        discard_staged(self._home, staged)

    def read(self, document: str) -> bytes | None:
        return read_file(self._path(document))

    @contextmanager
    def held(self, document: str) -> Iterator[Held]:
        """Reverie's own lock is on the folder, which leaves nothing in it; Hermes' lock file is for the exchange."""
        self._path(document)
        with flocked_folder(self._folder, PATIENCE_SECONDS):
            yield HeldFiles(self._path, self._alone)

    def has_displaced(self, document: str) -> bool:
        return has_displaced_files(self._path(document))

    def written_at(self, document: str) -> datetime | None:
        return modified_at(self._path(document))

    def _alone(self, document: str) -> AbstractContextManager[None]:
        return flocked(self._path(document).with_name(f"{document}.lock"), PATIENCE_SECONDS)

    def _path(self, document: str) -> Path:
        if document not in LIMITS:
            raise BadInput(f"A Hermes home has no document {document!r}.", expected=" or ".join(LIMITS))
        return self._folder / document


def hermes_targets(where: HomePlaces) -> Iterator[HermesTarget]:
    home = where.place("${HERMES_HOME:-~/.hermes}")
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


def dreaming_block(path: Path) -> DreamingBlock:
    """Only the block itself is read as YAML: the rest of the file is long and not ours."""
    lines = _lines(path)
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
        raise BadSetting(f"`dreaming:` in {path} is {found!r}.", expected="a block with keys such as `enabled: true`")
    return DreamingBlock(path, found or {})


def _lines(path: Path) -> list[str]:
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
    for line in _lines(path):
        if top := re.match(r"(\w+):", line):
            section = top[1]
        if section == "memory":
            found |= dict(re.findall(wanted, line.partition("#")[0]))
    return found
