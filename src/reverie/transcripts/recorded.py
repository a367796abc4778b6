"""A session recorded over the API as it happens, and the agent and environment it was made from: values, rules, ports.

What an agent, an environment, a session and an event may be has the limits of Anthropic's API. The events are kept as
they came, without secrets, because who sent them reads them back; what is said in them becomes a Session of the harness
`managed` in the same moment (`recorded_turns`).

Who the words are from is decided by the key that sent them and by the type of the event, never by what they say. A
system message sent over the API is the word of its sender: a key cannot make anyone an operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.core.scope import Origin, Scope
from reverie.transcripts.messages import arguments_text, text_of
from reverie.transcripts.readers import Intake, Redact
from reverie.transcripts.session import Head, Role, Said, ToolCall, Turn, shown_name

Kind = Literal["agent", "environment"]
Status = Literal["idle", "running", "rescheduling", "terminated"]
HARNESS = "managed"
DREAMING = "agent_dreaming"  # who works in the session of a dream


@dataclass(frozen=True, slots=True)
class Definition:
    """An agent or an environment. `user` '' is shared: every person of the workspace may use it, none may change it."""

    id: str
    user: str
    told: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    version: int = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """`agent` is the agent as it was when the session began, with `id` and `version`."""

    id: str
    user: str
    agent: Mapping[str, Any]
    environment: str
    created_at: datetime
    updated_at: datetime
    title: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[Mapping[str, Any], ...] = ()
    vaults: tuple[str, ...] = ()
    budget: Mapping[str, Any] | None = None
    status: Status = "idle"
    archived_at: datetime | None = None

    @property
    def is_ours(self) -> bool:
        """A dream's own session: an account of what we did, and no transcript to learn from."""
        return bool(self.agent["id"] == DREAMING)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """`told` is the event as it goes over the wire, without `id`, `type` and `processed_at`. `number` is its place."""

    id: str
    type: str
    at: datetime
    told: Mapping[str, Any]
    number: int = 0


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """Which sessions: all that is set must fit."""

    made: TimeSpan
    agent: str | None = None
    version: int | None = None
    store: str | None = None
    statuses: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """Which page of a listing: at most `limit`, behind the place `after` in this order."""

    limit: int
    after: str | int | None = None
    descending: bool = False


LONGEST_DEFINITION_NAME = 255
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
    if not 1 <= len(name) <= LONGEST_DEFINITION_NAME or not name.isprintable():
        raise BadInput(f"name: {name[:40]!r}.", expected=f"1 to {LONGEST_DEFINITION_NAME} characters on one line")
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


def check_sendable(events: Sequence[Mapping[str, Any]]) -> None:
    """A system message accompanies what a person or a tool said: behind it, and at the end."""
    kinds = [str(event["type"]) for event in events]
    if "system.message" not in kinds:
        return
    if kinds.index("system.message") != len(kinds) - 1 or len(kinds) < 2 or kinds[-2] not in _ACCOMPANIED:
        raise BadInput(
            "events: a system.message stands alone or too early.",
            expected=f"it as the last event, right behind {' or '.join(_ACCOMPANIED)}",
        )


def check_initial(events: Sequence[Mapping[str, Any]]) -> None:
    if len(events) > MOST_INITIAL_EVENTS:
        raise BadInput(f"initial_events: {len(events)}.", expected=f"at most {MOST_INITIAL_EVENTS}")
    if wrong := next((event["type"] for event in events if event["type"] not in _INITIAL), None):
        raise BadInput(f"initial_events: {wrong}.", expected=f"{' or '.join(_INITIAL)}")


def mount_path(name: str) -> str:
    """Where a memory store is mounted: its name, every run of what is no letter or digit as one dash."""
    kept = "".join(char.lower() if char.isascii() and char.isalnum() else " " for char in name)
    return f"/mnt/memory/{'-'.join(kept.split()) or 'store'}"


