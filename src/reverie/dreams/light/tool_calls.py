"""The agent's tool calls with how they ended, as far as the transcript says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from reverie.dreams.light.tool_results import complaint, outcome
from reverie.transcripts.session import Session, ToolCall, Turn

_COMMAND_KEYS = ("command", "cmd", "script", "code", "query")
MAX_COMMAND = 400


@dataclass(frozen=True, slots=True)
class Trial:
    """One call and its result. `command` is what was run: a shell command where there is one, else the whole call."""

    turn: int
    tool: str
    command: str
    quoted: str
    result: int
    worked: bool | None
    complaint: str


def trials(session: Session) -> Iterator[Trial]:
    """Each call with its result, in the order of the results."""
    waiting: list[tuple[Turn, ToolCall]] = []
    for turn in session.turns:
        if turn.noise is not None:
            continue
        if turn.said.calls and turn.role == "assistant":  # a lesson rests on the agent's own calls
            waiting = [(turn, call) for call in turn.said.calls]
        elif turn.role == "tool" and waiting:
            place = next((n for n, (_, call) in enumerate(waiting) if call.id and call.id == turn.said.answers), 0)
            yield _trial(*waiting.pop(place), turn)


def _trial(turn: Turn, call: ToolCall, result: Turn) -> Trial:
    command = (command_of(call.arguments) or str(call))[:MAX_COMMAND]
    quoted = command if command in turn.said.whole else str(call)[:MAX_COMMAND]
    worked = outcome(result.said)
    said_wrong = complaint(result.said) if worked is False else ""
    return Trial(turn.number, call.name, command, quoted, result.number, worked, said_wrong)


def command_of(arguments: str) -> str:
    """Empty if there is no command among the arguments."""
    if not arguments.lstrip().startswith("{"):
        return arguments.strip()
    try:
        fields = json.loads(arguments)
    except ValueError:
        return ""
    if isinstance(fields, dict):
        for key in _COMMAND_KEYS:
            value = fields.get(key)
            if isinstance(value, list):
                return " ".join(map(str, value)).strip()
            if isinstance(value, str) and value.strip():
                return value.strip()
    return ""
