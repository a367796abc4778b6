"""Instructions agents are given as files: SOUL.md, AGENTS.md, CLAUDE.md, or any a setting names. Only read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reverie.core.errors import NotPermitted
from reverie.memory.target import CONTEXT_FILES, SHARED, Target, context_of, files_named
from reverie.skills.edits import rules_of
from reverie.system.files import read_file

IN_A_PROJECT = (*SHARED, *CONTEXT_FILES["project"])
_LARGEST = 1_000_000


def instructions_in(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Each line or item with the file it stands in. A folder is a project; what is not there says nothing."""
    for path in paths:
        for file in files_named(path, IN_A_PROJECT) if path.is_dir() else [path]:
            for rule in rules_of(_text(file).splitlines(keepends=True)):
                yield str(file), rule.text


def context_files_beside(target: Target) -> list[Path]:
    """The context files of a target's harness that are no documents of the target itself."""
    folder, names = context_of(target)
    listed = {place.document for place in target.places()}
    found = [path for path in files_named(folder, names) if path.relative_to(folder).as_posix() not in listed]
    return list(dict.fromkeys((*getattr(target, "instructions", ()), *found)))


def _text(file: Path) -> str:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ""
        return (read_file(file) or b"").decode("utf-8", "replace")
    except (OSError, NotPermitted):
        return ""  # what may not be read is told to no agent of this user either