class DefinitionRecords(Protocol):
    def add(self, scope: Scope, kind: Kind, made: Definition) -> None: ...

    def change(
        self, scope: Scope, kind: Kind, name: str, change: Callable[[Definition], Definition]
    ) -> Definition | None:
        """Read and written in one transaction; a new version is kept beside the older ones. Not what is shared."""

    def one(self, scope: Scope, kind: Kind, name: str, version: int | None = None) -> Definition | None:
        """Of this scope, or shared by its workspace."""

    def find(self, scope: Scope, kind: Kind, made: TimeSpan, walk: Walk, *, archived: bool) -> list[Definition]: ...

    def versions(self, found: Definition, scope: Scope, kind: Kind, walk: Walk) -> list[Definition]: ...

    def delete(self, scope: Scope, kind: Kind, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class SpokenEvents:
    """Events, and the words of theirs in the session's transcript. Without a head there is no transcript."""

    events: Sequence[RecordedEvent]
    head: Head | None
    turns: Sequence[Turn]


class RecordedRecords(Protocol):
    def add(self, scope: Scope, session: Recorded, first: SpokenEvents | None = None) -> None:
        """With its first events, in one transaction: who is told that it failed may try again, and has one session."""

    def change(self, scope: Scope, name: str, change: Callable[[Recorded], Recorded]) -> Recorded | None: ...

    def one(self, scope: Scope, name: str) -> Recorded | None: ...

    def find(self, scope: Scope, which: RecordedQuery, walk: Walk) -> list[Recorded]: ...

    def delete(self, scope: Scope, name: str) -> None:
        """With its events, and its words wherever they are kept."""

    def record(self, scope: Scope, name: str, spoken: SpokenEvents) -> list[RecordedEvent]:
        """Behind the events there are, in one transaction.

        Returned are the events with their numbers; none when the session was deleted meanwhile.
        """

    def events(
        self, scope: Scope, name: str, types: Sequence[str], at: TimeSpan, walk: Walk
    ) -> list[RecordedEvent]: ...

    def last(self, scope: Scope, name: str) -> int | None:
        """The number of the last event; None when there is no such session."""


def recorded_head(session: Recorded) -> Head:
    return Head(
        id=session.id,
        user=session.user or None,
        harness=HARNESS,
        agent=str(session.agent["id"]),
        title=session.title,
        started_at=session.created_at,
        project=shown_name(session.metadata.get("project")),
    )


def recorded_turns(session: Recorded, events: Iterable[RecordedEvent], speaker: Origin, redact: Redact) -> list[Turn]:
    """Numbered from 1: where they stand in their session is known only to who keeps it."""
    intake, head, turns = Intake(session.user, redact), recorded_head(session), list[Turn]()
    for event in events:
        reading = _SAID.get(event.type)
        said = reading({**event.told, "id": event.id}) if reading else None
        if said is not None:
            origin = speaker if said.role in ("user", "system") else None
            turns.append(intake.turn(len(turns) + 1, replace(said, at=event.at, origin=origin), head))
    return turns


def _said_message(role: Role, told: Mapping[str, Any]) -> Said:
    return Said(role, text_of(told.get("content")))


def _said_outcome(told: Mapping[str, Any]) -> Said:
    rubric = told.get("rubric")
    asked = rubric.get("content") if isinstance(rubric, Mapping) else None
    return Said("user", "\n".join(text for text in (told.get("description"), asked) if isinstance(text, str) and text))


def _said_confirmation(told: Mapping[str, Any]) -> Said | None:
    """Yes and no are clicks; a reason is words."""
    reason = told.get("deny_message")
    return Said("user", reason) if isinstance(reason, str) and reason else None


def _said_call(told: Mapping[str, Any]) -> Said:
    """A result names the event that asked for it."""
    name = "/".join(str(told[part]) for part in ("mcp_server_name", "name") if told.get(part))
    return Said("assistant", "", calls=(ToolCall(name, arguments_text(told.get("input")), str(told["id"])),))


def _said_result(told: Mapping[str, Any]) -> Said:
    call = next((told[name] for name in ("tool_use_id", "custom_tool_use_id", "mcp_tool_use_id") if name in told), None)
    failed = told.get("is_error")
    return Said(
        "tool",
        text_of(told.get("content")),
        answers=call if isinstance(call, str) else None,
        failed=failed if isinstance(failed, bool) else None,
    )


_SAID: Mapping[str, Callable[[Mapping[str, Any]], Said | None]] = {
    "user.message": partial(_said_message, "user"),
    "user.define_outcome": _said_outcome,
    "user.tool_confirmation": _said_confirmation,
    "user.tool_result": _said_result,
    "user.custom_tool_result": _said_result,
    "system.message": partial(_said_message, "system"),
    "agent.message": partial(_said_message, "assistant"),
    "agent.tool_use": _said_call,
    "agent.mcp_tool_use": _said_call,
    "agent.custom_tool_use": _said_call,
    "agent.tool_result": _said_result,
    "agent.mcp_tool_result": _said_result,
}


def redact_deeply(told: Any, redact: Redact) -> Any:
    """The same with every text redacted. What is base64 is no text."""
    match told:
        case str():
            return redact(told)[0]
        case list():
            return [redact_deeply(one, redact) for one in told]
        case {"type": "base64"}:
            return told
        case dict():
            return {name: redact_deeply(one, redact) for name, one in told.items()}
        case _:
            return told
