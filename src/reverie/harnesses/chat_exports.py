"""Conversations that come as files: ChatGPT's data export, and ShareGPT.

ChatGPT: `conversations.json`, a list of conversations, each a tree of messages. An edited prompt or a regenerated
answer makes a branch. What was said is the way from the root to `current_node`, the branch on screen. Requests logged
from the API have no reader here: `{"messages": […]}` is the plain form.

ShareGPT: `{"conversations": [{"from": "human", "value": "…"}, …]}`, and the trajectories of Hermes. In a trajectory the
model's calls stand in the text as `<tool_call>`, what came back as one message with a `<tool_response>` for each call,
and thoughts as `<think>`, which were not said. `completed` is the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.injected import calls_out_of, how_call_failed, json_object, spoken
from reverie.transcripts.json_files import events_of
from reverie.transcripts.json_streams import JsonList, dumped, mapping_or_empty, string_or_none
from reverie.transcripts.messages import origin_of, role_of, text_of
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall

_TREE = re.compile(rb'"mapping"\s*:\s*\{')
_NODE = (b'"children"', b'"parent"', b'"message"')
_THOUGHTS = {"thoughts", "reasoning_recap"}
_CONTEXT = {"user_editable_context": "custom instructions", "model_editable_context": "recalled memory"}
_TYPED_KINDS = {"text", "multimodal_text"}  # what a person's message is; anything else a program put there
_CONTEXT_KEYS = ("user_profile", "user_instructions", "model_set_context")


class OpenAIChatReader:
    name = "openai"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        opens = start.lstrip()[:1] in (b"[", b"{")
        return 0.95 if opens and _TREE.search(start) and all(key in start for key in _NODE) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        return events_of(path, lambda value, where: _chatgpt_conversation(value, where, path))


def _chatgpt_conversation(value: Any, where: str, path: Path) -> Iterator[Event]:
    mapping = value.get("mapping") if isinstance(value, Mapping) else None
    if not isinstance(mapping, Mapping):
        yield Flaw(where, "not a conversation with a `mapping` of messages")
        return
    identity = value.get("conversation_id") or value.get("id") or f"{path.stem}-{where.rpartition(' ')[2]}"
    facts = {"model": value.get("default_model_slug"), "gpt": value.get("gizmo_id")}
    title = value.get("title")
    yield Opened(
        Head(
            id=f"openai:{identity}",
            harness="openai",
            title=title if isinstance(title, str) and title else None,
            started_at=moment(value.get("create_time")),
            ended_at=moment(value.get("update_time")),
            facts={name: str(fact) for name, fact in facts.items() if fact},
        )
    )
    # The names of the nodes from the root to the current one.
    place = value.get("current_node")
    if not isinstance(place, str) or place not in mapping:
        nodes = [(name, node) for name, node in mapping.items() if isinstance(node, Mapping)]
        leaves = [(name, mapping_or_empty(node.get("message"))) for name, node in nodes if not node.get("children")]
        times = [(at if isinstance(at := said.get("create_time"), int | float) else 0, name) for name, said in leaves]
        place = max(times, default=(0, None))[1]
    way, seen = list[str](), set[str]()
    while isinstance(place, str) and place not in seen and isinstance(node := mapping.get(place), Mapping):
        seen.add(place)
        way.append(place)
        place = node.get("parent")
    for name in way[::-1]:
        message = mapping[name].get("message")
        if isinstance(message, Mapping):
            yield from _chatgpt_message(message, f"{where}, message {message.get('id')}")


def _chatgpt_message(message: Mapping[str, Any], where: str) -> Iterator[Said | Flaw]:
    author, content, about = (mapping_or_empty(message.get(key)) for key in ("author", "content", "metadata"))
    role, kind = role_of(author.get("role")), str(content.get("content_type"))
    if role is None:
        yield Flaw(where, f"unknown role {author.get('role')!r}")
        return
    text = _chatgpt_words(content)
    if kind in _THOUGHTS or not text.strip():
        return
    recipient = message.get("recipient")
    called = role == "assistant" and isinstance(recipient, str) and recipient not in ("", "all")
    name = author.get("name")
    noise = _noise(role, kind, about)
    status = mapping_or_empty(about.get("aggregate_result")).get("status")
    failed = kind == "system_error" or (status != "success" if isinstance(status, str) else None)
    yield Said(
        role=role,
        text="" if called else text,
        name=name if isinstance(name, str) and name else None,
        at=moment(message.get("create_time")),
        calls=(ToolCall(str(recipient), text),) if called else (),
        failed=failed if role == "tool" else None,
        noise=noise,
        origin=_whose(author, kind, content, about) if role == "user" else None,
    )


def _whose(author: Mapping[str, Any], kind: str, content: Mapping[str, Any], about: Mapping[str, Any]) -> Origin | None:
    """Whose a message in a person's place is, where it is not what they typed or said aloud."""
    real = str(mapping_or_empty(author.get("metadata")).get("real_author") or "")
    button = mapping_or_empty(about.get("canvas")).get("accelerator_metadata")
    hidden = _noise("user", kind, about) == "hidden"
    parts = content.get("parts")
    if hidden or button or real.startswith("tool") or (kind not in _TYPED_KINDS and kind not in _CONTEXT):
        return Origin.TOOL
    for part in map(mapping_or_empty, parts if isinstance(parts, list) else ()):
        aloud = part.get("content_type") == "audio_transcription" and part.get("direction", "in") == "in"
        if part.get("text") and not aloud:  # words of its own, and not the transcript of the person's voice
            return Origin.TOOL
    return Origin.MEMBER if about.get("shared_conversation_id") else None  # somebody's, gone on with


