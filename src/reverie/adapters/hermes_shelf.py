"""The memory of a Hermes home: `memories/MEMORY.md` and `USER.md`, under Hermes' own lock files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.adapters.files import HeldFiles, flocked, read_file
from reverie.kernel.errors import BadInput
from reverie.memory.shelf import Held, Place

LIMITS = {"MEMORY.md": ("memory_char_limit", 2200), "USER.md": ("user_char_limit", 1375)}


class HermesShelf:
    def __init__(self, home: Path, name: str = "hermes") -> None:
        self._home = home.absolute()
        self.name = name
        self.key = f"hermes:{self._home}"
        self.reach = f"every session of the Hermes home {home.name}, whoever talks to it"

    def places(self) -> list[Place]:
        configured = _configured(self._home / "config.yaml")
        return [Place(name, "hermes", configured.get(key, limit)) for name, (key, limit) in LIMITS.items()]

    def read(self, document: str) -> bytes | None:
        return read_file(self._path(document))

    @contextmanager
    def held(self, document: str) -> Iterator[Held]:
        path = self._path(document)
        with flocked(path.with_name(f"{document}.lock")):
            yield HeldFiles(self._path)

    def _path(self, document: str) -> Path:
        if document not in LIMITS:
            raise BadInput(f"A Hermes home has no document {document!r}.", expected=" or ".join(LIMITS))
        return self._home / "memories" / document


def _configured(path: Path) -> dict[str, int]:
    """The character limits of Hermes' config.yaml. Two keys of one section need no YAML library."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return {}
    found: dict[str, int] = {}
    section = ""
    for line in lines:
        if top := re.match(r"(\w+):", line):
            section = top[1]
        elif section == "memory" and (limit := re.match(r"\s+(\w+_char_limit):\s*['\"]?(\d+)", line)):
            found[limit[1]] = int(limit[2])
    return found
