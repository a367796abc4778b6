"""τ-bench: a list of results, each with `traj` and `reward`; τ²-bench: `simulations` with `messages`.

The "user" is a simulated customer, whom the task names. The reward is the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.harnesses.exports.runs import facts_of, value_within
from reverie.transcripts.files.json_arrays import json_array
from reverie.transcripts.files.json_streams import JsonList
from reverie.transcripts.messages import is_message, read_message, text_of
from reverie.transcripts.readers import SNIFFED_BYTES, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

_FIRST = re.compile(rb'\s*\[\s*\{\s*"(?:task_id|reward|info|traj|trial)"\s*:')
_SECOND = (b'"num_trials"', b'"user_info"')
_SECOND_ALONE = (b'"task_id"', b'"termination_reason"')


class TauBenchReader:
    name = "tau-bench"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        if _FIRST.match(start):
            return 0.95 if b'"traj"' in start or b'"reward"' in start else 0.0
        if start.lstrip()[:1] != b"{":
            return 0.0
        found = all(key in start for key in _SECOND) or all(key in start for key in _SECOND_ALONE)
        return 0.95 if found else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        with path.open("rb") as file:
            start = file.read(SNIFFED_BYTES)
        many = start.lstrip()[:1] == b"{" and b'"num_trials"' in start
        for number, result in enumerate(json_array(path, "simulations" if many else None), 1):
            yield from [result] if isinstance(result, Flaw) else _result(result, f"result {number}", path)


def _result(result: Any, where: str, path: Path) -> Iterator[Event]:
    messages = value_within(result, "traj") or value_within(result, "messages")
    if not isinstance(messages, JsonList):
        yield Flaw(where, "no list of messages")
        return
    yield Opened(_head(result, path))
    for number, message in enumerate(messages, 1):
        if is_message(message):
            yield _said(message)
        else:
            yield Flaw(f"{where}, message {number}", "not a message with a known role")


def _head(result: Mapping[str, Any], path: Path) -> Head:
    task, trial = result.get("task_id"), result.get("trial")
    reward = result.get("reward", value_within(result, "reward_info", "reward"))
    customer = value_within(result, "info", "task", "user_id")
    return Head(
        id=f"tau-bench:{result.get('id') or f'{path.stem}-{task}.{trial or 0}'}",
        user=customer if isinstance(customer, str) and customer else None,
        harness="tau-bench",
        started_at=moment(result.get("start_time")),
        ended_at=moment(result.get("end_time")),
        outcome=float(reward) if isinstance(reward, int | float) else None,
        facts=facts_of(task=task, trial=trial, termination=result.get("termination_reason")),
    )


def _said(message: Mapping[str, Any]) -> Said:
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
