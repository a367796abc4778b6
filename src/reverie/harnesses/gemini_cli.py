"""Gemini CLI: its transcripts, the instructions a night may change, and what puts Reverie into it.

Transcripts are `tmp/<project>/chats/session-<time>-<id>.jsonl`, subagents in a folder named for their parent. The first
line tells the session; then a line for each message, written again under the same id when its tools have answered, and
`$set` lines that change the head or tell its messages anew, when it begins, is resumed or compressed: a prompt that
stands only there is the program's own. Before 2026 a session was one JSON object with a list of `messages`. What was
said is kept also where it was rewound or compressed.

The target is `gemini`, the GEMINI.md in its folder, read in every session. A project's own goes by its path. The MCP
server and a hook for the end of a session stand in `settings.json`, which may hold comments. (Seen in 0.61.0.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.injected import GEMINI_CLI, said_apart
from reverie.harnesses.installers import FolderInstaller, InstallPlan, Launch, skill_file, write_lines
from reverie.harnesses.markdown import MarkdownTarget, agent_target, fixed, own_instructions
from reverie.memory.targets import HomePlaces
from reverie.system.installation import JsonMember
from reverie.transcripts.json_files import first_line, json_lines, whole_json
from reverie.transcripts.json_streams import JsonList, mapping_or_empty, string_or_none
from reverie.transcripts.messages import arguments_text, text_of
from reverie.transcripts.readers import WHOLE_FILE, Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall, project_folder, project_name

Record = Mapping[str, Any]

_FILES_FOLLOW = re.compile(r"\s*(?:--- Content from referenced files ---|Content from @[^\n]+:)\s*")
_FIRST_BYTES = re.compile(rb'\s*\{\s*"sessionId"\s*:\s*"[^"]*",\s*"projectHash"\s*:')
_ROOT_FILE = ".project_root"  # beside `chats`: the folder the work was in
_LONGEST_PATH = 4096
_SURVEYED_LINES = 5
_TOLD_ANEW = "history told anew"
_UNANSWERED = {"scheduled", "validating", "awaiting_approval", "executing"}


class GeminiCliReader:
    name = "gemini-cli"
    places: tuple[str, ...] = ("${GEMINI_CLI_HOME:-~}/.gemini/tmp",)

    def recognises(self, path: Path, start: bytes) -> float:
        if path.suffix not in (".json", ".jsonl"):
            return 0.0
        head = {"sessionId", "projectHash", "startTime"} <= mapping_or_empty(first_line(start)).keys()
        return 0.95 if head or _FIRST_BYTES.match(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        about: dict[str, str] = {}
        for record in islice(_records(path), _SURVEYED_LINES):
            told = {} if isinstance(record, Flaw) else mapping_or_empty(record[1])
            told = mapping_or_empty(told.get("$set")) or told
            about |= {
                key: text for key in ("sessionId", "startTime", "kind") if (text := string_or_none(told.get(key)))
            } | about
        folder, chats = _root(path), path.parent.name == "chats"
        subagent = about.get("kind") == "subagent"
        chat = _Chat(
            Head(
                id=f"gemini-cli:{about.get('sessionId') or path.stem}",
                harness="gemini-cli",
                agent=Path(folder).name or None if folder else None,
                started_at=moment(about.get("startTime")),
                parent=f"gemini-cli:{path.parent.name}" if subagent and not chats else None,
                facts={"kind": "subagent"} if subagent else {},
                project=project_name(folder),
                project_path=project_folder(folder),
            )
        )
        opened = False
        for record in _records(path):
            for event in [record] if isinstance(record, Flaw) else chat.events(*record):
                if isinstance(event, Said) and not opened:
                    opened = True
                    yield Opened(chat.head)
                yield event
        if opened:
            yield Closed(title=chat.title, ended_at=chat.last)


def _records(path: Path) -> Iterator[tuple[str, Any] | Flaw]:
    if path.suffix == ".jsonl":
        for line in json_lines(path):
            yield line if isinstance(line, Flaw) else (f"line {line[0]}", line[1])
        return
    value = whole_json(path)
    if isinstance(value, Flaw):
        yield value
    elif isinstance(value, Mapping) and isinstance(messages := value.get("messages"), JsonList):
        yield "the head", {"$set": {key: value.get(key) for key in ("sessionId", "startTime", "kind", "summary")}}
        yield from ((f"message {number}", message) for number, message in enumerate(messages, 1))
    else:
        yield Flaw(WHOLE_FILE, "not an object with a list of messages")


def _root(path: Path) -> str | None:
    """The folder of the work, as the program notes it beside `chats`."""
    for folder in (here.parent for here in path.parents if here.name == "chats"):
        try:
            with (folder / _ROOT_FILE).open(encoding="utf-8") as file:
                return file.read(_LONGEST_PATH).strip() or None
        except (OSError, ValueError):
            return None
    return None


@dataclass(slots=True)
class _Chat:
    """One session while it is read, with what later lines need to know of earlier ones."""

    head: Head
    title: str | None = None
    last: datetime | None = None
    seen: set[int] = field(default_factory=set)  # hashes of the ids of messages and calls

    def events(self, place: str, record: Any) -> Iterator[Said | Flaw]:
        if not isinstance(record, Mapping):
            yield Flaw(place, "not an object")
            return
        changed = mapping_or_empty(record.get("$set"))
        self.title = string_or_none(changed.get("summary")) or self.title
        told = changed.get("messages", ())
        try:
            for message in told if isinstance(told, list | JsonList) else ():
                yield from self._message(mapping_or_empty(message), anew=True)
            if isinstance(record.get("type"), str):
                yield from self._message(record)
        except (ValueError, TypeError, RecursionError) as error:
            yield Flaw(place, f"cannot be read: {error}")

    def _message(self, message: Record, *, anew: bool = False) -> Iterator[Said]:
        at = moment(message.get("timestamp"))
        if message.get("type") == "user":
            if self._first(message.get("id")):
                said = self._user(message, at)
                yield from (replace(one, origin=Origin.TOOL, noise=_TOLD_ANEW) for one in said) if anew else said
        elif message.get("type") == "gemini":
            yield from self._gemini(message, at)
        self.last = at or self.last

    def _first(self, name: object) -> bool:
        key = hash(name) if isinstance(name, str) else None
        known = key in self.seen
        if key is not None:
            self.seen.add(key)
        return not known

    def _gemini(self, message: Record, at: datetime | None) -> Iterator[Said]:
        text = text_of(message.get("content")) if self._first(message.get("id")) else ""
        listed = message.get("toolCalls")
        calls = [mapping_or_empty(call) for call in listed] if isinstance(listed, list | JsonList) else []
        # A call is told again and again until it is answered; only then it is kept.
        done = [call for call in calls if call.get("status") not in _UNANSWERED and self._first(call.get("id"))]
        made = tuple(
            ToolCall(str(call.get("name") or ""), arguments_text(call.get("args")), string_or_none(call.get("id")))
            for call in done
        )
        if text.strip() or made:
            yield Said("assistant", text, at=at, calls=made)
        for call in done:
            answer, name = _answer(call.get("result")), string_or_none(call.get("name"))
            failed = {"success": False, "error": True}.get(str(call.get("status")))
            yield Said("tool", answer, name=name, at=at, answers=string_or_none(call.get("id")), failed=failed)

    def _user(self, message: Record, at: datetime | None) -> Iterator[Said]:
        """Take for the person's only what the program shows of a prompt, not what else the model was told with it."""
        content, shown = (_parts(message[key]) if message.get(key) else [] for key in ("content", "displayContent"))
        for answer in (mapping_or_empty(part.get("functionResponse")) for part in content):
            if answer and self._first(answer.get("id")):
                name = string_or_none(answer.get("name"))
                yield Said("tool", _answer([{"functionResponse": answer}]), name=name, at=at)
        texts = [text for part in content if (text := _words(part))]
        own = [text for part in shown if (text := _words(part))]
        if not own:
            files = next((place for place, text in enumerate(texts) if _FILES_FOLLOW.fullmatch(text)), len(texts))
            own = texts[:files]
        several = not shown and sum(bool(part.get("text")) for part in content) > 1  # the person's, or a file's
        subagent = self.head.facts.get("kind") == "subagent"
        for piece in (piece for text in own for piece in said_apart(Said("user", text, at=at), GEMINI_CLI)):
            origin = piece.origin
            if piece.role == "user" and subagent:
                origin = Origin.AGENT
            elif piece.role == "user" and (several or "\n\n" in piece.text.strip()):
                origin = Origin.MEMBER  # what is piped into `gemini` stands before the prompt, behind a blank line
            yield Said(piece.role, piece.text, name=piece.name, at=at, origin=origin)
        if foreign := "\n".join(text for text in texts if text not in own).strip():
            yield Said("tool", foreign, name="attached context", at=at, origin=Origin.TOOL)


