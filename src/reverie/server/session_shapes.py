"""Sessions and their events over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie.server.definitions import Parts, SessionAgent, WireModel, stamps
from reverie.server.wire import WirePage
from reverie.transcripts import recorded


class AgentReference(BaseModel):
    type: Literal["agent"]
    id: str
    version: Annotated[int, Field(ge=1, lt=2**31)] | None = None


class AgentWithOverrides(BaseModel):
    """An agent that is something else in this session only."""

    type: Literal["agent_with_overrides"]
    id: str
    version: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    model: str | WireModel | None = None
    system: str | None = None
    tools: Parts | None = None
    mcp_servers: Parts | None = None
    skills: Parts | None = None


class MountedStore(BaseModel):
    type: Literal["memory_store"]
    memory_store_id: Annotated[str, Field(pattern=r"^[!-~]+$")]
    access: Literal["read_write", "read_only"] | None = None
    instructions: Annotated[str, Field(max_length=recorded.LONGEST_INSTRUCTIONS)] | None = None


# ---- what a client may send: never an `agent.…` or a `session.…` event -----------------------------------------------


class Text(BaseModel):
    type: Literal["text"]
    text: Annotated[str, Field(min_length=1)]


class Block(BaseModel, extra="allow"):
    type: Literal["image", "document", "search_result", "redacted"]


Content = Annotated[list[Annotated[Text | Block, Field(discriminator="type")]], Field(min_length=1)]


class UserMessage(BaseModel):
    type: Literal["user.message"]
    content: Content


class UserInterrupt(BaseModel):
    type: Literal["user.interrupt"]
    session_thread_id: str | None = None


class UserToolConfirmation(BaseModel):
    type: Literal["user.tool_confirmation"]
    tool_use_id: str
    result: Literal["allow", "deny"]
    deny_message: str | None = None


class UserToolResult(BaseModel):
    type: Literal["user.tool_result"]
    tool_use_id: str
    content: Content | None = None
    is_error: bool | None = None


class UserCustomToolResult(BaseModel):
    type: Literal["user.custom_tool_result"]
    custom_tool_use_id: str
    content: Content | None = None
    is_error: bool | None = None


class TextRubric(BaseModel):
    type: Literal["text"]
    content: str


class FileRubric(BaseModel):
    type: Literal["file"]
    file_id: str


class UserDefineOutcome(BaseModel):
    type: Literal["user.define_outcome"]
    description: Annotated[str, Field(min_length=1)]
    rubric: Annotated[TextRubric | FileRubric, Field(discriminator="type")]
    max_iterations: Annotated[int, Field(ge=1, le=recorded.MOST_ITERATIONS)] | None = None


class SystemMessage(BaseModel):
    type: Literal["system.message"]
    content: Annotated[list[Text], Field(min_length=1)]


Sent = Annotated[
    UserMessage
    | UserInterrupt
    | UserToolConfirmation
    | UserToolResult
    | UserCustomToolResult
    | UserDefineOutcome
    | SystemMessage,
    Field(discriminator="type"),
]


class NewEvents(BaseModel):
    events: Annotated[list[Sent], Field(min_length=1, max_length=recorded.MOST_EVENTS)]


class NewSession(BaseModel):
    agent: str | Annotated[AgentReference | AgentWithOverrides, Field(discriminator="type")]
    environment_id: str
    title: str | None = None
    metadata: dict[str, str] | None = None
    resources: Annotated[list[MountedStore], Field(max_length=recorded.MOST_STORES)] | None = None
    initial_events: list[Sent] | None = None
    vault_ids: list[str] | None = None
    budget: dict[str, Any] | None = None


class AgentParts(BaseModel):
    tools: Parts | None = None
    mcp_servers: Parts | None = None


class SessionPatch(BaseModel):
    title: str | None = None
    metadata: dict[str, str | None] | None = None
    agent: AgentParts | None = None
    budget: dict[str, Any] | None = None


# ---- what is answered ------------------------------------------------------------------------------------------------


class CacheCreation(BaseModel):
    ephemeral_1h_input_tokens: int = 0
    ephemeral_5m_input_tokens: int = 0


class SessionUsage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation = Field(default_factory=CacheCreation)


class SessionStats(BaseModel):
    active_seconds: float = 0
    duration_seconds: float


class WireSession(BaseModel):
    id: str
    type: Literal["session"] = "session"
    agent: SessionAgent
    environment_id: str
    status: recorded.Status
    title: str | None
    metadata: dict[str, str]
    resources: Parts
    vault_ids: list[str]
    outcome_evaluations: Parts
    stats: SessionStats
    usage: SessionUsage
    budget: dict[str, Any] | None
    deployment_id: str | None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    reverie_user: str


class SessionPage(WirePage[WireSession]):
    prev_page: str | None


class SessionDeleted(BaseModel):
    id: str
    type: Literal["session_deleted"] = "session_deleted"


class SessionThread(BaseModel):
    id: str
    type: Literal["session_thread"] = "session_thread"
    session_id: str
    agent: SessionAgent
    status: recorded.Status
    parent_thread_id: None = None
    workflow_run_id: None = None
    stats: SessionStats | None = None
    usage: SessionUsage | None = None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class ThreadPage(WirePage[SessionThread]): ...


class SessionResource(BaseModel, extra="allow"):
    type: str


class ResourcePage(WirePage[dict[str, Any]]): ...


class ResourceDeleted(BaseModel):
    id: str
    type: Literal["session_resource_deleted"] = "session_resource_deleted"


class SessionEvent(BaseModel, extra="allow"):
    """One of the event types of Anthropic's API, with the fields of its type."""

    id: str
    type: str
    processed_at: datetime | None


