"""What opencode is told by its user: `opencode`, the AGENTS.md beside its settings. A project's own is reached by its
path."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.harnesses.markdown.lists import INSTRUCTIONS_LIMIT, MarkdownTarget, fixed
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces

FOLDER = "${XDG_CONFIG_HOME:-~/.config}/opencode"
INSTRUCTIONS = Place(
    "AGENTS.md",
    "list",
    INSTRUCTIONS_LIMIT,
    purpose="The person's own instructions to opencode, for everything they do. Read in every session.",
)


def opencode_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    folder = where.place(FOLDER)
    reach = "every opencode session of this user"
    listed, skills = fixed(INSTRUCTIONS), folder / "skills"
    yield MarkdownTarget("opencode", folder, reach, listed, agent_folder=folder, harness="opencode", skills=skills)
