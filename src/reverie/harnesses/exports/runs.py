"""What the trajectories of benchmark harnesses have in common: one file, one run of one task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reverie.core.hashes import sha256
from reverie.transcripts.messages import text_of


def run_id(harness: str, path: Path, messages: Iterable[Any]) -> str:
    """The task and this run of it: a task is run again and again under one file name, with other answers.

    The model's first answer tells the runs apart, and it stays as the file grows.
    """
    stem = path.name.split(".traj")[0] if ".traj" in path.name else path.stem
    for message in messages:
        if isinstance(message, Mapping) and _is_answer(message):
            answer = text_of(message.get("content")) + str(message.get("tool_calls") or message.get("output") or "")
            return f"{harness}:{stem}-{sha256(answer)[:8]}"
    return f"{harness}:{stem}"


def _is_answer(message: Mapping[str, Any]) -> bool:
    answered = message.get("role") == "assistant" or message.get("object") == "response"
    return answered and not message.get("is_demo")


def facts_of(**facts: object) -> dict[str, str]:
    return {name: str(fact) for name, fact in facts.items() if fact not in (None, "")}


def value_within(value: object, *keys: str) -> Any:
    """A value deep inside mappings, or None where the way ends."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
