"""What Gemini CLI is told by its user: `gemini`, the GEMINI.md in its folder. A project's own goes by its path."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.harnesses.markdown.lists import INSTRUCTIONS_LIMIT, MarkdownTarget, fixed
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces

FOLDER = "${GEMINI_CLI_HOME:-~}/.gemini"
INSTRUCTIONS = Place(
    "GEMINI.md",
    "list",
    INSTRUCTIONS_LIMIT,
    purpose="The person's own instructions to Gemini CLI, for everything they do. Read in every session.",
)


def gemini_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    folder = where.place(FOLDER)
    reach = "every Gemini CLI session of this user"
    listed, skills = fixed(INSTRUCTIONS), folder / "skills"
    yield MarkdownTarget("gemini", folder, reach, listed, agent_folder=folder, harness="gemini-cli", skills=skills)
