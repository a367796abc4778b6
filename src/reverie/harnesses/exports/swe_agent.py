"""SWE-agent: `<instance>.traj`, one run. `history` is what was said; `trajectory` has the same by steps.

Seen from 0.4 to 1.1: actions as text in the answer or as tool calls, observations as "user" or as "tool". The
task is an issue fetched from somewhere, in a template: its words are data, not a person's. `exit_status` only
says that the agent submitted something, not that it was right; the outcome is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.core.origin import Origin
from reverie.harnesses.exports.runs import facts_of, run_id, value_within
from reverie.transcripts.files.json_files import whole_json
from reverie.transcripts.files.json_streams import FileSpan, JsonList, StreamedObject
from reverie.transcripts.files.json_text import parsed
from reverie.transcripts.messages import openai_calls, role_of, text_of
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall

_BEGINS = re.compile(rb'\s*\{\s*"(?:environment|trajectory|history|info|attempts|replay_config)"\s*:')
_STEP = (b'"thought"', b'"action"', b'"observation"')


class SweAgentReader:
    name = "swe-agent"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        if not _BEGINS.match(start):
            return 0.0
        if path.suffix == ".traj":
            return 0.95
        return 0.9 if b'"trajectory"' in start and all(key in start for key in _STEP) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        run = _run(path)
        if isinstance(run, Flaw):
            yield run
            return
        attempts = run.get("attempts")
        if run.get("history") or run.get("trajectory") or not isinstance(attempts, JsonList):
            yield from _events(run, path)
            return
        for attempt in attempts:
            if isinstance(attempt, Mapping):
                yield from _events({**run, **attempt}, path)


def _run(path: Path) -> Mapping[str, Any] | Flaw:
    """The file's object, or of one that is cut off what stands before the break."""
    value = whole_json(path)
    if isinstance(value, Flaw):
        try:
            begun = StreamedObject(path, FileSpan(0, path.stat().st_size))
        except ValueError:
            return value
        return begun if "history" in begun else value
    return value if isinstance(value, Mapping) else Flaw("the file", "no `history` of messages")


def _events(run: Mapping[str, Any], path: Path) -> Iterator[Event]:
    history = run.get("history")
    messages = history if isinstance(history, JsonList) and history else _Steps(run.get("trajectory"))
    yield Opened(_head(run, path, messages))
    acted, called = False, None
    for number, message in enumerate(messages, 1):
        said = _said(message, acted, called)
        if said is None:
            yield Flaw(f"message {number}", "not a message with a known role")
            continue
        if said.role == "assistant" and not said.noise:
            acted, called = True, said.calls[0] if said.calls else None
        yield said


@dataclass(frozen=True, slots=True)
class _Steps:
    """The messages of a file that has only steps."""

    steps: object

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for step in self.steps if isinstance(self.steps, JsonList) else []:
            if isinstance(step, Mapping):
                thought = {key: step.get(key) for key in ("thought", "action")}
                yield {"role": "assistant", "content": step.get("response"), **thought}
                yield {"role": "tool", "content": step.get("observation")}


def _head(run: Mapping[str, Any], path: Path, messages: Iterable[Any]) -> Head:
    replayed = run.get("replay_config")
    try:
        config = parsed(replayed) if isinstance(replayed, str) else replayed
    except ValueError:
        config = None  # only the model's name is lost
    return Head(
        id=run_id("swe-agent", path, messages),
        harness="swe-agent",
        facts=facts_of(
            exit_status=value_within(run, "info", "exit_status"),
            model=value_within(config, "agent", "model", "name"),
            environment=run.get("environment"),
            version=value_within(run, "info", "swe_agent_version"),
        ),
    )


def _said(message: Any, acted: bool, called: ToolCall | None) -> Said | None:
    role = role_of(message.get("role")) if isinstance(message, Mapping) else None
    if role is None:
        return None
    text = text_of(message.get("content"))
    if message.get("is_demo"):
        return Said(role, text, noise="demonstration", origin=Origin.TOOL)
    if role == "system":
        return Said(role, text, noise="system prompt")
    if role == "assistant":
        return _answer(message, text)
    if not acted and role == "user":
        return Said(role, text, origin=Origin.TOOL)
    ids = message.get("tool_call_ids")
    answers = str(ids[0]) if isinstance(ids, list) and ids else None
    return Said("tool", text, name=called.name if called else None, answers=answers)


def _answer(message: Mapping[str, Any], text: str) -> Said:
    calls, action, thought = (
        openai_calls(message.get("tool_calls")),
        message.get("action"),
        message.get("thought"),
    )
    if not calls and isinstance(action, str) and action.strip():
        name, *arguments = action.strip().split(maxsplit=1)
        calls = (ToolCall(name, "".join(arguments)),)
    return Said("assistant", thought.strip() if calls and isinstance(thought, str) else text, calls=calls)