class EventPage(WirePage[SessionEvent]): ...


_EVENTS = {
    "user": "message interrupt tool_confirmation custom_tool_result tool_result define_outcome",
    "system": "message",
    "agent": (
        "message thinking tool_use tool_result custom_tool_use mcp_tool_use mcp_tool_result "
        "thread_message_received thread_message_sent thread_context_compacted"
    ),
    "session": (
        "error updated usage status_rescheduled status_running status_idle status_terminated thread_created "
        "thread_status_running thread_status_idle thread_status_rescheduled thread_status_terminated"
    ),
    "span": (
        "model_request_start model_request_end outcome_evaluation_start outcome_evaluation_ongoing "
        "outcome_evaluation_end"
    ),
    "workflow_run": "created status_running status_idle status_ended error phase_started phase_ended",
}
if TYPE_CHECKING:
    EventType = str
else:
    EventType = Literal[tuple(f"{kind}.{name}" for kind, names in _EVENTS.items() for name in names.split())]


class SentEvents(BaseModel):
    data: list[SessionEvent]


def session(found: recorded.Recorded) -> WireSession:
    return WireSession(
        **stamps(found),
        agent=SessionAgent(**found.agent),
        environment_id=found.environment,
        status=found.status,
        title=found.title,
        metadata=dict(found.metadata),
        resources=[dict(one) for one in found.resources],
        vault_ids=list(found.vaults),
        outcome_evaluations=[],
        usage=SessionUsage(),
        stats=SessionStats(duration_seconds=(found.updated_at - found.created_at).total_seconds()),
        budget=dict(found.budget) if found.budget is not None else None,
        deployment_id=None,
        reverie_user=found.user,
    )


def thread_of(found: recorded.Recorded) -> str:
    return found.id.replace("sesn_", "sthr_", 1)


def thread(found: recorded.Recorded) -> SessionThread:
    given = stamps(found) | {"id": thread_of(found), "session_id": found.id, "status": found.status}
    return SessionThread(agent=SessionAgent(**found.agent), **given)


def event(found: recorded.RecordedEvent) -> SessionEvent:
    return SessionEvent(id=found.id, type=found.type, processed_at=found.at, **found.told)
