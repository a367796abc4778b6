"""What goes over the wire. What is ours begins with `reverie_`; everything else is as in Anthropic's API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie.memory import store
from reverie.memory import store as values


def _limited(**limits: Any) -> Any:
    """Limits as OpenAPI says them. What they mean is decided in `memory.store_rules`, once."""
    return Field(json_schema_extra=limits)


Name = Annotated[str, _limited(minLength=1, maxLength=store.LONGEST_NAME)]
Description = Annotated[str, _limited(maxLength=store.LONGEST_DESCRIPTION)]
Path = Annotated[str, _limited(pattern="^(/[^/]+){1,20}$", maxLength=store.LONGEST_PATH_BYTES)]
Content = Annotated[str, _limited(maxLength=store.LARGEST_MEMORY_BYTES)]
Sha256 = Annotated[str, _limited(pattern="^[0-9a-f]{64}$")]


class NewStore(BaseModel):
    name: Name
    description: Description | None = None
    metadata: Annotated[dict[str, str], _limited(maxProperties=store.MOST_METADATA)] | None = None


class StorePatch(BaseModel):
    """A change: what is left out or null stays; a null within `metadata` takes that key away."""

    name: Name | None = None
    description: Description | None = None
    metadata: dict[str, str | None] | None = None


class NewMemory(BaseModel):
    path: Path
    content: Content | None = Field(description="At most 102,400 bytes of UTF-8; empty is allowed.")


class Precondition(BaseModel):
    type: Literal["content_sha256"]
    content_sha256: Sha256


class MemoryPatch(BaseModel):
    path: Path | None = None
    content: Content | None = None
    precondition: Precondition | None = None


class SessionActor(BaseModel):
    type: Literal["session_actor"] = "session_actor"
    session_id: str


class ApiActor(BaseModel):
    type: Literal["api_actor"] = "api_actor"
    api_key_id: str


class UserActor(BaseModel):
    type: Literal["user_actor"] = "user_actor"
    user_id: str


class ServiceAccountActor(BaseModel):
    type: Literal["service_account_actor"] = "service_account_actor"
    service_account_id: str


Actor = Annotated[SessionActor | ApiActor | UserActor | ServiceAccountActor, Field(discriminator="type")]


class WireFinding(BaseModel):
    """A finding of the safety scan. It never keeps a memory out of a store, only out of a prompt."""

    category: str
    severity: str


class MemoryStore(BaseModel):
    id: str
    type: Literal["memory_store"] = "memory_store"
    name: str
    description: str
    metadata: dict[str, str]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class WireMemory(BaseModel):
    id: str
    type: Literal["memory"] = "memory"
    memory_store_id: str
    path: str
    content: str | None
    content_sha256: str
    content_size_bytes: int
    memory_version_id: str
    created_at: datetime
    updated_at: datetime
    reverie_findings: list[WireFinding]


class MemoryPrefix(BaseModel):
    type: Literal["memory_prefix"] = "memory_prefix"
    path: str


class WireMemoryVersion(BaseModel):
    id: str
    type: Literal["memory_version"] = "memory_version"
    memory_store_id: str
    memory_id: str
    operation: values.Operation
    path: str | None
    content: str | None
    content_sha256: str | None
    content_size_bytes: int | None
    created_at: datetime
    created_by: Actor | None
    redacted_at: datetime | None
    redacted_by: Actor | None
    reverie_change_id: str | None
    reverie_findings: list[WireFinding]


class MemoryStorePage(BaseModel):
    data: list[MemoryStore]
    next_page: str | None


class MemoryPage(BaseModel):
    data: list[Annotated[WireMemory | MemoryPrefix, Field(discriminator="type")]]
    next_page: str | None


class MemoryVersionPage(BaseModel):
    data: list[WireMemoryVersion]
    next_page: str | None


class MemoryStoreDeleted(BaseModel):
    id: str
    type: Literal["memory_store_deleted"] = "memory_store_deleted"


class MemoryDeleted(BaseModel):
    id: str
    type: Literal["memory_deleted"] = "memory_deleted"


class Undone(BaseModel):
    """The change that took another one back."""

    id: str
    type: Literal["change"] = "change"
    undoes: str


class ErrorDetail(BaseModel, extra="allow"):
    type: str
    message: str


class Error(BaseModel):
    type: Literal["error"] = "error"
    error: ErrorDetail
    request_id: str


def memory_store(store: values.Store) -> MemoryStore:
    return MemoryStore.model_validate(store, from_attributes=True)


def memory(stored: values.StoredMemory, view: str) -> WireMemory:
    return WireMemory(
        id=stored.id,
        memory_store_id=stored.store,
        path=stored.path,
        content=_content(stored.content, view),
        content_sha256=stored.sha256,
        content_size_bytes=stored.size,
        memory_version_id=stored.version,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        reverie_findings=_findings(stored.flags),
    )


def listed_memory(one: values.StoredMemory | values.Prefix, view: str) -> WireMemory | MemoryPrefix:
    return MemoryPrefix(path=one.path) if isinstance(one, values.Prefix) else memory(one, view)


def memory_version(version: values.MemoryVersion, view: str) -> WireMemoryVersion:
    return WireMemoryVersion(
        id=version.id,
        memory_store_id=version.store,
        memory_id=version.memory,
        operation=version.operation,
        path=version.path,
        content=_content(version.content, view),
        content_sha256=version.sha256,
        content_size_bytes=version.size,
        created_at=version.created_at,
        created_by=_actor(version.author),
        redacted_at=version.redacted_at,
        redacted_by=_actor(version.redacted_by),
        reverie_change_id=version.change,
        reverie_findings=_findings(version.flags),
    )


def _content(content: bytes | None, view: str) -> str | None:
    return None if content is None or view == "basic" else content.decode()


def _findings(flags: tuple[values.Flag, ...]) -> list[WireFinding]:
    return [WireFinding.model_validate(flag, from_attributes=True) for flag in flags]


def _actor(author: values.Author | None) -> Any:
    match author:
        case None:
            return None
        case values.Author("session", name):
            return SessionActor(session_id=name)
        case values.Author("user", name):
            return UserActor(user_id=name)
        case values.Author("service_account", name):
            return ServiceAccountActor(service_account_id=name)
        case values.Author(_, name):
            return ApiActor(api_key_id=name)
