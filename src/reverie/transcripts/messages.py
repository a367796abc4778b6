"""Messages in the shapes of Chat Completions and Anthropic Messages, which most transcripts share; and the plain form.

One message is one Turn, whatever its parts: evidence is cited by the number of the message.

The plain form of a session is `{"id", "user", "started_at", "title", "project", "messages": [{"role", "content", …}]}`:
one JSON object, a JSON list of them, or JSON Lines with one session on each line. It is also what `home.sessions.add`
takes as a dict. Only `messages` is required; a session without an id is named after its content, so that adding it
twice adds it once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.errors import NotATranscript
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Origin
from reverie.transcripts.json_files import events_of
from reverie.transcripts.json_streams import JsonList, StreamedObject, dumped, string_or_none
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Role, Said, ToolCall, project_folder, project_name, shown_name

_NAMES: dict[Role, str] = {
    "system": "system",
    "developer": "developer",
    "user": "user human",
    "assistant": "assistant gpt ai model bot",
    "tool": "tool function observation tool_response toolresult ipython",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
_NOT_TYPED = ("synthetic", "isMeta")  # how programs mark what they put into a person's place
_TEXT_PARTS = {"text", "input_text", "output_text"}
_UNSPOKEN_PARTS = {"thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text"}


def role_of(value: object) -> Role | None:
    return _ROLES.get(value.lower()) if isinstance(value, str) else None


def is_message(value: object) -> bool:
    return isinstance(value, Mapping) and role_of(value.get("role")) is not None


def read_message(message: Mapping[str, Any]) -> Said:
    """One message. Raises ValueError with the reason if it has no role we know."""
    role = role_of(message.get("role"))
    if role is None:
        raise ValueError(f"unknown role {message.get('role')!r}")
    content = message.get("content")
    results: list[Mapping[str, Any]] = []
    calls, called = openai_calls(message.get("tool_calls")), message.get("function_call")
    if isinstance(called, Mapping):  # the older form of one call
        calls = (*calls, _openai_call(called))
    if not isinstance(content, str):
        results, calls = tool_results(content), (*calls_in(content), *calls)
    only_results = results and len(results) == (len(content) if isinstance(content, list) else 1)
    if role == "user" and (only_results or message.get("tool_call_id")):
        role = "tool"
    first = results[0] if results else {}
    flags = (first.get("is_error"), message.get("is_error"), message.get("failed"))
    return Said(
        role=role,
        text=text_of(content),
        name=string_or_none(message.get("name") or message.get("tool_name")),
        at=moment(message.get("at") or message.get("timestamp") or message.get("created_at")),
        calls=calls,
        answers=string_or_none(message.get("tool_call_id") or first.get("tool_use_id")),
        failed=next((flag for flag in flags if isinstance(flag, bool)), None),
        origin=_weaker(_told(message), origin_of(content)),
    )


def origin_of(content: object) -> Origin | None:
    """Words of a tool inside anyone's message, or what says of itself that nobody typed it: nothing in it may count as
    theirs."""
    parts = content if isinstance(content, list) else [content]
    return _weaker(*(_told(part) for part in parts if isinstance(part, Mapping)))


def _told(part: Mapping[str, Any]) -> Origin | None:
    """Whose it says it is; it can lower what its role makes it, never raise it."""
    if part.get("type") == "tool_result" or any(part.get(mark) is True for mark in _NOT_TYPED):
        return Origin.TOOL
    named = part.get("origin")
    return Origin(named) if isinstance(named, str) and named in set(Origin) else None


def _weaker(*origins: Origin | None) -> Origin | None:
    return min(filter(None, origins), key=lambda origin: origin.strength, default=None)


def text_of(content: object) -> str:
    """The words of a content value: a string, or a list of parts. What is not text is named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of([content])
    if not isinstance(content, list):
        return "" if content is None else dumped(content)
    return "\n".join(text for part in content if (text := _part_text(part)))


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    kind = string_or_none(part.get("type"))
    if kind in _TEXT_PARTS or (kind is None and "text" in part):
        return string_or_none(part.get("text")) or ""
    if kind == "tool_result":
        return text_of(part.get("content"))
    if kind in _UNSPOKEN_PARTS or kind == "tool_use":
        return ""
    return f"[{kind}]" if kind else ""


