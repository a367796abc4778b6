"""What was asked, what is answered, and how that looks as Chat Completions and as Messages, whole and as a stream."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Wire = Literal["openai", "anthropic", "responses", "gemini"]
_ENDINGS: dict[str, Wire] = {
    "/chat/completions": "openai",
    "/messages": "anthropic",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
_WORDS_AT_ONCE = 40  # characters in one event of a stream
_FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def wire(self) -> Wire:
        return self.route or "openai"

    @property
    def route(self) -> Wire | None:
        """Which API was called, None if it is none of them."""
        path = self.path.partition("?")[0]
        return next((wire for ending, wire in _ENDINGS.items() if path.endswith(ending)), None)

    @property
    def mark(self) -> str:
        """Short, the same for the same request: ids in the answer are made with it."""
        return f"{zlib.crc32(self.raw):08x}"

    @property
    def streamed(self) -> bool:
        return self.body.get("stream") is True or ":streamGenerateContent" in self.path

    @property
    def model(self) -> str:
        return str(self.body.get("model", "scripted"))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The shape the answer has to have, however it was asked for: a response format, or a tool to be called."""
        openai = (self.body.get("response_format") or {}).get("json_schema") or {}
        anthropic = (self.body.get("output_config") or {}).get("format") or self.body.get("output_format") or {}
        found = openai.get("schema") or anthropic.get("schema")
        return found or (self.tool[1] if self.tool else None)

    @property
    def tool(self) -> tuple[str, dict[str, Any]] | None:
        """The first tool on offer, with the schema of its arguments."""
        tools = self.body.get("tools") or []
        if not tools:
            return None
        first = tools[0].get("function") or tools[0]
        return str(first["name"]), first.get("parameters") or first.get("input_schema") or {}


@dataclass(frozen=True, slots=True)
class ToolUse:
    name: str
    arguments: dict[str, Any]
    id: str | None = None
    namespace: str = ""  # of the Responses API, for tools that were offered in one


@dataclass(frozen=True, slots=True)
class Wording:
    """A model's answer, independent of the wire. Tokens are a quarter of the characters unless they are given."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: int = 0

    def usage(self, asked: ReceivedRequest) -> tuple[int, int]:
        written = len(self.text) + sum(len(json.dumps(call.arguments)) for call in self.calls)
        came, went = -(-len(asked.raw) // 4), -(-written // 4)
        return (
            came if self.tokens_in is None else self.tokens_in,
            went if self.tokens_out is None else self.tokens_out,
        )


def completion(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": said.refusal}
    if said.calls:
        message["tool_calls"] = _chat_calls(said)
    choice = {"index": 0, "message": message, "finish_reason": said.finish, "logprobs": None}
    return _chat_head(asked, "chat.completion") | {"choices": [choice], "usage": _chat_usage(asked, said)}


def _chat_head(asked: ReceivedRequest, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 1_700_000_000, "model": asked.model}


def _chat_calls(said: Wording) -> list[dict[str, Any]]:
    return [
        {
            "index": place,
            "id": call.id or f"call_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(said.calls)
    ]


def _chat_usage(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    came, went = said.usage(asked)
    details = {"cached_tokens": said.cached}
    return {
        "prompt_tokens": came,
        "completion_tokens": went,
        "total_tokens": came + went,
        "prompt_tokens_details": details,
    }


def chat_events(asked: ReceivedRequest, said: Wording) -> Iterator[bytes]:
    def event(delta: dict[str, Any], finish: str | None = None, **more: object) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return data(_chat_head(asked, "chat.completion.chunk") | {"choices": choices} | more)

    yield event({"role": "assistant"})
    for piece in pieces(said.text):
        yield event({"content": piece})
    if said.refusal:
        yield event({"refusal": said.refusal})
    if said.calls:
        yield event({"tool_calls": _chat_calls(said)})
    yield event({}, said.finish)
    yield data(
        _chat_head(asked, "chat.completion.chunk") | {"choices": [], "usage": _chat_usage(asked, said)},
    )
    yield b"data: [DONE]\n\n"


def messages_answer(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    return _message_head(asked, said) | {
        "content": _blocks(asked, said),
        "stop_reason": _FINISH.get(said.finish, said.finish),
        "usage": _message_usage(asked, said),
    }


def _message_head(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    came, _ = said.usage(asked)
    return {
        "id": f"msg_{asked.mark}",  # Claude Code takes two replies of one id for one
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": came, "output_tokens": 0},
    }


def _message_usage(asked: ReceivedRequest, said: Wording) -> dict[str, int]:
    came, went = said.usage(asked)
    return {
        "input_tokens": came - said.cached,
        "output_tokens": went,
        "cache_read_input_tokens": said.cached,
        "cache_creation_input_tokens": 0,
    }


def _blocks(asked: ReceivedRequest, said: Wording) -> list[dict[str, Any]]:
    texts = [{"type": "text", "text": said.text}] if said.text else []
    return texts + [
        {"type": "tool_use", "id": call.id or f"toolu_{asked.mark}_{place}", "name": call.name, "input": call.arguments}
        for place, call in enumerate(said.calls)
    ]


def messages_events(asked: ReceivedRequest, said: Wording) -> Iterator[bytes]:
    yield wire_event("message_start", message=_message_head(asked, said))
    for index, block in enumerate(_blocks(asked, said)):
        empty = {"type": "text", "text": ""} if block["type"] == "text" else block | {"input": {}}
        yield wire_event("content_block_start", index=index, content_block=empty)
        for delta in _deltas(block):
            yield wire_event("content_block_delta", index=index, delta=delta)
        yield wire_event("content_block_stop", index=index)
    stopped = {"stop_reason": _FINISH.get(said.finish, said.finish), "stop_sequence": None}
    yield wire_event("message_delta", delta=stopped, usage=_message_usage(asked, said))
    yield wire_event("message_stop")


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    if block["type"] == "text":
        for piece in pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    else:
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def pieces(text: str) -> list[str]:
    return [text[start : start + _WORDS_AT_ONCE] for start in range(0, len(text), _WORDS_AT_ONCE)]


def data(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def wire_event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\n".encode() + data({"type": kind} | fields)
