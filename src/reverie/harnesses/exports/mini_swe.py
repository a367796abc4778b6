"""mini-swe-agent: `*.traj.json`, one run. Before 1.0 a bare list of messages, then `{"info", "messages"}`.

Version 1 puts commands in fenced blocks of the answer and their output into "user" messages; version 2 has
tool calls, with the return code beside each result. Messages of the Responses API are kept as they came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.origin import Origin
from reverie.harnesses.exports.runs import facts_of, run_id, value_within
from reverie.transcripts.files.json_files import whole_json
from reverie.transcripts.files.json_streams import JsonList
from reverie.transcripts.messages import openai_calls, origin_of, role_of, text_of
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall

_FORMAT = re.compile(rb'"(?:mini_version"|trajectory_format"\s*:\s*"mini-swe-agent)')
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*(?:<exception>.*?</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL)


class MiniSweReader:
    name = "mini-swe-agent"
    places: tuple[str, ...] = ("${MSWEA_GLOBAL_CONFIG_DIR:-~/.config/mini-swe-agent}",)

    def recognises(self, path: Path, start: bytes) -> float:
        if start.lstrip()[:1] not in (b"{", b"["):
            return 0.0
        named = path.name.endswith(".traj.json") and b'"role"' in start
        return 0.95 if named or _FORMAT.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        value = whole_json(path)
        run: Any = {"messages": value} if isinstance(value, JsonList) else value
        messages = run.get("messages") if isinstance(run, Mapping) else None
        if not isinstance(messages, JsonList):
            yield value if isinstance(value, Flaw) else Flaw("the file", "no list of messages")
            return
        yield Opened(_head(run, path, messages))
        acted = False
        for number, message in enumerate(messages, 1):
            said = _said(message, acted, benchmark=bool(run.get("instance_id")))
            yield said or Flaw(f"message {number}", "not a message with a known role")
            acted = acted or (said is not None and said.role == "assistant")


def _head(run: Mapping[str, Any], path: Path, messages: Iterable[Any]) -> Head:
    first = last = None
    for message in messages:
        last = moment(value_within(message, "extra", "timestamp")) or last
        first = first or last
    return Head(
        id=run_id("mini-swe-agent", path, messages),
        harness="mini-swe-agent",
        started_at=first,
        ended_at=last if value_within(run, "info", "exit_status") else None,
        facts=facts_of(
            exit_status=value_within(run, "info", "exit_status"),
            model=value_within(run, "info", "config", "model", "model_name"),
            task=run.get("instance_id"),
            version=value_within(run, "info", "mini_version"),
        ),
    )


def _said(message: Any, acted: bool, benchmark: bool) -> Said | None:
    if not isinstance(message, Mapping):
        return None
    at = moment(value_within(message, "extra", "timestamp"))
    if message.get("object") == "response" or message.get("role") == "assistant":
        return _answer(message, at)
    text = text_of(message.get("content", message.get("output")))
    if message.get("role") == "exit":
        return Said("tool", text, name="exit", at=at, noise="end of run")
    if message.get("role") == "system":
        return Said("system", text, at=at, noise="system prompt")
    if message.get("type") == "function_call_output" or role_of(message.get("role")) == "tool":
        return _result(message, text, at)
    if role_of(message.get("role")) != "user":
        return None
    if acted and not str(value_within(message, "extra", "interrupt_type")).startswith("User"):
        return _result(message, text, at)
    posing = Origin.TOOL if benchmark and not acted else None
    return Said("user", text, at=at, origin=posing or origin_of(message.get("content")))


def _answer(message: Mapping[str, Any], at: Any) -> Said:
    output = message.get("output")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    spoken = [text_of(item.get("content")) for item in items if item.get("type") == "message"]
    text = "\n".join(spoken) if items else text_of(message.get("content"))
    calls = openai_calls(message.get("tool_calls") or [i for i in items if i.get("type") == "function_call"])
    if not calls:
        calls = tuple(ToolCall("bash", command) for command in _COMMAND.findall(text))
        text = _COMMAND.sub("", text).strip()
    return Said("assistant", text, at=at, calls=calls)


def _result(message: Mapping[str, Any], text: str, at: Any) -> Said:
    code = value_within(message, "extra", "returncode")
    if code is None and (stated := _RETURN_CODE.match(text)):
        code = int(stated.group(1))
    answers = message.get("tool_call_id") or message.get("call_id")
    failed = code != 0 if isinstance(code, int) else None
    return Said("tool", text, name="bash", at=at, answers=str(answers) if answers else None, failed=failed)
