"""Puts Reverie into Gemini CLI. The GEMINI.md in its folder is read in every session already: a night writes there.

The MCP server and a hook for the end of a session stand in `settings.json`, which may hold comments. (Seen in 0.61.0.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reverie.harnesses.gemini_cli.target import FOLDER
from reverie.harnesses.installers import SKILL, InstallPlan, Launch
from reverie.memory.targets import HomePlaces
from reverie.system.config_files.edits import JsonElement, JsonMember, OwnFile

QUEUE = ("sessions", "queue", "--agent", "gemini")


class GeminiCliInstaller:
    name = "gemini"
    title = "Gemini CLI"
    target = "gemini"
    reader = "gemini-cli"

    def folder(self, where: HomePlaces) -> Path:
        return where.place(FOLDER)

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder, server = self.folder(where), launch.server(self.name, self.target)
        keys = ("mcpServers", "reverie")
        return InstallPlan(
            [
                JsonMember(folder / "settings.json", "the MCP server", keys, server, json5=True),
                JsonElement(
                    folder / "settings.json",
                    "a hook that queues each session for the next night",
                    ("hooks", "SessionEnd"),
                    {
                        "hooks": [
                            {"type": "command", "name": "reverie", "command": launch.line(*launch.queue(self.name))}
                        ]
                    },
                    f"-m reverie {' '.join(QUEUE)}",
                    json5=True,
                ),
                OwnFile(folder / "skills/reverie/SKILL.md", "a skill: when to recall, when to propose", SKILL),
            ],
        )

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        said = event.get("transcript_path")
        return Path(said) if isinstance(said, str) and said else None

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"00000000-0000-4000-8000-{number:012}", f"2026-01-{number:02}T09:00:00.000Z"
        path = self.folder(where) / f"tmp/rehearsal/chats/session-2026-01-{number:02}T09-00-{session[:8]}{number}.jsonl"
        head = {"sessionId": session, "projectHash": "0" * 64, "startTime": at, "lastUpdated": at}
        said = {"id": f"m{number}", "timestamp": at, "type": "user", "content": [{"text": sentence}]}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{json.dumps(head)}\n{json.dumps(said)}\n", "utf-8")
        return {"transcript_path": str(path)}
