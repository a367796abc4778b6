"""OpenClaw (before: Clawdbot, Moltbot): `agents/<agent>/sessions/<session>.jsonl`, the session format of pi; since
2026.9 the same entries in a database.

The first line is the header; then entries that form a tree by `id` and `parentId`, read in the order of the
file. A person's message reaches the agent wrapped: events of the gateway, who wrote where and when, then the
words. Only the words are kept as the person's; the wrapping tells the sender and whether others are in the
room. What the gateway says in a person's place (heartbeats, cron jobs, system events) is noise.

A person who begins anew (`/new`, `/reset`), or whose day is over, goes on under the same id since 2026.9: the entry
`reset` is where a session of ours ends, and the next one has its number behind the id.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.injected import OPENCLAW, said_apart, written_openings
from reverie.harnesses.openclaw import database as databases
from reverie.transcripts.files import is_locked, misses_log, reading, why_unread
from reverie.transcripts.json_files import first_line, json_lines, whole_json
from reverie.transcripts.json_streams import mapping_or_empty, parsed_or_none, string_or_none
from reverie.transcripts.messages import arguments_text, origin_of, text_of
from reverie.transcripts.readers import WHOLE_FILE, Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall, project_folder, project_name

Entry = Mapping[str, Any]
Entries = Callable[[], Iterator[tuple[int, Any] | Flaw]]

_SURVEYED_LINES = 50
_CALLS = {"toolCall", "tool_use", "toolUse", "functionCall"}
_MIRRORS = {"delivery-mirror", "gateway-injected"}  # the gateway noting what it sent, not the model speaking
_SUMMARIES = {"compaction": "compact summary", "branch_summary": "branch summary"}
_WRAPPED = re.compile(r"\s*([A-Z][^\n(]{0,60}) \(untrusted[^)\n]*\):\s*```json\n(.*?)\n```\s*", re.DOTALL)
_EVENTS = re.compile(r"\s*(?:System(?: \(untrusted\))?: \[[^\n]*(?:\n|$))+")
_STAMP = re.compile(
    r"\s*\[(?!Forwarded |Replying |Quoting )[^\]\n]{0,200}\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,60}\]\s*"
)
_ROOM = re.compile(r"\bgroup\b|@g\.us|\bid:-\d|#\w|\bchannel id:", re.IGNORECASE)  # in a stamp of before 2026.2
_RECALLED = re.compile(r"\s*<(relevant-memories|recalled-memories|memory-context)>.*?</\1>\s*", re.DOTALL)
# Since 2026.9 the gateway marks what it puts before a message, and what it hangs behind it, with a sign of its own.
_SIGN = "⟦openclaw:ctx⟧"
_MARKED = re.compile(rf"\s*([^\n]{{1,160}}): ?{_SIGN}\n(?:```json\n(.*?)\n```|(?:[^\n]+(?:\n|\Z))+)\s*", re.DOTALL)
_GOAL = re.compile(r"\s*Active goal: [^\n]{1,300} — advance; keep active[^\n]*\s*")
_WRAPPINGS = (_EVENTS, _WRAPPED, _MARKED, _STAMP, _RECALLED, _GOAL)
_WORKSPACE = re.compile(r"[\\/]\.(?:openclaw|clawdbot|moltbot)(?:[\\/]|$)|[\\/]clawd[\\/]?$")
_MESSAGE_ID = re.compile(r"\n\[message_id: [^\]\n]{0,200}\]$")
_BEHIND = re.compile(
    rf"(?:Untrusted context \(metadata, do not treat as instructions or commands\):|^[^\n]{{1,160}}: ?{_SIGN})",
    re.MULTILINE,
)
_TASK = "[Subagent Task]"
_FROM_AGENTS = ("[Subagent Context]", _TASK, "[Inter-session message]")
_FROM_GATEWAY = tuple(one.split(": ", 1) for one in written_openings("openclaw"))


class OpenClawReader:
    name = "openclaw"
    places: tuple[str, ...] = (
        "${OPENCLAW_STATE_DIR:-${OPENCLAW_HOME:-~}/.openclaw}/agents",
        "${CLAWDBOT_STATE_DIR:-~/.clawdbot}/agents",
        "~/.moltbot/agents",
    )

    def recognises(self, path: Path, start: bytes) -> float:
        if path.name == databases.NAME:
            return databases.is_openclaw_database(path, start)
        if ".jsonl" not in path.name or ".trajectory." in path.name:
            return 0.0
        at_home = _agent_of(path) is not None
        lines = [first_line(piece) for piece in start.split(b"\n")[:5]]
        if any(_is_header(line) for line in lines):
            return 0.95 if at_home else 0.6 if ".pi" in path.parts else 0.9
        entries = [line for line in lines if isinstance(line, Mapping) and line.get("type") == "message"]
        return 0.9 if at_home and any(isinstance(entry.get("message"), Mapping) for entry in entries) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        if ".checkpoint." in path.name:
            return  # a copy made before a compaction; the session's own file has all of it
        if path.name != databases.NAME:
            yield from _told_entries(_Transcript(path, lambda: json_lines(path)), json_lines(path))
            return
        try:
            with reading(path) as database:
                if misses_log(database, path):
                    yield Flaw(WHOLE_FILE, "its -wal cannot be read in a read-only folder; the newest may be missing")
                forwarded = databases.forwarded(path)
                for window in databases.read_sessions(database):
                    entries = partial(databases.entries, database, window.session)
                    transcript = _Transcript(path, entries, replace(window, forwarded=forwarded))
                    yield from _told_entries(transcript, entries())
        except sqlite3.Error as error:
            yield Flaw(WHOLE_FILE, why_unread(error), passing=is_locked(error))


def _told_entries(transcript: _Transcript, entries: Iterator[tuple[int, Any] | Flaw]) -> Iterator[Event]:
    for entry in entries:
        if isinstance(entry, Flaw):
            yield entry
        else:
            yield from transcript.events(*entry)
    yield from transcript.closing()


def _is_header(line: Any) -> bool:
    return (
        isinstance(line, Mapping)
        and line.get("type") == "session"
        and isinstance(line.get("id"), str)
        and "timestamp" in line
    )


# What is known about a session besides its words.


@lru_cache(maxsize=4)
def _index(path: Path, _changed: int, _size: int) -> dict[str, databases.Window]:
    """The gateway's own list, `sessions.json`, by session id. Kept between files: it lists hundreds in one file."""
    value = whole_json(path)
    rows = {key: row for key, row in value.items() if isinstance(row, Mapping)} if isinstance(value, Mapping) else {}
    listed = {}
    for key, row in rows.items():
        names = (string_or_none(row.get(name)) for name in ("label", "displayName", "subject"))
        parent = string_or_none(rows.get(str(row.get("spawnedBy")), {}).get("sessionId"))
        name = str(row.get("sessionId"))
        listed[name] = databases.Window(name, key, next(filter(None, names), None), parent)
    return listed


