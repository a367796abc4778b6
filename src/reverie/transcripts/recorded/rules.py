"""What an agent, an environment, a session and an event may be. The limits are those of Anthropic's API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reverie.core.errors import BadInput, NotFound, ReverieError

LONGEST_NAME = 255
MOST_METADATA, LONGEST_KEY, LONGEST_VALUE = 16, 64, 512
DEEPEST = 100
MOST_EVENTS = 1_000  # of one request
MOST_INITIAL_EVENTS = 50
MOST_STORES = 8
LONGEST_INSTRUCTIONS = 4_096
MOST_ITERATIONS = 20
_ACCOMPANIED = ("user.message", "user.tool_result", "user.custom_tool_result")
_INITIAL = ("user.message", "user.define_outcome")


class EnvironmentArchived(BadInput):
    """`code` is what the wire calls it."""

    code = "environment_archived"


class EnvironmentNotFound(NotFound):
    code = "environment_not_found"


class VersionPassed(ReverieError):
    """Someone else changed the agent since the writer read it."""

    http_status = 409


def checked_definition_name(name: str) -> str:
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(f"name: {name[:40]!r}.", expected=f"1 to {LONGEST_NAME} characters on one line")
    return name


def patch_metadata(old: Mapping[str, str], patch: Mapping[str, str | None] | None) -> dict[str, str]:
    """The old pairs with the patch laid over them: None takes a key away."""
    pairs = {key: value for key, value in {**old, **(patch or {})}.items() if value is not None}
    if len(pairs) > MOST_METADATA:
        raise BadInput(f"metadata: {len(pairs)} pairs.", expected=f"at most {MOST_METADATA}")
    for key, value in pairs.items():
        if not 1 <= len(key) <= LONGEST_KEY or len(value) > LONGEST_VALUE:
            raise BadInput(
                f"metadata: {key[:80]!r} with {len(value)} characters.",
                expected=f"keys of 1 to {LONGEST_KEY} and values of at most {LONGEST_VALUE} characters",
            )
    return pairs


def checked_storable(told: Any) -> Any:
    """Half of a surrogate pair is no text; JSON can hold one. And it can be nested deeper than anyone reads."""
    if _is_deep(told, DEEPEST):
        raise BadInput(f"It is nested more than {DEEPEST} deep.", expected="something flatter")
    try:
        json.dumps(told, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadInput("A text holds half of a surrogate pair.", expected="text that UTF-8 can hold") from error
    return told


def _is_deep(told: Any, left: int) -> bool:
    inner = told.values() if isinstance(told, Mapping) else told if isinstance(told, list | tuple) else ()
    return any(left == 0 or _is_deep(one, left - 1) for one in inner)


def sendable(events: Sequence[Mapping[str, Any]]) -> None:
    """A system message accompanies what a person or a tool said: behind it, and at the end."""
    kinds = [str(event["type"]) for event in events]
    if "system.message" not in kinds:
        return
    if kinds.index("system.message") != len(kinds) - 1 or len(kinds) < 2 or kinds[-2] not in _ACCOMPANIED:
        raise BadInput(
            "events: a system.message stands alone or too early.",
            expected=f"it as the last event, right behind {' or '.join(_ACCOMPANIED)}",
        )


def initial(events: Sequence[Mapping[str, Any]]) -> None:
    if len(events) > MOST_INITIAL_EVENTS:
        raise BadInput(f"initial_events: {len(events)}.", expected=f"at most {MOST_INITIAL_EVENTS}")
    if wrong := next((event["type"] for event in events if event["type"] not in _INITIAL), None):
        raise BadInput(f"initial_events: {wrong}.", expected=f"{' or '.join(_INITIAL)}")


def mount_path(name: str) -> str:
    """Where a memory store is mounted: its name, every run of what is no letter or digit as one dash."""
    kept = "".join(char.lower() if char.isascii() and char.isalnum() else " " for char in name)
    return f"/mnt/memory/{'-'.join(kept.split()) or 'store'}"
