"""Instructions agents are given as files: SOUL.md, AGENTS.md, CLAUDE.md, or any a setting names. Only read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reverie.adapters.files import read_file
from reverie.skills.edits import rules_of

IN_A_PROJECT = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".hermes.md")
_LARGEST = 1_000_000


def statements_in(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Each line or item with the file it stands in. A folder is a project; what is not there says nothing."""
    for path in paths:
        for file in [path / name for name in IN_A_PROJECT] if path.is_dir() else [path]:
            for rule in rules_of(_text(file).splitlines(keepends=True)):
                yield str(file), rule.text


def _text(file: Path) -> str:
    if not file.is_file() or file.stat().st_size > _LARGEST:
        return ""
    return (read_file(file) or b"").decode("utf-8", "replace")