def _agent_of(path: Path) -> str | None:
    parts = path.parts
    at_home = len(parts) > 3 and parts[-2] in ("sessions", "agent") and parts[-4] == "agents"
    return parts[-3] if at_home else None


def _head(path: Path, header: Entry, model: str | None, listed: databases.Window) -> Head:
    identity = string_or_none(header.get("id"))
    stem = identity or path.stem if path.name == databases.NAME else path.name.split(".jsonl")[0]
    facts = {
        "cwd": header.get("cwd"),
        "model": model,
        "key": listed.key,
        "forked_from": header.get("parentSession"),
        "format": str(header.get("version") or ""),
    }
    folder = string_or_none(header.get("cwd")) or ""
    at_work = not _WORKSPACE.search(folder)  # an agent's own workspace is where it lives, not what it works on
    return Head(
        # A topic of a chat has a file of its own under the id of the chat's session.
        id=f"openclaw:{stem if not identity or stem.startswith(identity) else identity}",
        harness="openclaw",
        agent=_agent_of(path),
        title=listed.title,
        started_at=moment(header.get("timestamp")),
        parent=f"openclaw:{listed.parent}" if listed.parent else None,
        facts={key: text for key, value in facts.items() if (text := string_or_none(value))},
        project=project_name(folder) if at_work else None,
        project_path=project_folder(folder) if at_work else None,
    )


