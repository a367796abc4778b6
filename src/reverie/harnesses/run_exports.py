"""Runs of benchmark harnesses that come as files: mini-swe-agent, SWE-agent and τ-bench. One run of one task each.

mini-swe-agent: `*.traj.json`, one run. Before 1.0 a bare list of messages, then `{"info", "messages"}`. Version 1 puts
commands in fenced blocks of the answer and their output into "user" messages; version 2 has tool calls, with the return
code beside each result. Messages of the Responses API are kept as they came.

SWE-agent: `<instance>.traj`, one run. `history` is what was said; `trajectory` has the same by steps. Seen from 0.4 to
1.1: actions as text in the answer or as tool calls, observations as "user" or as "tool". The task is an issue fetched
from somewhere, in a template: its words are data, not a person's. `exit_status` only says that the agent submitted
something, not that it was right; the outcome is left open.

τ-bench: a list of results, each with `traj` and `reward`; τ²-bench: `simulations` with `messages`. The "user" is a
simulated customer, whom the task names. The reward is the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.ids import sha256
from reverie.core.scope import Origin
from reverie.transcripts.json_files import json_array, whole_json
from reverie.transcripts.json_streams import FileSpan, JsonList, StreamedObject, parsed_or_none
from reverie.transcripts.messages import is_message, openai_calls, origin_of, read_message, role_of, text_of
from reverie.transcripts.readers import SNIFFED_BYTES, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, ToolCall


def run_id(harness: str, path: Path, messages: Iterable[Any]) -> str:
    """The task and this run of it: a task is run again and again under one file name, with other answers.

    The model's first answer tells the runs apart, and it stays as the file grows.
    """
    stem = path.name.split(".traj")[0] if ".traj" in path.name else path.stem
    for message in messages:
        if not isinstance(message, Mapping) or message.get("is_demo"):
            continue
        if message.get("role") == "assistant" or message.get("object") == "response":
            answer = text_of(message.get("content")) + str(message.get("tool_calls") or message.get("output") or "")
            return f"{harness}:{stem}-{sha256(answer)[:8]}"
    return f"{harness}:{stem}"


def facts_of(**facts: object) -> dict[str, str]:
    return {name: str(fact) for name, fact in facts.items() if fact not in (None, "")}


def value_within(value: object, *keys: str) -> Any:
    """A value deep inside mappings, or None where the way ends."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


_MINI_SWE = re.compile(rb'"(?:mini_version"|trajectory_format"\s*:\s*"mini-swe-agent)')
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*(?:<exception>.*?</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL)


