"""Puts Reverie into Claude Code. CLAUDE.md and its own notes are read in every session already: a night writes there.

The MCP server stands in `.claude.json`, which Claude Code itself writes to all the time: in its settings folder if
`CLAUDE_CONFIG_DIR` is set, else in the home folder beside it. Hooks stand in `settings.json`. (Seen in 2.1.197.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reverie.harnesses.installers import SKILL, InstallPlan, Launch
from reverie.memory.targets import HomePlaces
from reverie.system.config_files.edits import JsonElement, JsonMember, OwnFile
from reverie.transcripts.projects import dashed

QUEUE = ("sessions", "queue", "--agent", "claude")


class ClaudeCodeInstaller:
    name = "claude"
    title = "Claude Code"
    target = "claude"
    reader = "claude-code"

    def folder(self, where: HomePlaces) -> Path:
        return where.place("${CLAUDE_CONFIG_DIR:-~/.claude}")

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        hook = {"hooks": [{"type": "command", "command": launch.line(*launch.queue(self.name))}]}
        server = {"type": "stdio", **launch.server(self.name, self.target)}
        return InstallPlan(
            [
                JsonMember(self._state(where), "the MCP server", ("mcpServers", "reverie"), server),
                JsonElement(
                    folder / "settings.json",
                    "a hook that queues each session for the next night",
                    ("hooks", "SessionEnd"),
                    hook,
                    f"-m reverie {' '.join(QUEUE)}",
                ),
                OwnFile(folder / "skills/reverie/SKILL.md", "a skill: when to recall, when to propose", SKILL),
            ],
            ["Claude Code asks before it first uses a tool of the MCP server; nothing here allows it by itself."],
        )

    @staticmethod
    def _state(where: HomePlaces) -> Path:
        return where.place("${CLAUDE_CONFIG_DIR:-~/}") / ".claude.json"

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        said = event.get("transcript_path")
        return Path(said) if isinstance(said, str) and said else None

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, work = f"00000000-0000-4000-8000-{number:012}", str(self.folder(where).parent / "work")
        path = self.folder(where) / "projects" / dashed(work) / f"{session}.jsonl"
        head = {"sessionId": session, "cwd": work, "version": "2.1.197", "isSidechain": False, "userType": "external"}
        said = (("user", sentence), ("assistant", "All right."))
        lines = [
            head
            | {"type": role, "uuid": f"{session[:-4]}{number}{place:03}", "timestamp": f"2026-01-{number:02}T09:00:00Z"}
            | {"message": {"role": role, "content": text}}
            for place, (role, text) in enumerate(said)
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        return {"session_id": session, "transcript_path": str(path), "cwd": work, "hook_event_name": "SessionEnd"}
