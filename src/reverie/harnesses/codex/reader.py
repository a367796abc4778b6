"""Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, one `{timestamp, type, payload}` on each line.

What the model saw and said are the `response_item` lines; `event_msg` lines tell most of it a second time and
are left out, so that nothing is counted twice. Before September 2025 the items stood bare, without envelope
or time, and before that in one JSON object of `{session, items}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from pathlib import Path, PureWindowsPath
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.injected import CODEX, said_apart, written_openings
from reverie.transcripts.json_files import first_line, json_lines, whole_json
from reverie.transcripts.json_streams import JsonList, mapping_or_empty, parsed_or_none, string_or_none
from reverie.transcripts.messages import arguments_text, origin_of, role_of, text_of
from reverie.transcripts.readers import Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall, project_folder, project_name

Payload = Mapping[str, Any]

_SURVEYED_LINES = 100
_ZSTD = b"\x28\xb5\x2f\xfd"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ENVELOPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_FIRST_BYTES = re.compile(
    rb'\s*\{\s*"timestamp"\s*:\s*"[^"]*",\s*(?:"ordinal"\s*:\s*\d+,\s*)?"type"\s*:\s*"session_meta"'
)
_FIRST_BYTES_OF_OBJECT = re.compile(rb'\s*\{\s*"session"\s*:\s*\{.*?"items"\s*:', re.DOTALL)
_INJECTED = written_openings("codex")
_SPEAKS = {"user": "user", "developer": "developer_instructions"}  # whose part of a message is the speaker's own
_KINDS = "content_item_kinds"
_CWD = re.compile(r"<cwd>([^<]+)</cwd>")
_EXIT = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines): ?[^\n]*\n)*"
    r"(?:Exit code: |Process exited with code )(-?\d+)\n"
)
_OTHER_CALLS = {
    "local_shell_call": ("local_shell", "action"),
    "web_search_call": ("web_search", "action"),
    "tool_search_call": ("tool_search", "arguments"),
    "image_generation_call": ("image_generation", "revised_prompt"),
}


class CodexReader:
    name = "codex"
    places: tuple[str, ...] = ("${CODEX_HOME:-~/.codex}/sessions", "${CODEX_HOME:-~/.codex}/archived_sessions")

    def recognises(self, path: Path, start: bytes) -> float:
        named = path.name.startswith("rollout-")
        if path.suffix == ".zst":
            return 0.9 if named and start.startswith(_ZSTD) else 0.0
        if path.suffix == ".json":
            return 0.9 if named and _FIRST_BYTES_OF_OBJECT.match(start) else 0.0
        lines = (mapping_or_empty(first_line(piece)) for piece in start.split(b"\n")[:5])
        enveloped = (str(one.get("type")) in _ENVELOPES and isinstance(one.get("payload"), Mapping) for one in lines)
        if _FIRST_BYTES.match(start) or any(enveloped):
            return 0.95
        meta = mapping_or_empty(first_line(start)) if named else {}
        bare = {"id", "timestamp"} <= meta.keys() and "type" not in meta and ("instructions" in meta or "git" in meta)
        return 0.9 if bare else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        if path.suffix == ".zst":
            yield Flaw("the file", "compressed; unpack it with `zstd -d` and add the .jsonl")
            return
        rollout = _Rollout.surveyed(path)
        opened = False
        for item in _items(path):
            for event in [item] if isinstance(item, Flaw) else rollout.events(item):
                if isinstance(event, Said) and not opened:
                    opened = True
                    yield Opened(rollout.head)
                yield event
        if opened:
            yield Closed(ended_at=rollout.last)


# One shape for all eras.


@dataclass(frozen=True, slots=True)
class _Item:
    where: str
    kind: str
    payload: Payload
    at: datetime | None = None
    ordinal: int | None = None


def _items(path: Path) -> Iterator[_Item | Flaw]:
    if path.suffix != ".json":
        yield from (line if isinstance(line, Flaw) else _item(*line) for line in json_lines(path))
        return
    value = whole_json(path)
    if isinstance(value, Flaw):
        yield value
    elif isinstance(value, Mapping) and isinstance(items := value.get("items"), JsonList):
        head = {"id": None, "git": None, **mapping_or_empty(value.get("session"))}
        yield from (_item(number, line) for number, line in enumerate(chain([head], items)))
    else:
        yield Flaw("the file", "not an object with a list of items")


def _item(number: int, line: Any) -> _Item | Flaw:
    where = f"line {number}"
    if not isinstance(line, Mapping):
        return Flaw(where, "not an object")
    if isinstance(payload := line.get("payload"), Mapping):
        ordinal, kind = line.get("ordinal"), line.get("type")
        place = ordinal if isinstance(ordinal, int) else None
        return _Item(where, kind if isinstance(kind, str) else "", payload, moment(line.get("timestamp")), place)
    if "payload" in line:
        return Flaw(where, "the payload is not an object")
    bare_meta = "type" not in line and "id" in line and ("instructions" in line or "git" in line)
    return _Item(where, "session_meta" if bare_meta else "response_item", line)


# What is known before the first word.


@dataclass(slots=True)
class _Rollout:
    head: Head
    subagent: bool
    first_own: int = 0
    headless: bool = False
    tools: dict[str, str] = field(default_factory=dict)
    last: datetime | None = None

    @classmethod
    def surveyed(cls, path: Path) -> _Rollout:
        meta, model, found_cwd, first = _first_facts(islice(_items(path), _SURVEYED_LINES))
        begun, git = mapping_or_empty(meta.get("source")), mapping_or_empty(meta.get("git"))
        source = begun.get("subagent", begun.get("internal"))
        spawned = mapping_or_empty(mapping_or_empty(source).get("thread_spawn"))
        parent = string_or_none(meta.get("parent_thread_id")) or string_or_none(spawned.get("parent_thread_id"))
        cwd = string_or_none(meta.get("cwd")) or found_cwd
        # The folder of the repository that work in one of its folders was done in, where its name stands in the path.
        url, folder = string_or_none(git.get("repository_url")), cwd
        name = PureWindowsPath(url).name.removesuffix(".git") if url else ""
        if cwd and name:
            folders = (one for one in (PureWindowsPath(cwd), *PureWindowsPath(cwd).parents) if one.name == name)
            folder = cwd[: len(str(next(folders, cwd)))]
        facts = {
            "cwd": cwd,
            "branch": git.get("branch"),
            "model": model,
            "version": meta.get("cli_version"),
            "forked_from": meta.get("forked_from_id"),
            "agent_type": meta.get("agent_role") or spawned.get("agent_role"),
        }
        # The file's own id: a thread that was reverted goes on in a second file under the same thread id.
        in_name = _UUID.search(path.stem)
        own = in_name.group(0) if in_name else string_or_none(meta.get("id")) or path.stem
        head = Head(
            id=f"codex:{own}",
            harness="codex",
            agent=PureWindowsPath(cwd).name or None if cwd else None,
            started_at=moment(meta.get("timestamp")) or first,
            parent=f"codex:{parent}" if parent else None,
            facts={key: text for key, value in facts.items() if (text := string_or_none(value))},
            project=project_name(folder),
            project_path=project_folder(folder),
        )
        start = meta.get("subagent_history_start_ordinal")
        subagent, first_own = parent is not None or source is not None, start if isinstance(start, int) else 0
        return cls(head, subagent, first_own, meta.get("source") == "exec")

    def events(self, item: _Item) -> Iterator[Said | Flaw]:
        if item.ordinal is not None and item.ordinal < self.first_own:
            return  # what a subagent inherited from its parent, who has it too
        try:
            said = self._said(item)
        except (ValueError, TypeError, RecursionError) as error:
            yield Flaw(item.where, f"cannot be read: {error}")
            return
        if said:
            self.last = item.at or self.last
            for one in said_apart(said, CODEX):
                # `codex exec -` takes what is piped into it for the prompt: nobody knows who wrote several lines.
                unknown = self.headless and one.role == "user" and one.origin is None and "\n" in one.text.strip()
                yield replace(one, origin=Origin.MEMBER) if unknown else one

    def _said(self, item: _Item) -> Said | None:
        payload = item.payload
        kind = payload.get("type") or ("message" if "role" in payload else None)
        match item.kind, kind:
            case "compacted", _:
                text = string_or_none(payload.get("message"))
                return Said("assistant", text, at=item.at, noise="compact summary") if text else None
            case ("inter_agent_communication", _) | ("response_item", "agent_message"):
                text = text_of(payload.get("content"))
                author = string_or_none(payload.get("author"))
                return Said("user", text, name=author, at=item.at, origin=Origin.AGENT) if text.strip() else None
            case "response_item", "message":
                return self._message(item)
            case "response_item", "function_call" | "custom_tool_call":
                arguments = payload.get("arguments") if kind == "function_call" else payload.get("input")
                return self._call(item, str(payload.get("name") or ""), arguments)
            case "response_item", "function_call_output" | "custom_tool_call_output":
                return self._output(item)
            case "response_item", str() if kind in _OTHER_CALLS:
                name, key = _OTHER_CALLS[kind]
                return self._call(item, name, payload.get(key))
        return None

    def _message(self, item: _Item) -> Said | None:
        role, content = role_of(item.payload.get("role")), item.payload.get("content")
        if role is None or not isinstance(content, str | list):
            raise ValueError("a message without a known role or without content")
        own = parts = content if isinstance(content, list) else [content]
        if role in _SPEAKS:
            # Codex tells where each part is from (0.16x); before, its first words do. Where only its kind is told:
            # that, if no person writes it (the results of a review). What a hook adds is a developer's message like
            # any other, so that without a provenance none of those is the operator's.
            noted = mapping_or_empty(item.payload.get("internal_chat_message_metadata_passthrough"))
            about, kinds = (
                told if isinstance(told := noted.get(name), list) and len(told) == len(parts) else [None] * len(parts)
                for name in ("content_item_metadata", _KINDS)
            )
            own = []
            for part, each, kind in zip(parts, about, kinds, strict=True):
                source = string_or_none(mapping_or_empty(mapping_or_empty(each).get("provenance")).get("type"))
                source = source or (kind if isinstance(kind, str) and not kind.startswith("user.") else None)
                spoken = source == _SPEAKS[role] or (source is None and role == "user")
                own += [part] if spoken and not text_of([part]).lstrip().startswith(_INJECTED) else []
        text = text_of(own or content)
        if not text.strip():
            return None
        if not own:
            hook = role == "developer" and not text.lstrip().startswith("<")
            return Said(role, text, at=item.at, noise=None if hook else "written by the harness", origin=Origin.TOOL)
        origin = origin_of(own) or (Origin.AGENT if self.subagent else None) if role == "user" else None
        return Said(role, text, at=item.at, origin=origin)

    def _call(self, item: _Item, name: str, arguments: object) -> Said:
        call = string_or_none(item.payload.get("call_id")) or string_or_none(item.payload.get("id"))
        if call:
            self.tools[call] = name
        return Said("assistant", "", at=item.at, calls=(ToolCall(name, arguments_text(arguments), call),))

    def _output(self, item: _Item) -> Said:
        call = string_or_none(item.payload.get("call_id"))
        output, failed = item.payload.get("output"), None
        if isinstance(output, str) and output.startswith('{"output":'):
            output = parsed_or_none(output) or output  # cut short by Codex, it is still what the tool said
        if isinstance(output, Mapping):
            text = text_of(output.get("output", output.get("content")))
            code, success = mapping_or_empty(output.get("metadata")).get("exit_code"), output.get("success")
            failed = code != 0 if isinstance(code, int) else not success if isinstance(success, bool) else None
        else:
            text = text_of(output)
            failed = told.group(1) != "0" if (told := _EXIT.match(text)) else None
        name = string_or_none(item.payload.get("name")) or (self.tools.pop(call, None) if call else None)
        return Said("tool", text, name=name, at=item.at, answers=call, failed=failed)


def _first_facts(items: Iterable[_Item | Flaw]) -> tuple[Payload, str | None, str | None, datetime | None]:
    """The first session_meta (a fork repeats its parent's behind its own), model, folder and time."""
    meta: Payload = {}
    model = cwd = None
    first: datetime | None = None
    for item in items:
        if isinstance(item, Flaw):
            continue
        first = first or item.at
        if item.kind == "session_meta":
            meta = meta or item.payload
        elif item.kind == "turn_context":
            model, cwd = string_or_none(item.payload.get("model")), cwd or string_or_none(item.payload.get("cwd"))
        elif item.kind == "response_item" and not cwd and "content" in item.payload:
            # The bare era tells the working directory only here.
            parts = item.payload["content"] if isinstance(item.payload["content"], list) else []
            texts = (part.get("text") for part in parts if isinstance(part, Mapping))
            told = next((found for text in texts if isinstance(text, str) and (found := _CWD.search(text))), None)
            cwd = told.group(1).strip() if told else None
        if meta and model:
            break
    return meta, model, cwd, first


# What is said.
