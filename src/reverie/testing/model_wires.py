"""What was asked, what is answered, and how that looks on each wire, whole and as a stream of events.

Chat Completions and Messages, and what the coding agents read that speak neither: Codex the Responses API as a stream
of events, Gemini CLI `:streamGenerateContent?alt=sse`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
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
_GEMINI_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


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

    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: int = 0

    def usage(self, asked: ReceivedRequest) -> tuple[int, int]:
        written = len(self.text) + sum(len(json.dumps(call.arguments)) for call in self.calls)
        came = -(-len(asked.raw) // 4) if self.tokens_in is None else self.tokens_in
        return came, -(-written // 4) if self.tokens_out is None else self.tokens_out


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
    yield data(_chat_head(asked, "chat.completion.chunk") | {"choices": [], "usage": _chat_usage(asked, said)})
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
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block.get("text", ""))]
        if block["type"] != "text":
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        for delta in deltas:
            yield wire_event("content_block_delta", index=index, delta=delta)
        yield wire_event("content_block_stop", index=index)
    stopped = {"stop_reason": _FINISH.get(said.finish, said.finish), "stop_sequence": None}
    yield wire_event("message_delta", delta=stopped, usage=_message_usage(asked, said))
    yield wire_event("message_stop")


def pieces(text: str) -> list[str]:
    return [text[start : start + _WORDS_AT_ONCE] for start in range(0, len(text), _WORDS_AT_ONCE)]


def data(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def wire_event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\n".encode() + data({"type": kind} | fields)


def response(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    came, went = said.usage(asked)
    usage = {
        "input_tokens": came,
        "input_tokens_details": {"cached_tokens": said.cached},
        "output_tokens": went,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": came + went,
    }
    return _response_head(asked) | {"status": "completed", "output": _items(asked, said), "usage": usage}


def response_events(asked: ReceivedRequest, said: Wording) -> Iterator[bytes]:
    yield wire_event("response.created", response=_response_head(asked))
    for index, item in enumerate(_items(asked, said)):
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        begun = item | empty | {"status": "in_progress"}
        yield wire_event("response.output_item.added", output_index=index, item=begun)
        if item["type"] == "message":
            for piece in pieces(said.text):
                yield wire_event(
                    "response.output_text.delta", item_id=item["id"], output_index=index, content_index=0, delta=piece
                )
        yield wire_event("response.output_item.done", output_index=index, item=item)
    yield wire_event("response.completed", response=response(asked, said))


def _response_head(asked: ReceivedRequest) -> dict[str, Any]:
    return {
        "id": f"resp_{asked.mark}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": asked.model,
        "status": "in_progress",
        "output": [],
    }


def _items(asked: ReceivedRequest, said: Wording) -> list[dict[str, Any]]:
    text = [{"type": "output_text", "text": said.text, "annotations": []}]
    message = {"type": "message", "id": f"msg_{asked.mark}", "role": "assistant", "status": "completed"}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{asked.mark}_{place}",
            "call_id": call.id or f"call_{asked.mark}_{place}",
            "name": call.name,
            **({"namespace": call.namespace} if call.namespace else {}),
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for place, call in enumerate(said.calls)
    ]
    return ([message | {"content": text}] if said.text else []) + calls


def content(asked: ReceivedRequest, said: Wording) -> dict[str, Any]:
    """A whole answer of generateContent."""
    texts = [{"text": said.text}] if said.text else []
    calls = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in said.calls]
    return _candidate(asked, said, texts + calls, finished=True)


def content_events(asked: ReceivedRequest, said: Wording) -> Iterator[bytes]:
    for piece in pieces(said.text):
        yield data(_candidate(asked, said, [{"text": piece}]))
    calls = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in said.calls]
    yield data(_candidate(asked, said, calls or [{"text": ""}], finished=True))


def _candidate(
    asked: ReceivedRequest, said: Wording, parts: list[dict[str, Any]], finished: bool = False
) -> dict[str, Any]:
    came, went = said.usage(asked)
    finish = {"finishReason": _GEMINI_FINISH.get(said.finish, "STOP")} if finished else {}
    usage = {"promptTokenCount": came, "candidatesTokenCount": went, "totalTokenCount": came + went}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}} | finish
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": asked.model}


Whole = Callable[[ReceivedRequest, Wording], dict[str, Any]]
Streamed = Callable[[ReceivedRequest, Wording], Iterable[bytes]]
_WIRES: Mapping[Wire, tuple[Whole, Streamed]] = MappingProxyType(
    {
        "openai": (completion, chat_events),
        "anthropic": (messages_answer, messages_events),
        "responses": (response, response_events),
        "gemini": (content, content_events),
    }
)


def encoded(asked: ReceivedRequest, said: Wording) -> tuple[str, list[bytes]]:
    """The content type of the reply, and the pieces it is sent in."""
    whole, events = _WIRES[asked.wire]
    if asked.streamed:
        return "text/event-stream", list(events(asked, said))
    return "application/json", [json.dumps(whole(asked, said)).encode()]
