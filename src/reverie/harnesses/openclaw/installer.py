"""Puts Reverie into OpenClaw. The MEMORY.md of its workspace is read in every session already: a night writes there.

The MCP server stands in `openclaw.json`, which may hold comments.
OpenClaw keeps its sessions in databases of its own, which a night reads where they lie: no hook is needed. Skills of
all its agents are in `skills` beside the settings. (Seen in 2026.9.6.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reverie.harnesses.installers import SKILL, InstallPlan, Launch
from reverie.memory.targets import HomePlaces
from reverie.system.config_edits import JsonMember, OwnFile


class OpenClawInstaller:
    name = "openclaw"
    title = "OpenClaw"
    target = "openclaw"
    reader = "openclaw"

    def folder(self, where: HomePlaces) -> Path:
        at_home = where.place("${OPENCLAW_HOME:-~}/.openclaw")
        return where.place(f"${{OPENCLAW_STATE_DIR:-{at_home}}}")

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        config = where.place(f"${{OPENCLAW_CONFIG_PATH:-{folder / 'openclaw.json'}}}")
        server = launch.server(self.name, self.target)
        return InstallPlan(
            [
                JsonMember(config, "the MCP server", ("mcp", "servers", "reverie"), server, json5=True),
                OwnFile(folder / "skills/reverie/SKILL.md", "a skill: when to recall, when to propose", SKILL),
            ],
            ["OpenClaw has no hook for this: a night reads its sessions where it keeps them."],
        )

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        said = event.get("transcript_path")
        return Path(said) if isinstance(said, str) and said else None

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"00000000-0000-4000-8000-{number:012}", f"2026-01-{number:02}T09:00:00.000Z"
        workspace = self.folder(where) / "workspace"
        head = {"type": "session", "version": 3, "id": session, "timestamp": at, "cwd": str(workspace)}
        said = {"role": "user", "content": [{"type": "text", "text": sentence}]}
        line = {"type": "message", "id": "00000001", "parentId": None, "timestamp": at, "message": said}
        path = self.folder(where) / f"agents/main/sessions/{session}.jsonl"
        for folder in (workspace, path.parent):
            folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n", "utf-8")
        return {"transcript_path": str(path)}
