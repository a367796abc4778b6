"""The Home's own memory: `memory/MEMORY.md` and `USER.md`, as small as Hermes keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.harnesses.markdown.lists import MarkdownShelf, fixed
from reverie.memory.shelf import Place
from reverie.memory.shelves import Where

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


def home_shelves(where: Where) -> Iterator[MarkdownShelf]:
    reach = "every prompt this home builds"
    yield MarkdownShelf("home", where.home / "memory", reach, fixed(*PLACES), lock_files=True)
