"""The Home's own memory: `memory/MEMORY.md` and `USER.md`, as small as Hermes keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.harnesses.markdown.lists import MarkdownTarget, fixed
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces

PLACES = (
    Place(
        "MEMORY.md",
        "list",
        2200,
        purpose="Notes for agents: environment, projects, conventions, tools. Read in every prompt this home builds.",
    ),
    Place(
        "USER.md",
        "list",
        1375,
        purpose="Who the person is and how they want to be treated. Read in every prompt this home builds.",
    ),
)


def home_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    reach = "every prompt this home builds"
    yield MarkdownTarget("home", where.home / "memory", reach, fixed(*PLACES), lock_files=True)