def _chatgpt_words(content: Mapping[str, Any]) -> str:
    if str(content.get("content_type")) in _CONTEXT:
        return "\n".join(str(content[key]) for key in _CONTEXT_KEYS if content.get(key))
    parts = content.get("parts")
    if isinstance(parts, list):
        words = list[str]()
        for part in parts:
            said = part if isinstance(part, str) else mapping_or_empty(part).get("text")
            kind = str(mapping_or_empty(part).get("content_type") or "attachment").removesuffix("_asset_pointer")
            named = f"[{kind}]" if isinstance(part, Mapping) else ""
            words.append(said if isinstance(said, str) and said else named)
        return "\n".join(filter(None, words))
    return next((str(content[key]) for key in ("text", "result", "content") if content.get(key)), "")


def _noise(role: str, kind: str, about: Mapping[str, Any]) -> str | None:
    if kind in _CONTEXT:
        return _CONTEXT[kind]
    if about.get("is_user_system_message"):
        return "custom instructions"
    if role == "system":
        return "system prompt"
    return "hidden" if about.get("is_visually_hidden_from_conversation") else None


_SHAREGPT = re.compile(rb'"conversations"\s*:\s*\[\s*\{\s*"(?:from|value|role|content)"\s*:')
_TOOL_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_SPOKEN_BY_HARNESS = "You are a function calling AI model."


class ShareGPTReader:
    name = "sharegpt"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        return 0.95 if start.lstrip()[:1] in (b"[", b"{") and _SHAREGPT.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        return events_of(path, lambda value, where: _sharegpt_conversation(value, where, path))


def _sharegpt_conversation(value: Any, where: str, path: Path) -> Iterator[Event]:
    messages = value.get("conversations") if isinstance(value, Mapping) else None
    if not isinstance(messages, JsonList):
        yield Flaw(where, "not an object with a list of `conversations`")
        return
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
    yield Opened(
        Head(
            id=f"sharegpt:{identity if identity not in (None, '') else f'{path.stem}-{number}'}",
            harness="sharegpt",
            started_at=moment(about.get("timestamp")),
            outcome=float(completed) if isinstance(completed, bool) else None,
            facts={name: str(fact) for name, fact in facts.items() if fact},
        )
    )
    for number, message in enumerate(messages, 1):
        yield _sharegpt_message(message, f"{where}, message {number}")


def _sharegpt_message(message: Any, where: str) -> Said | Flaw:
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
        # One message, however many calls it answers: it names a call only if it answers just one.
        responses = [json_object(inside) or {"content": inside} for inside in _TOOL_RESPONSE.findall(text)]
        if not responses:
            return Said("tool", text, failed=how_call_failed(json_object(text)))
        words = [response.get("content", response) for response in responses]
        ends = [how_call_failed(word if isinstance(word, Mapping) else json_object(str(word))) for word in words]
        said = (word if isinstance(word, str) else dumped(word) for word in words)
        result = Said("tool", "\n".join(said), failed=True in ends or (None if None in ends else False))
        if len(responses) > 1:
            return result
        return replace(
            result,
            answers=string_or_none(responses[0].get("tool_call_id")),
            name=string_or_none(responses[0].get("name")),
        )
    generated = role == "system" and text.startswith(_SPOKEN_BY_HARNESS)
    return Said(role, text, noise="system prompt" if generated else None, origin=origin_of(content))
