"""opencode: its transcripts, the instructions a night may change, and what puts Reverie into it.

Transcripts are one `opencode.db` in its data folder, with a row for each session, message and part of a message. The
database is in use while it is read, and is left as it was. What opencode itself adds to a person's message is a part
marked `synthetic`. It does not mark what a command's template says, nor what was piped into it: the templates are read
from the folder of the session.

The target is `opencode`, the AGENTS.md beside its settings, read in every session. A project's own goes by its path.
The MCP server stands in `opencode.json` (or `opencode.jsonc`), which may hold comments; a plugin, in `plugin` beside
the settings, tells that a session has an answer. (Seen in 1.18.33.)
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file
from reverie.harnesses.markdown import MarkdownTarget, agent_target, fixed, own_instructions
from reverie.memory.targets import HomePlaces
from reverie.system.installation import JsonMember, OwnFile
from reverie.transcripts.files import (
    MAGIC,
    cell_text,
    columns,
    decoded,
    is_interrupted,
    is_locked,
    misses_log,
    reading,
    why_unread,
)
from reverie.transcripts.json_streams import mapping_or_empty, parsed, string_or_none
from reverie.transcripts.messages import arguments_text
from reverie.transcripts.readers import WHOLE_FILE, Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall, project_folder, project_name

Record = Mapping[str, Any]

_TABLES = {
    "session": ("id", "parent_id", "directory", "title", "version", "permission", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "data"),
}
_NEEDED = {"session": {"id"}, "message": {"id", "session_id", "data"}, "part": {"message_id", "data"}}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_RUN = re.compile(r'"permission"\s*:\s*"question"[^{}]*"action"\s*:\s*"deny"')


class OpencodeReader:
    name = "opencode"
    places: tuple[str, ...] = ("${XDG_DATA_HOME:-~/.local/share}/opencode/opencode.db",)

    def recognises(self, path: Path, start: bytes) -> float:
        if not (start.startswith(MAGIC) and path.name.startswith("opencode")):
            return 0.0
        try:
            with reading(path) as database:
                there = {table: set(columns(database, table)) for table in _TABLES}
        except sqlite3.Error:
            return 0.9  # locked or damaged: claimed, so that reading it can say so
        return 0.95 if all(_NEEDED[table] <= there[table] for table in _TABLES) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        try:
            with reading(path) as database:
                if misses_log(database, path):
                    why = "its -wal cannot be read in a read-only folder; the newest messages may be missing"
                    yield Flaw(WHOLE_FILE, why)
                yield from _sessions(database)
        except sqlite3.Error as error:
            yield Flaw(WHOLE_FILE, why_unread(error), passing=is_locked(error))


def _sessions(database: sqlite3.Connection) -> Iterator[Event]:
    there = {table: columns(database, table) for table in _TABLES}
    wanted = {table: [name for name in names if name in there[table]] for table, names in _TABLES.items()}
    if not all(_NEEDED[table] <= set(wanted[table]) for table in _TABLES):
        yield Flaw(WHOLE_FILE, "no tables `session`, `message` and `part` as opencode makes them")
        return
    names = [row[0] for row in database.execute("SELECT id FROM session ORDER BY rowid")]
    for name in names:
        database.execute("BEGIN")
        try:
            query = f"SELECT {', '.join(wanted['session'])} FROM session WHERE id = CAST(? AS TEXT)"
            row = database.execute(query, (name,)).fetchone()
            about = dict(zip(wanted["session"], map(_plain, row or ()), strict=False))
            yield from _session(database, about | {"id": _plain(name)}, name, "time_created" in wanted["message"])
        except sqlite3.Error as error:
            yield Flaw(f"session {_plain(name)}", why_unread(error), passing=is_locked(error))
            if is_locked(error) or is_interrupted(error):
                return
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")


def _session(database: sqlite3.Connection, about: dict[str, Any], name: object, timed: bool) -> Iterator[Event]:
    folder = string_or_none(about.get("directory"))
    talk = _Talk(Commands.of(folder), bool(about.get("parent_id")), bool(_RUN.search(str(about.get("permission")))))
    messages = f"SELECT id, data FROM message WHERE session_id = CAST(? AS TEXT) ORDER BY {'time_created, ' * timed}id"
    opened = False
    for message_id, data in database.execute(messages, (name,)):
        parts = database.execute("SELECT data FROM part WHERE message_id = CAST(? AS TEXT) ORDER BY id", (message_id,))
        try:
            said = list(talk.said(_object(data), [_object(part) for (part,) in parts]))
        except (ValueError, TypeError, RecursionError) as error:
            yield Flaw(f"message {_plain(message_id)}", f"cannot be read: {error}")
            continue
        if said and not opened:
            opened = True
            parent, version = string_or_none(about.get("parent_id")), string_or_none(about.get("version"))
            yield Opened(
                Head(
                    id=f"opencode:{about['id']}",
                    harness="opencode",
                    agent=Path(folder).name or None if folder else None,
                    title=string_or_none(about.get("title")),
                    started_at=moment(about.get("time_created")),
                    parent=f"opencode:{parent}" if parent else None,
                    facts={key: value for key, value in (("cwd", folder), ("version", version)) if value},
                    project=project_name(folder),
                    project_path=project_folder(folder),
                )
            )
            for unread in talk.commands.unread[:1]:
                why = "cannot be read; what is typed in this folder is not told from its words, and is asked about"
                yield Flaw(f"the command {unread}", why)
        yield from said
    if opened:
        yield Closed(ended_at=moment(about.get("time_updated")))


@dataclass(frozen=True, slots=True)
class _Talk:
    """Facts about who speaks in a session."""

    commands: Commands
    subagent: bool
    headless: bool

    def said(self, message: Record, parts: list[Record]) -> Iterator[Said]:
        at = moment(mapping_or_empty(message.get("time")).get("created"))
        if message.get("role") == "user":
            added = (
                part.get("prompt") if part.get("type") == "subtask" else part.get("synthetic") and part.get("text")
                for part in parts
                if part.get("type") in ("subtask", "text")
            )
            foreign = [text for words in added if (text := string_or_none(words))]
            own = "\n".join(text for part in parts if (text := _typed(part)))
            if foreign:
                yield Said("tool", "\n".join(foreign), name="attached context", at=at, origin=Origin.TOOL)
            if own.strip():
                # `opencode run` puts quotation marks around what has a space in it.
                quoted = _QUOTED.match(own) if self.headless else None
                words = quoted[1].replace('\\"', '"') + own[quoted.end() :] if quoted else own
                # Several lines: piped in, or a command whose template is gone or unread.
                unsure = "\n" in words.strip() or self.commands.unread
                origin = Origin.AGENT if self.subagent else Origin.TOOL if self.commands.wrote(words) else None
                yield Said("user", words, at=at, origin=origin or (Origin.MEMBER if unsure else None))
        elif message.get("role") == "assistant":
            calls = [part for part in parts if part.get("type") == "tool"]
            text = "\n".join(text for part in parts if (text := _typed(part)))
            made = tuple(
                ToolCall(str(call.get("tool") or ""), arguments_text(_state(call).get("input")), _call_id(call))
                for call in calls
            )
            if text.strip() or made:
                noise = "compact summary" if message.get("summary") is True else None
                yield Said("assistant", text, at=at, calls=made, noise=noise)
            for call in calls:
                if (ended := _state(call).get("status")) in ("completed", "error"):
                    told = _state(call).get("output" if ended == "completed" else "error")
                    answer = told if isinstance(told, str) else arguments_text(told)
                    name, failed = string_or_none(call.get("tool")), ended == "error"
                    yield Said("tool", answer, name=name, at=at, answers=_call_id(call), failed=failed)


def _typed(part: Record) -> str:
    own = part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    return string_or_none(part.get("text")) or "" if own else ""


def _call_id(call: Record) -> str | None:
    return string_or_none(call.get("callID"))


def _state(call: Record) -> Record:
    return mapping_or_empty(call.get("state"))


def _object(data: object) -> Record:
    value = parsed(cell_text(data))
    if not isinstance(value, Mapping):
        raise ValueError("not an object")
    return value


def _plain(value: object) -> Any:
    return decoded(value)[0] if isinstance(value, bytes) else value


_FOLDERS = (".opencode/command", ".opencode/commands")
_MOST_FILES = 200
_MOST_CHARACTERS = 100_000
_LEAST_LITERAL = 8  # characters that a template must have of its own to be recognised by
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FILLED_IN = re.compile(r"\$ARGUMENTS|\$\d+|!`[^`]*`")


@dataclass(frozen=True, slots=True)
class Commands:
    """`unread` names what could not be read: what such a command says cannot be told from what is typed."""

    templates: tuple[re.Pattern[str], ...] = ()
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: str | None) -> Commands:
        """Those that are there now; one that has been changed or removed since is not recognised."""
        if not folder or not Path(folder).is_absolute():
            return cls()
        unread, texts = list[str](), list[str]()

        def failed(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                unread.append(str(error.filename))

        try:
            walked = chain.from_iterable(os.walk(Path(folder, place), onerror=failed) for place in _FOLDERS)
            found = sorted(Path(place, name) for place, _, names in walked for name in names if name.endswith(".md"))
        except ValueError:
            return cls()  # no folder has such a name
        for file in found[:_MOST_FILES]:
            try:
                with file.open(encoding="utf-8", errors="replace") as opened:
                    texts.append(opened.read(_MOST_CHARACTERS))
            except OSError as error:
                failed(error)
        unread += map(str, found[_MOST_FILES : _MOST_FILES + 1])
        # The beginning of each text, up to the first place that is filled in.
        begun = (_FILLED_IN.split(_FRONT_MATTER.sub("", text).strip(), maxsplit=1)[0].rstrip() for text in texts)
        templates = tuple(re.compile(re.escape(one)) for one in begun if len(one) >= _LEAST_LITERAL)
        return cls(templates, tuple(unread))

    def wrote(self, text: str) -> bool:
        return any(template.match(text.strip()) for template in self.templates)


# ---- what a night may change, and what puts Reverie into it ----------------------------------------------------------


FOLDER = "${XDG_CONFIG_HOME:-~/.config}/opencode"


def opencode_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    listed = fixed(own_instructions("opencode", "AGENTS.md"))
    yield agent_target("opencode", "opencode", "opencode", where.place(FOLDER), listed)


_PLUGIN = Path(__file__).with_name("opencode_plugin.js")
_ABOUT = "a plugin that queues each session for the next night"
_MADE_UP = """
CREATE TABLE IF NOT EXISTS session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  permission TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE IF NOT EXISTS message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE IF NOT EXISTS part (id TEXT, message_id TEXT, data TEXT);
"""


class OpencodeInstaller(FolderInstaller):
    name, title, reader, place = "opencode", "opencode", "opencode", FOLDER

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
            ]
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
            database.executescript(_MADE_UP)
            session = (f"ses_{number}", None, "/work", "", "1.18.33", None, at, at)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", session)
            told = json.dumps({"role": "user", "time": {"created": at}})
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"msg_{number}", f"ses_{number}", at, told))
            part = json.dumps({"type": "text", "text": sentence})
            database.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}", f"msg_{number}", part))
        return {"session": f"ses_{number}"}
