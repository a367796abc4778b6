"""opencode's own folders: the instructions a night may change, and what puts Reverie into it.

The target is `opencode`, the AGENTS.md beside its settings, read in every session. A project's own is reached by its
path.

The MCP server stands in `opencode.json` (or `opencode.jsonc`), which may hold comments. Its sessions are in a database
of its own, which a night reads where it lies; a plugin, in `plugin` beside the settings, tells that one has an answer.
(Seen in 1.18.33.)
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from reverie.harnesses.installers import InstallPlan, Launch, skill_file
from reverie.harnesses.markdown import INSTRUCTIONS_LIMIT, MarkdownTarget, fixed
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces
from reverie.system.installation import JsonMember, OwnFile

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


_PLUGIN = Path(__file__).with_name("plugin.js")
_ABOUT = "a plugin that queues each session for the next night"
_TABLES = """
CREATE TABLE IF NOT EXISTS session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  permission TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE IF NOT EXISTS message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE IF NOT EXISTS part (id TEXT, message_id TEXT, data TEXT);
"""


class OpencodeInstaller:
    name = "opencode"
    title = "opencode"
    target = "opencode"
    reader = "opencode"

    def folder(self, where: HomePlaces) -> Path:
        return where.place(FOLDER)

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        with_comments = folder / "opencode.jsonc"
        config = with_comments if with_comments.exists() else folder / "opencode.json"
        told = launch.server(self.name, self.target)
        server = {"type": "local", "command": [told["command"], *told["args"]], "enabled": True}
        server |= {"environment": told["env"]} if "env" in told else {}
        return InstallPlan(
            [
                JsonMember(config, "the MCP server", ("mcp", "reverie"), server, json5=True),
                OwnFile(folder / "plugin/reverie.js", _ABOUT, launch.script(_PLUGIN, *launch.queue(self.name))),
                skill_file(folder),
            ],
        )

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        return self._database(where) if event.get("session") else None

    @staticmethod
    def _database(where: HomePlaces) -> Path:
        return where.place("${XDG_DATA_HOME:-~/.local/share}/opencode") / "opencode.db"

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        path = self._database(where)
        at = 1_767_258_000_000 + number * 86_400_000
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as database, database:
            database.executescript(_TABLES)
            session = (f"ses_{number}", None, "/work", "", "1.18.33", None, at, at)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", session)
            told = json.dumps({"role": "user", "time": {"created": at}})
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"msg_{number}", f"ses_{number}", at, told))
            part = json.dumps({"type": "text", "text": sentence})
            database.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}", f"msg_{number}", part))
        return {"session": f"ses_{number}"}