class MiniSweReader:
    name = "mini-swe-agent"
    places: tuple[str, ...] = ("${MSWEA_GLOBAL_CONFIG_DIR:-~/.config/mini-swe-agent}",)

    def recognises(self, path: Path, start: bytes) -> float:
        if start.lstrip()[:1] not in (b"{", b"["):
            return 0.0
        named = path.name.endswith(".traj.json") and b'"role"' in start
        return 0.95 if named or _MINI_SWE.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        value = whole_json(path)
        run: Any = {"messages": value} if isinstance(value, JsonList) else value
        messages = run.get("messages") if isinstance(run, Mapping) else None
        if not isinstance(messages, JsonList):
            yield value if isinstance(value, Flaw) else Flaw("the file", "no list of messages")
            return
        first = last = None
        for message in messages:
            last = moment(value_within(message, "extra", "timestamp")) or last
            first = first or last
        yield Opened(
            Head(
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
        )
        acted = False
        for number, message in enumerate(messages, 1):
            said = _mini_swe_message(message, acted, benchmark=bool(run.get("instance_id")))
            yield said or Flaw(f"message {number}", "not a message with a known role")
            acted = acted or (said is not None and said.role == "assistant")


def _mini_swe_message(message: Any, acted: bool, benchmark: bool) -> Said | None:
    if not isinstance(message, Mapping):
        return None
    at = moment(value_within(message, "extra", "timestamp"))
    if message.get("object") == "response" or message.get("role") == "assistant":
        output = message.get("output")
        items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
        spoken = [text_of(item.get("content")) for item in items if item.get("type") == "message"]
        text = "\n".join(spoken) if items else text_of(message.get("content"))
        calls = openai_calls(message.get("tool_calls") or [i for i in items if i.get("type") == "function_call"])
        if not calls:
            calls = tuple(ToolCall("bash", command) for command in _COMMAND.findall(text))
            text = _COMMAND.sub("", text).strip()
        return Said("assistant", text, at=at, calls=calls)
    text = text_of(message.get("content", message.get("output")))
    if message.get("role") == "exit":
        return Said("tool", text, name="exit", at=at, noise="end of run")
    if message.get("role") == "system":
        return Said("system", text, at=at, noise="system prompt")
    if message.get("type") == "function_call_output" or role_of(message.get("role")) == "tool":
        return _mini_swe_result(message, text, at)
    if role_of(message.get("role")) != "user":
        return None
    if acted and not str(value_within(message, "extra", "interrupt_type")).startswith("User"):
        return _mini_swe_result(message, text, at)
    posing = Origin.TOOL if benchmark and not acted else None
    return Said("user", text, at=at, origin=posing or origin_of(message.get("content")))


def _mini_swe_result(message: Mapping[str, Any], text: str, at: Any) -> Said:
    code = value_within(message, "extra", "returncode")
    if code is None and (stated := _RETURN_CODE.match(text)):
        code = int(stated.group(1))
    answers = message.get("tool_call_id") or message.get("call_id")
    failed = code != 0 if isinstance(code, int) else None
    return Said("tool", text, name="bash", at=at, answers=str(answers) if answers else None, failed=failed)


_SWE_AGENT = re.compile(rb'\s*\{\s*"(?:environment|trajectory|history|info|attempts|replay_config)"\s*:')
_SWE_AGENT_STEP = (b'"thought"', b'"action"', b'"observation"')


class SweAgentReader:
    name = "swe-agent"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        if not _SWE_AGENT.match(start):
            return 0.0
        if path.suffix == ".traj":
            return 0.95
        return 0.9 if b'"trajectory"' in start and all(key in start for key in _SWE_AGENT_STEP) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        run = whole_json(path)
        if isinstance(run, Flaw):  # of one that is cut off what stands before the break
            try:
                begun = StreamedObject(path, FileSpan(0, path.stat().st_size))
            except ValueError:
                yield run
                return
            run = begun if "history" in begun else run
        if not isinstance(run, Mapping):
            yield run if isinstance(run, Flaw) else Flaw("the file", "no `history` of messages")
            return
        attempts = run.get("attempts")
        if run.get("history") or run.get("trajectory") or not isinstance(attempts, JsonList):
            yield from _swe_agent_events(run, path)
            return
        for attempt in attempts:
            if isinstance(attempt, Mapping):
                yield from _swe_agent_events({**run, **attempt}, path)


def _swe_agent_events(run: Mapping[str, Any], path: Path) -> Iterator[Event]:
    history = run.get("history")
    messages = history if isinstance(history, JsonList) and history else _SweAgentSteps(run.get("trajectory"))
    replayed = run.get("replay_config")
    config = parsed_or_none(replayed) if isinstance(replayed, str) else replayed
    yield Opened(
        Head(
            id=run_id("swe-agent", path, messages),
            harness="swe-agent",
            facts=facts_of(
                exit_status=value_within(run, "info", "exit_status"),
                model=value_within(config, "agent", "model", "name"),
                environment=run.get("environment"),
                version=value_within(run, "info", "swe_agent_version"),
            ),
        )
    )
    acted, called = False, None
    for number, message in enumerate(messages, 1):
        said = _swe_agent_message(message, acted, called)
        if said is None:
            yield Flaw(f"message {number}", "not a message with a known role")
            continue
        if said.role == "assistant" and not said.noise:
            acted, called = True, said.calls[0] if said.calls else None
        yield said


@dataclass(frozen=True, slots=True)
class _SweAgentSteps:
    steps: object

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for step in self.steps if isinstance(self.steps, JsonList) else []:
            if isinstance(step, Mapping):
                thought = {key: step.get(key) for key in ("thought", "action")}
                yield {"role": "assistant", "content": step.get("response"), **thought}
                yield {"role": "tool", "content": step.get("observation")}


def _swe_agent_message(message: Any, acted: bool, called: ToolCall | None) -> Said | None:
    role = role_of(message.get("role")) if isinstance(message, Mapping) else None
    if role is None:
        return None
    text = text_of(message.get("content"))
    if message.get("is_demo"):
        return Said(role, text, noise="demonstration", origin=Origin.TOOL)
    if role == "system":
        return Said(role, text, noise="system prompt")
    if role == "assistant":
        calls = openai_calls(message.get("tool_calls"))
        action, thought = message.get("action"), message.get("thought")
        if not calls and isinstance(action, str) and action.strip():
            name, *arguments = action.strip().split(maxsplit=1)
            calls = (ToolCall(name, "".join(arguments)),)
        return Said("assistant", thought.strip() if calls and isinstance(thought, str) else text, calls=calls)
    if not acted and role == "user":
        return Said(role, text, origin=Origin.TOOL)
    ids = message.get("tool_call_ids")
    answers = str(ids[0]) if isinstance(ids, list) and ids else None
    return Said("tool", text, name=called.name if called else None, answers=answers)


_TAU = re.compile(rb'\s*\[\s*\{\s*"(?:task_id|reward|info|traj|trial)"\s*:')
_TAU_2 = (b'"num_trials"', b'"user_info"')
_TAU_2_ALONE = (b'"task_id"', b'"termination_reason"')


class TauBenchReader:
    name = "tau-bench"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        if _TAU.match(start):
            return 0.95 if b'"traj"' in start or b'"reward"' in start else 0.0
        if start.lstrip()[:1] != b"{":
            return 0.0
        found = all(key in start for key in _TAU_2) or all(key in start for key in _TAU_2_ALONE)
        return 0.95 if found else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        with path.open("rb") as file:
            start = file.read(SNIFFED_BYTES)
        many = start.lstrip()[:1] == b"{" and b'"num_trials"' in start
        for number, result in enumerate(json_array(path, "simulations" if many else None), 1):
            yield from [result] if isinstance(result, Flaw) else _tau_result(result, f"result {number}", path)


def _tau_result(result: Any, where: str, path: Path) -> Iterator[Event]:
    messages = value_within(result, "traj") or value_within(result, "messages")
    if not isinstance(messages, JsonList):
        yield Flaw(where, "no list of messages")
        return
    task, trial = result.get("task_id"), result.get("trial")
    reward = result.get("reward", value_within(result, "reward_info", "reward"))
    customer = value_within(result, "info", "task", "user_id")
    yield Opened(
        Head(
            id=f"tau-bench:{result.get('id') or f'{path.stem}-{task}.{trial or 0}'}",
            user=customer if isinstance(customer, str) and customer else None,
            harness="tau-bench",
            started_at=moment(result.get("start_time")),
            ended_at=moment(result.get("end_time")),
            outcome=float(reward) if isinstance(reward, int | float) else None,
            facts=facts_of(task=task, trial=trial, termination=result.get("termination_reason")),
        )
    )
    for number, message in enumerate(messages, 1):
        if is_message(message):
            yield _tau_message(message)
        else:
            yield Flaw(f"{where}, message {number}", "not a message with a known role")


def _tau_message(message: Mapping[str, Any]) -> Said:
    parts = message.get("tool_messages")
    if isinstance(parts, list):  # τ²: several results in one message
        text = "\n".join(text_of(value_within(part, "content")) for part in parts)
        return Said("tool", text, failed=any(bool(value_within(part, "error")) for part in parts))
    words = read_message(message)
    if words.role == "system":
        return replace(words, noise="system prompt")
    if words.role != "tool":
        return words
    error = message.get("error")
    stated = error if isinstance(error, bool) else (True if words.text.startswith("Error:") else None)
    answers = words.answers or (str(message["id"]) if message.get("id") else None)
    return replace(words, failed=stated, answers=answers)