def tool_results(content: object) -> list[Mapping[str, Any]]:
    return _parts(content, "tool_result")


def calls_in(content: object) -> tuple[ToolCall, ...]:
    """Anthropic `tool_use` parts."""
    return tuple(
        ToolCall(str(part.get("name", "")), arguments_text(part.get("input")), string_or_none(part.get("id")))
        for part in _parts(content, "tool_use")
    )


def openai_calls(calls: object) -> tuple[ToolCall, ...]:
    """Chat Completions `tool_calls`."""
    return tuple(_openai_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()


def _openai_call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    arguments, name = arguments_text(inner.get("arguments")), str(inner.get("name", ""))
    return ToolCall(name, arguments, string_or_none(call.get("id") or call.get("call_id")))


def arguments_text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else dumped(arguments or {})


def _parts(content: object, kind: str) -> list[Mapping[str, Any]]:
    parts = content if isinstance(content, list) else [content]
    return [part for part in parts if isinstance(part, Mapping) and part.get("type") == kind]


_HAS_MESSAGES = re.compile(rb'"messages"\s*:\s*\[\s*(?:\{|\])')  # a list: translations have "messages", too


class PlainReader:
    name = "plain"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        return 0.5 if start.lstrip()[:1] in (b"{", b"[") and _HAS_MESSAGES.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        def session_or_flaw(session: Any, where: str) -> Iterator[Event]:
            try:
                yield from plain_events(session, where)
            except NotATranscript as error:
                yield Flaw(where, str(error))

        return events_of(path, session_or_flaw)


def plain_events(session: Mapping[str, Any], where: str = "the session") -> Iterator[Event]:
    """The stream of one session dict. Raises `NotATranscript` when it is not one."""
    messages = session.get("messages") if isinstance(session, Mapping) else None
    if not isinstance(messages, JsonList):
        raise NotATranscript(
            f"A session without a list of messages was found (it is {_described(session)}).",
            expected='{"id", "user", "started_at", "messages": [{"role", "content"}, …]}',
        )
    identity = session.get("id")
    user = session.get("user") or session.get("user_id")
    outcome = session.get("outcome", session.get("reward"))
    folder = string_or_none(session.get("cwd"))
    yield Opened(
        Head(
            id=str(identity) if identity not in (None, "") else _named_by_content(session),
            user=str(user) if user not in (None, "") else None,
            harness=str(session.get("harness") or "plain"),
            agent=string_or_none(session.get("agent")),
            title=string_or_none(session.get("title")),
            started_at=moment(session.get("started_at") or session.get("created_at")),
            ended_at=moment(session.get("ended_at")),
            parent=string_or_none(session.get("parent")),
            outcome=float(outcome) if isinstance(outcome, int | float) else None,
            project=shown_name(session.get("project")) or project_name(folder),
            project_path=project_folder(folder),
        )
    )
    for number, message in enumerate(messages, 1):
        if is_message(message):
            yield read_message(message)
        else:
            yield Flaw(f"{where}, message {number}", f"not a message with a known role: {_described(message)}")


def _named_by_content(session: Mapping[str, Any]) -> str:
    if isinstance(session, StreamedObject):
        return f"plain:{session.sha256()[:24]}"
    try:
        content = canonical(session)
    except (ValueError, TypeError):  # only what was handed in by Python code can be so
        content = json.dumps(session, sort_keys=True, default=str).encode()
    return f"plain:{sha256(content)[:24]}"


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, list(value)[:6])) or 'no keys'}"
    return f"{type(value).__name__} {str(value)[:40]!r}"
