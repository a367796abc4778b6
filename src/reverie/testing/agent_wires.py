"""How a reply looks to the coding agents that speak neither of the two usual wires: Responses and generateContent.

Codex reads the Responses API as a stream of events; Gemini CLI reads `:streamGenerateContent?alt=sse`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reverie.testing.model_wires import ReceivedRequest, Wording, data, pieces, wire_event

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
