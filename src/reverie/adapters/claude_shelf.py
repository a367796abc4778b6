"""What Claude Code remembers: `claude`, the user's CLAUDE.md, and `claude/<project>`, the notes it keeps itself.

Its notes on a project lie in `projects/<project>/memory/`: MEMORY.md is the index, read at the start of every
session up to its 200th line or 25 KB; files on single topics lie beside it and are read when they are needed. Of the
two limits only the second can be said in characters. A CLAUDE.md is read whole, whatever its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.adapters.markdown_shelf import MarkdownShelf, every_file, fixed, folders_in
from reverie.memory.shelf import Place
from reverie.memory.shelves import Where

HARNESS = "claude-code"
INSTRUCTIONS = Place("CLAUDE.md", "list")
INDEX = Place("MEMORY.md", "list", 25_000)
_PROJECT = re.compile(r"[\w-][\w.-]{0,254}")


def claude_shelves(where: Where) -> Iterator[MarkdownShelf]:
    folder, everyone = where.place("${CLAUDE_CONFIG_DIR:-~/.claude}"), "every Claude Code session of this user"
    yield MarkdownShelf("claude", folder, everyone, fixed(INSTRUCTIONS), root=folder, harness=HARNESS)
    for project in folders_in(folder / "projects", _PROJECT):
        reach = f"{everyone} in the project {project.name}"
        name, notes = f"claude/{project.name}", project / "memory"
        yield MarkdownShelf(name, notes, reach, every_file(INDEX), root=project, harness=HARNESS)
