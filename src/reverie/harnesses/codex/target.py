"""What Codex is told by its user: `codex`, the AGENTS.md in its home (`CODEX_HOME`).

A project's own AGENTS.md is reached by its path (`agents:./project`): it is part of the project, and shared. Which
projects Codex knows stands in its config.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.harnesses.markdown.lists import INSTRUCTIONS_LIMIT, MarkdownTarget, is_file
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces
from reverie.transcripts.projects import project_name

INSTRUCTIONS = Place(
    "AGENTS.md",
    "list",
    INSTRUCTIONS_LIMIT,
    purpose="The person's own instructions to Codex, for everything they do. Read in every session.",
)


def codex_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    folder = where.place("${CODEX_HOME:-~/.codex}")
    reach, skills = "every Codex session of this user", folder / "skills"
    yield MarkdownTarget("codex", folder, reach, _instructions, agent_folder=folder, harness="codex", skills=skills)


def _instructions(folder: Path) -> Sequence[Place]:
    own = (project_name(path) for path in _projects(folder / "config.toml") if is_file(Path(path, "AGENTS.md")))
    return [replace(INSTRUCTIONS, elsewhere=frozenset(name for name in own if name))]


def _projects(settings: Path) -> list[str]:
    """The folders Codex was told whether to trust."""
    try:
        projects = tomllib.loads(settings.read_text("utf-8")).get("projects")
    except (OSError, ValueError):
        return []
    return list(projects) if isinstance(projects, dict) else []
