"""One reply on each wire, whole or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from reverie.testing import agent_wires, model_wires
from reverie.testing.model_wires import ReceivedRequest, Wire, Wording

Whole = Callable[[ReceivedRequest, Wording], dict[str, Any]]
Streamed = Callable[[ReceivedRequest, Wording], Iterable[bytes]]
_WIRES: Mapping[Wire, tuple[Whole, Streamed]] = MappingProxyType(
    {
        "openai": (model_wires.completion, model_wires.chat_events),
        "anthropic": (model_wires.messages_answer, model_wires.messages_events),
        "responses": (agent_wires.response, agent_wires.response_events),
        "gemini": (agent_wires.content, agent_wires.content_events),
    }
)


def encoded(asked: ReceivedRequest, said: Wording) -> tuple[str, list[bytes]]:
    """The content type of the reply, and the pieces it is sent in."""
    whole, events = _WIRES[asked.wire]
    if asked.streamed:
        return "text/event-stream", list(events(asked, said))
    return "application/json", [json.dumps(whole(asked, said)).encode()]
