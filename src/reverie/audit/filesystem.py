"""What the machine can be asked: whether a path exists, what a file says. Nothing here writes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

LARGEST = 4 * 1024 * 1024
MOST_FILES = 50_000
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "target", ".tox", ".mypy_cache"})


class Machine(Protocol):
    @property
    def home(self) -> Path:
        """The folder of the person whose agents these are."""
        ...

    def exists(self, path: Path) -> bool: ...

    def read(self, path: Path) -> str | None:
        """The text of a regular file, or None when there is none that may be read."""
        ...

    def has_program(self, name: str) -> bool:
        """Whether a command of this name can be run."""
        ...

    def below(self, folder: Path) -> Iterator[str]:
        """Files and folders below a folder by their relative paths; what tools make there is left out."""
        ...


class ThisMachine:
    def __init__(self, home: Path, programs: str = "") -> None:
        """`programs` are the folders commands lie in, as PATH has them."""
        self.home, self._programs = home, programs

    def exists(self, path: Path) -> bool:
        try:
            return os.path.lexists(path)
        except ValueError:  # a NUL in it
            return False

    def read(self, path: Path) -> str | None:
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                return None
            return path.read_text("utf-8", "replace")
        except OSError:
            return None

    def has_program(self, name: str) -> bool:
        return shutil.which(name, path=self._programs) is not None

    def below(self, folder: Path) -> Iterator[str]:
        seen = 0
        for at, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            for name in (*folders, *sorted(files)):
                seen += 1
                if seen > MOST_FILES:
                    return
                yield (Path(at) / name).relative_to(folder).as_posix()
