"""Codex's own folder (`CODEX_HOME`): the instructions a night may change, and what puts Reverie into it.

The target is `codex`, the AGENTS.md there, read in every session. A project's own AGENTS.md is reached by its path
(`agents:./project`): it is part of the project, and shared. Which projects Codex knows stands in its config.toml.

The MCP server is a table of `config.toml`, and so is `notify`, a program that is told of every turn that ended. Codex
has a hook for the end of a session, too, which runs only once the person has trusted it in Codex itself; `notify` needs
no such thing, and the same transcript waits once. (Seen in 0.166.0.)
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie.core.errors import BadInput
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file, write_lines
from reverie.harnesses.markdown import MarkdownTarget, agent_target, is_file, own_instructions
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces
from reverie.system.installation import ConfigEdit, TomlKey, TomlTable
from reverie.transcripts.session import project_name

FOLDER = "${CODEX_HOME:-~/.codex}"
INSTRUCTIONS = own_instructions("Codex", "AGENTS.md")


def codex_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    yield agent_target("codex", "codex", "Codex", where.place(FOLDER), _instructions)


def _instructions(folder: Path) -> Sequence[Place]:
    try:
        known = tomllib.loads((folder / "config.toml").read_text("utf-8")).get("projects")
    except (OSError, ValueError):
        known = None
    projects = known if isinstance(known, dict) else {}  # the folders Codex was told whether to trust
    own = (project_name(path) for path in projects if is_file(Path(path, "AGENTS.md")))
    return [replace(INSTRUCTIONS, elsewhere=frozenset(name for name in own if name))]


class CodexInstaller(FolderInstaller):
    name, title, reader, place = "codex", "Codex", "codex", FOLDER

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        config = folder / "config.toml"
        variables = [f"{name}={text}" for name, text in sorted(launch.environment.items())]
        words = [*(["env", *variables] if variables else []), *launch.words(*launch.queue(self.name))]
        notify = TomlKey(config, "a program that queues each session for the next night", "notify", words, self.queue)
        try:
            taken = notify.taken_by(config.read_text("utf-8-sig"))
        except (OSError, ValueError, BadInput):
            taken = None
        left_alone = (
            f"`notify` in {config} is taken ({taken!r:.80}) and was left alone: sessions are not queued when "
            "they end. A night reads Codex's own folder of sessions all the same."
        )
        notes = [] if taken is None else [left_alone]
        server = launch.server(self.name, self.target, hooked=not notes)
        edits: list[ConfigEdit] = [
            TomlTable(config, "the MCP server", ("mcp_servers", "reverie"), server),
            notify,
            skill_file(folder),
        ]
        return InstallPlan(edits, notes)

    def transcript(self, where: HomePlaces, event: Mapping[str, Any]) -> Path | None:
        if told := super().transcript(where, event):
            return told
        thread = event.get("thread-id")
        if not isinstance(thread, str) or not thread.replace("-", "").isalnum():
            return None
        found = (self.folder(where) / "sessions").glob(f"*/*/*/rollout-*-{thread}.jsonl")
        return next(iter(sorted(found)), None)

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        thread, day = f"00000000-0000-7000-8000-{number:012}", f"2026-01-{number:02}"
        folder = self.folder(where) / "sessions" / day.replace("-", "/")
        at, work = f"{day}T09:00:00.000Z", str(self.folder(where).parent / "work")
        meta = {"id": thread, "timestamp": at, "cwd": work, "originator": "codex_exec", "cli_version": "0.166.0"}
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": sentence}]}
        lines = [
            {"timestamp": at, "type": "session_meta", "payload": meta},
            {"timestamp": at, "type": "response_item", "payload": said},
            {"timestamp": at, "type": "event_msg", "payload": {"type": "user_message", "message": sentence}},
        ]
        write_lines(folder / f"rollout-{day}T09-00-00-{thread}.jsonl", *lines)
        return {"type": "agent-turn-complete", "thread-id": thread, "cwd": work}
