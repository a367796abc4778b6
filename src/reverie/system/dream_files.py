"""The state folder of a target's nights: written whole, after what another tool left there was put aside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from reverie.system.files import PATIENCE_SECONDS, flocked, make_folder, read_file, replace_file

ASIDE = "before-reverie"
LOCK = ".reverie.lock"
NIGHT_LOCK = ".night.lock"
THEIRS = (
    "DREAMS.md",
    "state.json",
    "candidates.jsonl",
    "decisions.jsonl",
    "promotions.jsonl",
    "runs",
    "backups",
    "config.yaml",
    "memory_mutations.lock",
)


class DreamFiles:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One night at a time over a target, on this machine."""
        make_folder(self.folder)
        with flocked(self.folder / NIGHT_LOCK, PATIENCE_SECONDS):
            yield

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace what changed; a file with the same bytes is left alone."""
        make_folder(self.folder)
        with flocked(self.folder / LOCK):
            self._put_aside()
            for name, content in files.items():
                path = self.folder / name
                if read_file(path) != content:
                    make_folder(path.parent)
                    replace_file(path, content)

    def _put_aside(self) -> None:
        """Files of another tool are moved, never overwritten: they are its users' history."""
        if _is_ours(read_file(self.folder / "state.json")):
            return
        theirs = [self.folder / name for name in THEIRS if (self.folder / name).exists()]
        if theirs:
            aside = _free(self.folder / ASIDE)
            make_folder(aside)
            for path in theirs:
                path.rename(aside / path.name)


def _is_ours(content: bytes | None) -> bool:
    try:
        told = json.loads(content or b"{}")
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("made_by") == "reverie"


def _free(folder: Path) -> Path:
    """The folder, or one numbered beside it if something was put aside before."""
    numbered = (folder if number == 1 else folder.with_name(f"{folder.name}-{number}") for number in range(1, 1000))
    return next(path for path in numbered if not path.exists())
