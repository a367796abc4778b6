"""What harnesses put into a prompt besides memory and skills, by where it lies. Reverie reads it and changes none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from reverie.memory.target import Target

SHARED = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md")  # in a project, where a target `agents:PATH` can change them
CONTEXT_FILES: Mapping[str, tuple[str, ...]] = {
    "hermes": ("SOUL.md", ".hermes.md", "HERMES.md"),
    "claude": ("rules/*.md",),
    "codex": ("AGENTS.override.md",),
    "openclaw": ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md"),
    # Hermes, Claude Code, Codex, Gemini, Cursor, Copilot and Windsurf each read some of those in a project.
    "project": (
        *(".hermes.md", "HERMES.md", "SOUL.md", ".claude/CLAUDE.md", ".claude/rules/*.md", "AGENTS.override.md"),
        *("GEMINI.md", ".cursorrules", ".cursor/rules/*.mdc", ".github/copilot-instructions.md", ".windsurfrules"),
    ),
}


def context_of(target: Target) -> tuple[Path, tuple[str, ...]]:
    """The folder a target lies in, and the names of the context files that its harness reads there."""
    kind, _, folder = target.key.partition(":")
    if target.name.startswith("agents:"):
        harness = "project"
    elif kind == "hermes" or target.name.partition("/")[0] == "openclaw":
        harness = "hermes" if kind == "hermes" else "openclaw"
    else:
        harness = target.name
    return Path(folder), CONTEXT_FILES.get(harness, ())


def files_named(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files of a folder with these names, some of which stand for several."""
    for name in names:
        yield from sorted(folder.glob(name)) if "*" in name else (folder / name,)
