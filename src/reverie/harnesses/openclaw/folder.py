"""OpenClaw's own folder: the memory of its workspaces, which a night may change, and what puts Reverie into it.

The target `openclaw` is the workspace of the default agent, `openclaw/<agent>` that of another: MEMORY.md, and USER.md
if there is one, read in every session. A workspace that openclaw.json puts somewhere else is reached by its path.

The MCP server stands in `openclaw.json`, which may hold comments. OpenClaw keeps the sessions of an agent in a database
of its own, which a night reads where it lies. Its gateway runs a hook when a session is over: when a person begins
another, or once a day. Skills of all its agents are in `skills` beside the settings. (Seen in 2026.9.6.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reverie.core.errors import BadInput
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file, write_lines
from reverie.harnesses.markdown import MarkdownTarget, existing_places, folders_in
from reverie.harnesses.openclaw import database
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces
from reverie.system import json_edits
from reverie.system.installation import ConfigEdit, JsonMember, OwnFile
from reverie.transcripts.json_streams import mapping_or_empty

FOLDER = "${OPENCLAW_STATE_DIR:-${OPENCLAW_HOME:-~}/.openclaw}"
LIMIT = 12_000  # OpenClaw shortens what is longer when it builds a prompt
PURPOSES = {
    "MEMORY.md": "What the agent keeps: facts, decisions, lessons. Read in every session with its person.",
    "USER.md": "Who the person is and how to address them. Read in every session.",
}
PLACES = tuple(Place(document, "list", LIMIT, purpose=purpose) for document, purpose in PURPOSES.items())
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


_HOOK = Path(__file__).with_name("hook")
_ABOUT = "a hook that queues each session for the next night"
_AGENT = re.compile(r"[\w-]{1,100}")


class OpenClawInstaller(FolderInstaller):
    name, title, reader, place = "openclaw", "OpenClaw", "openclaw", FOLDER

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        config = where.place(f"${{OPENCLAW_CONFIG_PATH:-{folder / 'openclaw.json'}}}")
        server = launch.server(self.name, self.target, hooked=False)  # `openclaw agent --local` runs no hook
        try:
            told = json_edits.json_value(config.read_text("utf-8-sig"), ("hooks", "internal"), json5=True)
        except (OSError, ValueError, BadInput):  # installing says so
            told = None
        hooks, queue = mapping_or_empty(told), launch.queue(self.name)
        edits: list[ConfigEdit] = [
            JsonMember(config, "the MCP server", ("mcp", "servers", "reverie"), server, json5=True),
            OwnFile(folder / "hooks/reverie/HOOK.md", _ABOUT, (_HOOK / "HOOK.md").read_text("utf-8")),
            OwnFile(folder / "hooks/reverie/handler.js", _ABOUT, launch.script(_HOOK / "handler.js", *queue)),
            skill_file(folder),
        ]
        if not (hooks.get("enabled") is True and not hooks.get("entries")):  # else all are on, and one named is alone
            keys = ("hooks", "internal", "entries", "reverie")
            edits.insert(1, JsonMember(config, _ABOUT, keys, {"enabled": True}, json5=True))
        off = f"`hooks.internal.enabled` in {config} is false: the hook does not run."
        notes = [off] if hooks.get("enabled") is False else []
        notes.append(
            "OpenClaw's gateway runs the hook when a session ends (`/new`, `/reset`, once a day); "
            "`openclaw agent --local` runs none, but ends the MCP server, which begins a night that is due. "
            "A night reads its sessions in any case."
        )
        return InstallPlan(edits, notes)

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        if told := super().transcript(where, event):
            return told
        agent = event.get("agent")
        if not isinstance(agent, str) or not _AGENT.fullmatch(agent):
            return None
        return self.folder(where) / "agents" / agent / "agent" / database.NAME

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"00000000-0000-4000-8000-{number:012}", f"2026-01-{number:02}T09:00:00.000Z"
        workspace = self.folder(where) / "workspace"
        head = {"type": "session", "version": 3, "id": session, "timestamp": at, "cwd": str(workspace)}
        said = {"role": "user", "content": [{"type": "text", "text": sentence}]}
        line = {"type": "message", "id": "00000001", "parentId": None, "timestamp": at, "message": said}
        workspace.mkdir(parents=True, exist_ok=True)
        path = write_lines(self.folder(where) / f"agents/main/sessions/{session}.jsonl", head, line)
        return {"transcript_path": str(path)}