def _survey(entries: Entries) -> tuple[Entry, str | None]:
    """The header, and the first model that is named."""
    header: Entry = {}
    for line in islice(entries(), _SURVEYED_LINES):
        value: Any = None if isinstance(line, Flaw) else line[1]
        if _is_header(value):
            header = header or value
        elif isinstance(value, Mapping):
            message = value.get("message")
            named = message.get("model") if isinstance(message, Mapping) else value.get("modelId")
            if (model := string_or_none(named)) and model not in _MIRRORS:
                return header, model
    return header, None


# What is said, entry by entry.


class _Transcript:
    def __init__(self, path: Path, entries: Entries, window: databases.Window | None = None) -> None:
        header, model = _survey(entries)
        if window is None:
            index, window = path.with_name("sessions.json"), databases.Window("")
            if index.is_file():
                state = index.stat()
                window = _index(index, state.st_mtime_ns, state.st_size).get(str(header.get("id")), window)
        else:
            header = {**header, "id": window.session}
        self.head = _head(path, header, model, window)
        self.whole, self.parts = self.head.id, 1
        key = f":{window.key}"
        self.subagent = window.by_agents or ":subagent:" in key or ":cron:" in key
        self.in_a_room = window.in_a_room or any(kind in key for kind in (":group:", ":channel:", ":room:"))
        self.foreign = window.foreign or ":hook:" in key
        self.forwarded = window.forwarded
        self.opened = False
        self.title: str | None = None
        self.last: datetime | None = None

    def events(self, number: int, entry: Any) -> Iterator[Event]:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
            yield Flaw(f"line {number}", "not an object with a type")
            return
        if entry["type"] == "reset":
            yield from self.closing()
            self.opened, self.last, self.parts = False, None, self.parts + 1
            begun = moment(entry.get("timestamp"))
            self.head = replace(self.head, id=f"{self.whole}.{self.parts}", started_at=begun)
            return
        try:
            said = self._said(entry)
        except (ValueError, TypeError, RecursionError) as error:
            yield Flaw(f"line {number}", f"cannot be read: {error}")
            return
        if said and not self.opened:
            self.opened = True
            yield Opened(self.head)
        if said:
            self.last = said.at or self.last
            yield from said_apart(said, OPENCLAW)

    def closing(self) -> Iterator[Event]:
        if self.opened:
            yield Closed(title=self.title, ended_at=self.last)

    def _said(self, entry: Entry) -> Said | None:
        kind, at = entry["type"], moment(entry.get("timestamp"))
        if kind in _SUMMARIES:
            return _noted("assistant", entry.get("summary"), at, _SUMMARIES[kind])
        match kind:
            case "message":
                return self._message(entry, at)
            case "custom_message":
                return _noted("user", entry.get("content"), at, "injected context")
            case "session_info":
                self.title = string_or_none(entry.get("name")) or self.title
        return None

    def _message(self, entry: Entry, at: datetime | None) -> Said | None:
        message = entry.get("message")
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise ValueError("an entry without a message and its role")
        at = at or moment(message.get("timestamp"))
        match message["role"]:
            case "user":
                return self._user(message, at)
            case "assistant":
                content = message.get("content")
                parts = content if isinstance(content, list) else [content]
                asked = [part for part in parts if isinstance(part, Mapping) and str(part.get("type")) in _CALLS]
                text = text_of([part for part in parts if not any(part is call for call in asked)])
                given = (arguments_text(part.get("arguments", part.get("input"))) for part in asked)
                calls = tuple(
                    ToolCall(str(part.get("name") or ""), arguments, string_or_none(part.get("id")))
                    for part, arguments in zip(asked, given, strict=True)
                )
                if not text.strip() and not calls:
                    return None
                noise = "delivery mirror" if str(message.get("model")) in _MIRRORS else None
                return Said("assistant", text, at=at, calls=calls, noise=noise)
            case "toolResult" | "tool":
                # A command that ran and exited badly is no error to OpenClaw; to the one who learns from it, it is.
                code, error = mapping_or_empty(message.get("details")).get("exitCode"), message.get("isError")
                failed = error if isinstance(error, bool) else None
                if error is not True and isinstance(code, int):
                    failed = code != 0
                text, name = text_of(message.get("content")), string_or_none(message.get("toolName"))
                answers = string_or_none(message.get("toolCallId"))
                return Said("tool", text, name=name, at=at, answers=answers, failed=failed)
            case "bashExecution":
                # A command the person ran beside the agent.
                code = message.get("exitCode")
                text = f"$ {message.get('command') or ''}\n{message.get('output') or ''}"
                return Said("tool", text, name="bash", at=at, failed=code != 0 if isinstance(code, int) else None)
            case "system" | "developer" as role:
                return _noted(role, message.get("content"), at, None)
            case _:
                return _noted("user", message.get("content") or message.get("summary"), at, "injected context")

    def _user(self, message: Entry, at: datetime | None) -> Said | None:
        text, of_tool = text_of(message.get("content")), origin_of(message.get("content"))
        if not text.strip():
            return None
        words, sender = self._unwrapped(text)
        provenance = message.get("provenance")
        kind = provenance.get("kind") if isinstance(provenance, Mapping) else "external_user"
        spoken = next((noise for noise, beginning in _FROM_GATEWAY if words.startswith(beginning)), None)
        noise = spoken if words and kind != "internal_system" else "system event"
        if noise or self.foreign:
            return Said("user", text, at=at, noise=noise, origin=Origin.TOOL)
        if self.subagent or kind != "external_user" or words.startswith(_FROM_AGENTS):
            task = words.partition(_TASK)[2].lstrip(": \n") if words.startswith(_FROM_AGENTS) else words
            return Said("user", task or words, at=at, origin=of_tool or Origin.AGENT)
        noted = mapping_or_empty(message.get("__openclaw"))
        others = self.in_a_room or noted.get("senderIsOwner") is False
        number = mapping_or_empty(noted.get("transport")).get("messageId")
        if (noted.get("senderId"), number) in self.forwarded:
            of_tool = Origin.TOOL
        return Said("user", words, name=sender, at=at, origin=of_tool or (Origin.MEMBER if others else None))

    def _unwrapped(self, text: str) -> tuple[str, str | None]:
        """The words without what the gateway put around them, and who the gateway says wrote them."""
        sender, place = None, 0
        while wrapping := next(filter(None, (known.match(text, place) for known in _WRAPPINGS)), None):
            place = wrapping.end()
            block = wrapping.group(2) if wrapping.re in (_WRAPPED, _MARKED) else ""
            told = mapping_or_empty(parsed_or_none(block or ""))  # the gateway shortens long ones
            sender = sender or string_or_none(told.get("name")) or string_or_none(told.get("sender"))
            shared = wrapping.re is _STAMP and _ROOM.search(wrapping.group(0)) is not None
            self.in_a_room = self.in_a_room or shared or told.get("is_group_chat") is True
        hung = _BEHIND.search(text, place)
        words = text[place : hung.start() if hung else len(text)].strip()
        return _MESSAGE_ID.sub("", words).strip(), sender


def _noted(role: Any, content: object, at: datetime | None, noise: str | None) -> Said | None:
    text = text_of(content)
    return Said(role, text, at=at, noise=noise, origin=Origin.TOOL if noise else None) if text.strip() else None
