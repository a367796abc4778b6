"""What harnesses write inside the text of a message: thoughts, calls, and how a call ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie.transcripts.json_streams import parsed_beginning
from reverie.transcripts.messages import arguments_text
from reverie.transcripts.session import ToolCall

_THOUGHT_TAGS = ("think", "thinking", "REASONING_SCRATCHPAD")
_CALL_OPENS, _CALL_CLOSES = "<tool_call>", "</tool_call>"
_PARSED_CHARS = 4_000_000  # a result longer than this is output, not a statement about how the call ended
_BAD_STATUS = {"error", "failed", "failure", "timeout"}


def spoken(text: str) -> str:
    """The text without its thoughts. An opening tag that is never closed is a cut-off thought."""
    for tag in _THOUGHT_TAGS:
        if f"<{tag}>" in text:
            text = _without(text, f"<{tag}>", f"</{tag}>").strip()
    return text


def _without(text: str, opening: str, closing: str) -> str:
    kept, place = [], 0
    while (start := text.find(opening, place)) >= 0:
        kept.append(text[place:start])
        end = text.find(closing, start)
        if end < 0:
            return "".join(kept)
        place = end + len(closing)
    return "".join([*kept, text[place:]])


def calls_out_of(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Take `<tool_call>{…}</tool_call>` out of a text. One that is not JSON stays in the words."""
    if _CALL_OPENS not in text:
        return text, ()
    words, calls = [], []
    for place, piece in enumerate(text.split(_CALL_OPENS)):
        inside, closed, behind = piece.partition(_CALL_CLOSES)
        call = _call(inside) if place and closed else None
        if call is None:
            words.append(_CALL_OPENS + piece if place else piece)
        else:
            calls.append(call)
            words.append(behind)
    return "".join(words).strip(), tuple(calls)


def _call(text: str) -> ToolCall | None:
    call = json_object(text)
    if call is None or not isinstance(call.get("name"), str):
        return None
    identity = call.get("id")
    return ToolCall(
        call["name"], arguments_text(call.get("arguments")), identity if isinstance(identity, str) else None
    )


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object a text begins with, if it does; harnesses put remarks behind it."""
    text = text.lstrip() if len(text) <= _PARSED_CHARS else ""
    if not text.startswith("{"):
        return None
    try:
        value = parsed_beginning(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def how_call_failed(result: Mapping[str, Any] | None) -> bool | None:
    """Whether a call failed, where its result says so: `exit_code`, `success`, `error`, `status`; else None."""
    if result is None:
        return None
    code = result.get("exit_code", result.get("returncode"))
    succeeded, error = result.get("success"), result.get("error")
    if succeeded is False or error or (isinstance(code, int) and code != 0):
        return True
    if str(result.get("status")).lower() in _BAD_STATUS:
        return True
    return False if succeeded is True or code == 0 else None
