"""The memory of an OpenClaw workspace: MEMORY.md, and USER.md if there is one.

`openclaw` is the workspace of the default agent, `openclaw/<agent>` that of another. One that openclaw.json puts
somewhere else is reached by its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from reverie.harnesses.markdown.lists import MarkdownTarget, existing_places, folders_in
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces

FOLDER = "${OPENCLAW_STATE_DIR:-${OPENCLAW_HOME:-~}/.openclaw}"
LIMIT = 12_000  # OpenClaw shortens what is longer when it builds a prompt
PLACES = (
    Place(
        "MEMORY.md",
        "list",
        LIMIT,
        purpose="What the agent keeps: facts, decisions, lessons. Read in every session with its person.",
    ),
    Place(
        "USER.md",
        "list",
        LIMIT,
        purpose="Who the person is and how to address them. Read in every session.",
    ),
)
_WORKSPACE = re.compile(r"workspace-[a-z0-9][a-z0-9_-]{0,63}")


def openclaw_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    state = where.place(FOLDER)
    default = where.place(f"${{OPENCLAW_WORKSPACE_DIR:-{state / 'workspace'}}}")
    everyone = "every session of this OpenClaw"
    made = partial(MarkdownTarget, harness="openclaw", skills=state / "skills")
    yield made("openclaw", default, everyone, existing_places(*PLACES), agent_folder=default)
    for folder in folders_in(state, _WORKSPACE):
        agent = folder.name.removeprefix("workspace-")
        reach = f"every session of the OpenClaw agent {agent}"
        yield made(f"openclaw/{agent}", folder, reach, existing_places(*PLACES), agent_folder=folder)