def _parts(content: object) -> list[Record]:
    if isinstance(content, str):
        return [{"text": content}]
    return [mapping_or_empty(part) for part in (content if isinstance(content, list | JsonList) else [content])]


def _words(part: Record) -> str:
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return next((f"[{kind}]" for kind in ("inlineData", "fileData") if kind in part), "")


def _answer(result: object) -> str:
    """The words of a tool, in its `functionResponse` or wherever else it put them."""
    told = list[str]()
    for part in _parts(result):
        response = mapping_or_empty(mapping_or_empty(part.get("functionResponse")).get("response"))
        words = response.get("output", response.get("error"))
        told.append(words if isinstance(words, str) else arguments_text(response) if response else _words(part))
    return "\n".join(text for text in told if text)


FOLDER = "${GEMINI_CLI_HOME:-~}/.gemini"


def gemini_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    listed = fixed(own_instructions("Gemini CLI", "GEMINI.md"))
    yield agent_target("gemini", "gemini-cli", "Gemini CLI", where.place(FOLDER), listed)


class GeminiCliInstaller(FolderInstaller):
    name, title, reader, place = "gemini", "Gemini CLI", "gemini-cli", FOLDER

    def plan(self, where: HomePlaces, launch: Launch) -> InstallPlan:
        folder, server = self.folder(where), launch.server(self.name, self.target)
        settings, keys = folder / "settings.json", ("mcpServers", "reverie")
        hook = {"type": "command", "name": "reverie", "command": launch.line(*launch.queue(self.name))}
        return InstallPlan(
            [
                JsonMember(settings, "the MCP server", keys, server, json5=True),
                self.session_hook(settings, hook, json5=True),
                skill_file(folder),
            ]
        )

    def rehearse(self, where: HomePlaces, sentence: str, number: int) -> Mapping[str, Any]:
        session, at = f"00000000-0000-4000-8000-{number:012}", f"2026-01-{number:02}T09:00:00.000Z"
        path = self.folder(where) / f"tmp/rehearsal/chats/session-2026-01-{number:02}T09-00-{session[:8]}{number}.jsonl"
        head = {"sessionId": session, "projectHash": "0" * 64, "startTime": at, "lastUpdated": at}
        said = {"id": f"m{number}", "timestamp": at, "type": "user", "content": [{"text": sentence}]}
        return {"transcript_path": str(write_lines(path, head, said))}
