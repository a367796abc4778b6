"""The agent's tool calls with how they ended: by the harness's flag, an exit code, a JSON field, or the shape of an
error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reverie.transcripts.session import Said, Session, ToolCall, Turn

_COMMAND_KEYS = ("command", "cmd", "script", "code", "query")
MAX_COMMAND = 400
_READ_CHARS = 20_000
_EXIT_CODE = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: status| code)?|returncode|rc)[ :=]+\(?(\d{1,3})\b", re.I)
_ERROR_LINE = re.compile(
    r"^.{0,200}?(?:\bTraceback \(most recent|\b\w*(?:Error|Exception)\b: |\berror:|\bERROR\b|\bFAILED\b|\bfatal:"
    r"|command not found|No such file or directory|Permission denied|not recognized as|npm ERR!|Segmentation fault"
    r"|\bpanic:|\bE:\s|Could not |cannot |unable to |Connection refused|\bfailed\b).{0,300}$",
    re.MULTILINE,
)
_FAILING = ("false", "error", "failed", "failure")


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


# ---- how a call ended --------------------------------------------------------------------------------------------


def outcome(said: Said) -> bool | None:
    """True: it worked. False: it failed. None: cannot be told."""
    if said.failed is not None:
        return not said.failed
    text = said.text[:_READ_CHARS]
    fields = _fields(text)
    if fields:
        return _by_fields(fields)
    if code := _EXIT_CODE.search(text):
        return code[1] == "0"
    lines = text.strip().splitlines()
    edges = "\n".join([*lines[:3], *lines[3:][-10:]])  # deep inside a long text an "error:" is more likely its subject
    return False if _ERROR_LINE.search(edges) else None


def complaint(said: Said) -> str:
    """The line of the result that says what went wrong: verbatim, and at most 200 characters of it."""
    text = said.text[:_READ_CHARS]
    fields = _fields(text)
    for name in ("error", "stderr", "output", "content", "message", "result", "stdout"):
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            text = value
            break
    line = found[0] if (found := _ERROR_LINE.search(text)) else next(iter(reversed(text.strip().splitlines())), "")
    return line.strip()[:200]


def _by_fields(fields: dict[str, Any]) -> bool | None:
    for name in ("exit_code", "exitCode", "returncode", "return_code", "exit_status"):
        if isinstance(code := fields.get(name), int) and not isinstance(code, bool):
            return code == 0
    for name in ("success", "ok", "succeeded"):
        if isinstance(worked := fields.get(name), bool):
            return worked
    if isinstance(failed := fields.get("is_error"), bool):
        return not failed
    if str(fields.get("status", "")).lower() in _FAILING or fields.get("error"):
        return False
    return None


def _fields(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
