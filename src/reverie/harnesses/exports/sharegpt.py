"""ShareGPT: `{"conversations": [{"from": "human", "value": "…"}, …]}`, and the trajectories of Hermes.

In a trajectory the model's calls stand in the text as `<tool_call>`, what came back as one message with a
`<tool_response>` for each call, and thoughts as `<think>`, which were not said. `completed` is the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.harnesses.inline_tool_calls import calls_out_of, how_call_failed, json_object, spoken
from reverie.transcripts.files.json_arrays import events_of
from reverie.transcripts.files.json_streams import JsonList
from reverie.transcripts.files.json_text import dumped, string_or_none
from reverie.transcripts.messages import origin_of, role_of, text_of
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

_MARK = re.compile(rb'"conversations"\s*:\s*\[\s*\{\s*"(?:from|value|role|content)"\s*:')
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_SPOKEN_BY_HARNESS = "You are a function calling AI model."


class ShareGPTReader:
    name = "sharegpt"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        return 0.95 if start.lstrip()[:1] in (b"[", b"{") and _MARK.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        return events_of(path, lambda value, where: _conversation(value, where, path))


def _conversation(value: Any, where: str, path: Path) -> Iterator[Event]:
    messages = value.get("conversations") if isinstance(value, Mapping) else None
    if not isinstance(messages, JsonList):
        yield Flaw(where, "not an object with a list of `conversations`")
        return
    yield Opened(_head(value, where, path))
    for number, message in enumerate(messages, 1):
        yield _said(message, f"{where}, message {number}")


def _head(value: Mapping[str, Any], where: str, path: Path) -> Head:
    metadata = value.get("metadata")
    about = {**(metadata if isinstance(metadata, Mapping) else {}), **value}
    number = about.get("prompt_index", where.rpartition(" ")[2])
    identity = about.get("id")
    completed = about.get("completed")
    toolsets = about.get("toolsets_used")
    facts = {
        "model": about.get("model"),
        "toolsets": ", ".join(map(str, toolsets)) if isinstance(toolsets, list) else None,
    }
    return Head(
        id=f"sharegpt:{identity if identity not in (None, '') else f'{path.stem}-{number}'}",
        harness="sharegpt",
        started_at=moment(about.get("timestamp")),
        outcome=float(completed) if isinstance(completed, bool) else None,
        facts={name: str(fact) for name, fact in facts.items() if fact},
    )


def _said(message: Any, where: str) -> Said | Flaw:
    speaker = message.get("from", message.get("role")) if isinstance(message, Mapping) else None
    role = role_of(speaker)
    if role is None:
        return Flaw(where, f"unknown speaker {speaker!r}")
    content = message.get("value", message.get("content"))
    text = text_of(content)
    if role == "assistant":
        text, calls = calls_out_of(spoken(text))
        return Said(role, text, calls=calls)
    if role == "tool":
        return _result(text)
    generated = role == "system" and text.startswith(_SPOKEN_BY_HARNESS)
    return Said(role, text, noise="system prompt" if generated else None, origin=origin_of(content))


def _result(text: str) -> Said:
    """One message, however many calls it answers: it names a call only if it answers just one."""
    responses = [json_object(inside) or {"content": inside} for inside in _RESPONSE.findall(text)]
    if not responses:
        return Said("tool", text, failed=how_call_failed(json_object(text)))
    words = [response.get("content", response) for response in responses]
    ends = [how_call_failed(word if isinstance(word, Mapping) else json_object(str(word))) for word in words]
    said = (word if isinstance(word, str) else dumped(word) for word in words)
    result = Said("tool", "\n".join(said), failed=_together(ends))
    if len(responses) > 1:
        return result
    return replace(
        result, answers=string_or_none(responses[0].get("tool_call_id")), name=string_or_none(responses[0].get("name"))
    )


def _together(ends: list[bool | None]) -> bool | None:
    if True in ends:
        return True
    return None if None in ends else False
