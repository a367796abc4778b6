"""Claude Code's own folder: what it remembers, which a night may change, and what puts Reverie into it.

Targets: `claude`, the user's CLAUDE.md, and `claude/<project>`, the notes it keeps itself. Its notes on a project lie
in `projects/<project>/memory/`: MEMORY.md is the index, read at the start of every session up to its 200th line or 25
KB; files on single topics lie beside it and are read when they are needed. Of the two limits only the second can be
said in characters. A CLAUDE.md is read whole, with a warning where it is long.

A folder under `projects/` is named by a path with dashes for all but letters and digits. Transcripts lie under the
folder a session was begun in, notes under the repository it is in: work in a subfolder or a worktree is remembered with
the whole. So the notes of a folder are read only if it is no part of a repository; which it is, its transcripts tell.
(Seen in Claude Code 2.1.90 and 2.1.197; `autoMemoryDirectory` and `autoMemoryEnabled` in its settings change it.)

The MCP server stands in `.claude.json`, which Claude Code itself writes to all the time: in its settings folder if
`CLAUDE_CONFIG_DIR` is set, else in the home folder beside it. Hooks stand in `settings.json`. (Seen in 2.1.197.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from reverie.harnesses.claude_code.reader import working_folder
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file, write_lines
from reverie.harnesses.markdown import MarkdownTarget, agent_target, every_file, folders_in, names_in, own_instructions
from reverie.memory.target import Place
from reverie.memory.targets import HomePlaces
from reverie.system.files import repository_root
from reverie.system.installation import JsonMember
from reverie.transcripts.session import LONGEST_DASHED, dashed, is_dashed, project_name

HARNESS = "claude-code"
FOLDER = "${CLAUDE_CONFIG_DIR:-~/.claude}"
INSTRUCTIONS = own_instructions("Claude Code", "CLAUDE.md")
_NOTES = "Claude Code's notes on the project {}: how it is built, worked on, decided. Read in every session there."
INDEX = Place("MEMORY.md", "list", 25_000, purpose=_NOTES)
TOPIC = Place("", "list", purpose="Claude Code's notes on one topic of the project {}. Read when they are needed.")
_PROJECT = re.compile(r"[\w-][\w.-]{0,254}")
_LOOKED_AT = 5  # transcripts of one folder

_known: dict[Path, str] = {}  # where the sessions of a folder were begun: once told, it stays so


def claude_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    folder = where.place(FOLDER)
    projects = _Projects(folder)
    yield agent_target("claude", HARNESS, "Claude Code", folder, projects.instructions)
    made = partial(MarkdownTarget, harness=HARNESS, skills=folder / "skills")
    for project in projects.folders:
        reach = f"every Claude Code session of this user in the project {project.name}"
        listed, ready = partial(projects.notes, project), partial(projects.reads, project)
        yield made(f"claude/{project.name}", project / "memory", reach, listed, is_ready=ready)


class _Projects:
    """The folders under `projects/`. What their transcripts tell is looked up when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._settings = folder / "settings.json"
        self.folders = folders_in(folder / "projects", _PROJECT)

    def instructions(self, _: Path) -> Sequence[Place]:
        """Every project that has notes, or will have them, is no matter of the person's own instructions."""
        with_notes = (
            project
            for project in self.folders
            if self.reads(project) or any(name.endswith(".md") for name in names_in(project / "memory"))
        )
        return [replace(INSTRUCTIONS, elsewhere=frozenset(self._whose(project)[0] for project in with_notes))]

    def notes(self, project: Path, folder: Path) -> Sequence[Place]:
        name, path = self._whose(project)
        index, topic = (
            replace(place, audience=name, audience_path=path, purpose=place.purpose.format(name))
            for place in (INDEX, TOPIC)
        )
        return every_file(index, others=topic)(folder)

    def reads(self, project: Path) -> bool:
        """Whether Claude Code reads what is written into the notes of this folder: it has worked there, and may."""
        return self._root_of(project) is not None and self._remembers

    def _whose(self, project: Path) -> tuple[str, str]:
        """The name and path of a project. A path that nobody tells stays as it is spelt here, with dashes."""
        root = self._root_of(project) or ""
        return project_name(root) or project.name, root

    def _root_of(self, project: Path) -> str | None:
        """The project whose notes are kept here. Its sessions may all have begun in folders of it."""
        root = self._roots.get(project.name[:LONGEST_DASHED])
        return root if root and is_dashed(project.name, root) else None

    @cached_property
    def _roots(self) -> dict[str, str]:
        """Every project that was worked in, by the name its folder begins with."""
        roots = list[str]()
        for project in self.folders:
            if project not in _known:
                transcripts = [project / name for name in names_in(project) if name.endswith(".jsonl")]
                told = map(working_folder, transcripts[:_LOOKED_AT])
                if begun := next((cwd for cwd in told if cwd and is_dashed(project.name, cwd)), None):
                    _known[project] = begun
            roots += [repository_root(_known[project])] if project in _known else []
        return {dashed(root): root for root in roots}

    @cached_property
    def _remembers(self) -> bool:
        """Unless it was told not to, or to do so elsewhere."""
        try:
            said = json.loads(self._settings.read_bytes())
        except (OSError, ValueError, RecursionError):
            return True
        told = said if isinstance(said, dict) else {}
        return told.get("autoMemoryEnabled") is not False and not told.get("autoMemoryDirectory")


class ClaudeCodeInstaller(FolderInstaller):
    name, title, reader, place = "claude", "Claude Code", HARNESS, FOLDER

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder = self.folder(where)
        command = launch.line(*launch.queue(self.name))
        state = where.place("${CLAUDE_CONFIG_DIR:-~/}") / ".claude.json"
        server = {"type": "stdio", **launch.server(self.name, self.target)}
        return InstallPlan(
            [
                JsonMember(state, "the MCP server", ("mcpServers", "reverie"), server),
                self.session_hook(folder / "settings.json", {"type": "command", "command": command}),
                skill_file(folder),
            ],
            ["Claude Code asks before it first uses a tool of the MCP server; nothing here allows it by itself."],
        )

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
        write_lines(path, *lines)
        return {"session_id": session, "transcript_path": str(path), "cwd": work, "hook_event_name": "SessionEnd"}
