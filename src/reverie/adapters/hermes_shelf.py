"""The memory of a Hermes home: `memories/MEMORY.md` and `USER.md`, under Hermes' own lock files.

`hermes` is the home itself, `hermes/<profile>` one of its profiles, each of which is a home of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.adapters.files import PATIENCE_SECONDS, HeldFiles, flocked, read_file
from reverie.adapters.markdown_shelf import folders_in, is_folder, names_in, real
from reverie.kernel.errors import BadInput, NotPermitted
from reverie.memory.shelf import Held, Place
from reverie.memory.shelves import Where

NAME = "hermes"
PURPOSES = {
    "MEMORY.md": "The agent's notes: environment, projects, conventions, tools. Read in every session.",
    "USER.md": "Who the person is and how they want to be treated. Read in every session.",
}
LIMITS = {"MEMORY.md": ("memory_char_limit", 2200), "USER.md": ("user_char_limit", 1375)}
_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # as Hermes allows them
_MARKS = {"config.yaml", "state.db", "SOUL.md"}


class HermesShelf:
    def __init__(self, home: Path, name: str = NAME) -> None:
        self._home = real(home)
        self._folder = real(self._home / "memories")
        self.name = name
        self.key = f"hermes:{self._home}"
        self.dreaming = self._home / "dreaming"  # where its users look for the diary
        self.instructions = (self._home / "SOUL.md",)  # read with memory, and never changed by a dream
        self.reach = f"every session of the Hermes home {home.name}, whoever talks to it"

    def places(self) -> list[Place]:
        configured = _configured(self._home / "config.yaml")
        return [
            Place(name, "hermes", configured.get(key, limit), purpose=PURPOSES[name])
            for name, (key, limit) in LIMITS.items()
        ]

    def read(self, document: str) -> bytes | None:
        return read_file(self._path(document))

    @contextmanager
    def held(self, document: str) -> Iterator[Held]:
        path = self._path(document)
        with flocked(path.with_name(f"{document}.lock"), PATIENCE_SECONDS):
            yield HeldFiles(self._path)

    def _path(self, document: str) -> Path:
        if document not in LIMITS:
            raise BadInput(f"A Hermes home has no document {document!r}.", expected=" or ".join(LIMITS))
        return self._folder / document


def hermes_shelves(where: Where) -> Iterator[HermesShelf]:
    home = where.place("${HERMES_HOME:-~/.hermes}")
    yield HermesShelf(home)
    for profile in folders_in(home / "profiles", _PROFILE):
        yield HermesShelf(profile, f"{NAME}/{profile.name}")


def is_hermes_home(folder: Path) -> bool:
    return is_folder(folder / "memories") and not _MARKS.isdisjoint(names_in(folder))


def _configured(path: Path) -> dict[str, int]:
    """The character limits of Hermes' config.yaml. Two keys of one section need no YAML library."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NotPermitted(f"{path} could not be read: {error.strerror}.", expected="Hermes' settings") from error
    found: dict[str, int] = {}
    section = ""
    for line in lines:
        if top := re.match(r"(\w+):", line):
            section = top[1]
        if section == "memory":
            limits = re.findall(r"(\w+_char_limit):\s*['\"]?(\d+)", line.partition("#")[0])
            found |= {key: int(limit) for key, limit in limits}
    return found
