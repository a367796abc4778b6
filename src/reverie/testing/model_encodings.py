"""One reply on each wire, whole or as a stream of events.

Chat Completions and Messages are in `model_wires`; here is what the coding agents read that speak neither. Codex reads
the Responses API as a stream of events; Gemini CLI reads `:streamGenerateContent?alt=sse`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from reverie.testing import model_wires
from reverie.testing.model_wires import ReceivedRequest, Wire, Wording, data, pieces, wire_event

_GEMINI_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


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
        "openai": (model_wires.completion, model_wires.chat_events),
        "anthropic": (model_wires.messages_answer, model_wires.messages_events),
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
