"""What a recorded session's events are as Turns. Pure: events in, what was said out.

Who the words are from is decided by the key that sent them and by the type of the event, never by what they say. A
system message sent over the API is the word of its sender: a key cannot make anyone an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from reverie.core.origin import Origin
from reverie.transcripts.intake import Intake, Redact
from reverie.transcripts.messages import arguments_text, text_of
from reverie.transcripts.projects import shown_name
from reverie.transcripts.recorded.session import HARNESS, Recorded, RecordedEvent
from reverie.transcripts.session import Head, Role, Said, ToolCall, Turn


def recorded_head(session: Recorded) -> Head:
    return Head(
        id=session.id,
        user=session.user or None,
        harness=HARNESS,
        agent=str(session.agent["id"]),
        title=session.title,
        started_at=session.created_at,
        project=shown_name(session.metadata.get("project")),
    )


def recorded_turns(session: Recorded, events: Iterable[RecordedEvent], speaker: Origin, redact: Redact) -> list[Turn]:
    """Numbered from 1: where they stand in their session is known only to who keeps it."""
    intake, head = Intake(session.user, redact), recorded_head(session)
    return [intake.turn(number, said, head) for number, said in enumerate(all_said(events, speaker), 1)]


def all_said(events: Iterable[RecordedEvent], speaker: Origin) -> Iterator[Said]:
    for event in events:
        reading = _SAID.get(event.type)
        said = reading({**event.told, "id": event.id}) if reading else None
        if said is None:
            continue
        by_sender = said.role in ("user", "system")
        yield replace(said, at=event.at, origin=speaker if by_sender else None)


def _message(role: Role, told: Mapping[str, Any]) -> Said:
    return Said(role, text_of(told.get("content")))


def _outcome(told: Mapping[str, Any]) -> Said:
    rubric = told.get("rubric")
    asked = rubric.get("content") if isinstance(rubric, Mapping) else None
    return Said("user", "\n".join(text for text in (told.get("description"), asked) if isinstance(text, str) and text))


def _confirmation(told: Mapping[str, Any]) -> Said | None:
    """Yes and no are clicks; a reason is words."""
    reason = told.get("deny_message")
    return Said("user", reason) if isinstance(reason, str) and reason else None


def _call(told: Mapping[str, Any]) -> Said:
    """A result names the event that asked for it."""
    name = "/".join(str(told[part]) for part in ("mcp_server_name", "name") if told.get(part))
    return Said("assistant", "", calls=(ToolCall(name, arguments_text(told.get("input")), str(told["id"])),))


def _result(told: Mapping[str, Any]) -> Said:
    call = next((told[name] for name in ("tool_use_id", "custom_tool_use_id", "mcp_tool_use_id") if name in told), None)
    failed = told.get("is_error")
    return Said(
        "tool",
        text_of(told.get("content")),
        answers=call if isinstance(call, str) else None,
        failed=failed if isinstance(failed, bool) else None,
    )


_SAID: Mapping[str, Callable[[Mapping[str, Any]], Said | None]] = {
    "user.message": partial(_message, "user"),
    "user.define_outcome": _outcome,
    "user.tool_confirmation": _confirmation,
    "user.tool_result": _result,
    "user.custom_tool_result": _result,
    "system.message": partial(_message, "system"),
    "agent.message": partial(_message, "assistant"),
    "agent.tool_use": _call,
    "agent.mcp_tool_use": _call,
    "agent.custom_tool_use": _call,
    "agent.tool_result": _result,
    "agent.mcp_tool_result": _result,
}


def redact_deeply(told: Any, redact: Redact) -> Any:
    """The same with every text redacted. What is base64 is no text."""
    match told:
        case str():
            return redact(told)[0]
        case list():
            return [redact_deeply(one, redact) for one in told]
        case {"type": "base64"}:
            return told
        case dict():
            return {name: redact_deeply(one, redact) for name, one in told.items()}
        case _:
            return told
