"""`/v1/memory_stores`, the memories in them and the versions of those.

What is ours over the wire begins with `reverie_`; everything else is as in Anthropic's API.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from reverie.changes.land import Landed, in_words
from reverie.memory import store as kept
from reverie.server.caller import Reader, Writer
from reverie.server.wire import FINAL, Created, Limit, Page, Problem, View, WirePage, most, paged, position, refused

STORES = "stores"
MEMORIES = "memories"
MEMORY_VERSIONS = "versions"


def _limited(**limits: Any) -> Any:
    """Limits as OpenAPI says them. What they mean is decided in `memory.store_rules`, once."""
    return Field(json_schema_extra=limits)


Name = Annotated[str, _limited(minLength=1, maxLength=kept.LONGEST_NAME)]
Description = Annotated[str, _limited(maxLength=kept.LONGEST_DESCRIPTION)]
Path = Annotated[str, _limited(pattern="^(/[^/]+){1,20}$", maxLength=kept.LONGEST_PATH_BYTES)]
Content = Annotated[str, _limited(maxLength=kept.LARGEST_MEMORY_BYTES)]
Sha256 = Annotated[str, _limited(pattern="^[0-9a-f]{64}$")]


class NewStore(BaseModel):
    name: Name
    description: Description | None = None
    metadata: Annotated[dict[str, str], _limited(maxProperties=kept.MOST_METADATA)] | None = None


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
    operation: kept.Operation
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


class MemoryStorePage(WirePage[MemoryStore]): ...


class MemoryPage(WirePage[Annotated[WireMemory | MemoryPrefix, Field(discriminator="type")]]): ...


class MemoryVersionPage(WirePage[WireMemoryVersion]): ...


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


def memory_store(store: kept.Store) -> MemoryStore:
    return MemoryStore.model_validate(store, from_attributes=True)


def memory(stored: kept.StoredMemory, view: str) -> WireMemory:
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


def memory_version(version: kept.MemoryVersion, view: str) -> WireMemoryVersion:
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


def _findings(flags: tuple[kept.Flag, ...]) -> list[WireFinding]:
    return [WireFinding.model_validate(flag, from_attributes=True) for flag in flags]


def _actor(author: kept.Author | None) -> Any:
    match author:
        case None:
            return None
        case kept.Author("session", name):
            return SessionActor(session_id=name)
        case kept.Author("user", name):
            return UserActor(user_id=name)
        case kept.Author("service_account", name):
            return ServiceAccountActor(service_account_id=name)
        case kept.Author(_, name):
            return ApiActor(api_key_id=name)


stores = APIRouter(prefix="/v1/memory_stores", tags=["memory stores"])


@stores.post("")
def create_memory_store(who: Writer, body: NewStore) -> MemoryStore:
    return memory_store(who.stores.create(body.name, body.description or "", body.metadata))


@stores.get("")
def list_memory_stores(
    *, who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False, made: Created
) -> MemoryStorePage:
    """Newest first."""
    start = position(page, STORES, str)
    found = who.stores.find(made, archived=include_archived, after=start, limit=limit + 1)
    shown = [memory_store(store) for store in found[:limit]]
    return MemoryStorePage(data=shown, next_page=paged(found, limit, STORES, lambda store: store.id))


@stores.get("/{memory_store_id}")
def retrieve_memory_store(who: Reader, memory_store_id: str) -> MemoryStore:
    return memory_store(who.stores.get(memory_store_id))


@stores.post("/{memory_store_id}")
def update_memory_store(who: Writer, memory_store_id: str, body: StorePatch) -> MemoryStore:
    return memory_store(who.stores.update(memory_store_id, body.name, body.description, body.metadata))


@stores.post("/{memory_store_id}/archive")
def archive_memory_store(who: Writer, memory_store_id: str) -> MemoryStore:
    """From now on it can be read and not written. There is no way back."""
    return memory_store(who.stores.archive(memory_store_id))


@stores.post("/{memory_store_id}/changes/{change_id}/undo")
def undo_change(who: Writer, memory_store_id: str, change_id: str) -> Undone:
    """Take a change back, byte for byte; 409 if something came after it. A version's `reverie_change_id` names it."""
    outcome = who.storing.undo(memory_store_id, change_id)
    if not isinstance(outcome, Landed):
        raise Problem(409, f"{change_id} was not taken back: {in_words(outcome)}", headers=FINAL)
    return Undone(id=outcome.change.id, undoes=change_id)


@stores.delete("/{memory_store_id}")
def delete_memory_store(who: Writer, memory_store_id: str) -> MemoryStoreDeleted:
    """With its memories and versions."""
    who.stores.delete(memory_store_id)
    return MemoryStoreDeleted(id=memory_store_id)


memories = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memories", tags=["memories"])


@memories.post("")
def create_memory(who: Writer, memory_store_id: str, body: NewMemory, view: View = "basic") -> WireMemory:
    return _rendered(who.storing.create(memory_store_id, body.path, body.content or ""), view)


@memories.get("")
def list_memories(
    *,
    who: Reader,
    memory_store_id: str,
    path_prefix: str | None = None,
    depth: int | None = None,
    limit: Limit = 20,
    page: Page = None,
    view: View = "basic",
) -> MemoryPage:
    """In the order of their paths; with `depth=1` what is further below is rolled up."""
    limit, start = most(limit, view), position(page, MEMORIES, str)
    found = who.stores.memories(memory_store_id, path_prefix, depth, after=start, limit=limit + 1, full=view == "full")
    shown = [
        MemoryPrefix(path=one.path) if isinstance(one, kept.Prefix) else memory(one, view) for one in found[:limit]
    ]
    return MemoryPage(data=shown, next_page=paged(found, limit, MEMORIES, lambda one: one.path))


@memories.get("/{memory_id}")
def retrieve_memory(who: Reader, memory_store_id: str, memory_id: str, view: View = "full") -> WireMemory:
    return memory(who.stores.memory(memory_store_id, memory_id, full=view == "full"), view)


@memories.post("/{memory_id}")
def update_memory(
    who: Writer, memory_store_id: str, memory_id: str, body: MemoryPatch, view: View = "basic"
) -> WireMemory:
    """Rewrite, rename or both; with a precondition only if it still says what the writer read."""
    expected = body.precondition.content_sha256 if body.precondition else None
    return _rendered(who.storing.update(memory_store_id, memory_id, body.path, body.content, expected), view)


@memories.delete("/{memory_id}")
def delete_memory(
    who: Writer, memory_store_id: str, memory_id: str, expected_content_sha256: str | None = None
) -> MemoryDeleted:
    """Its versions stay."""
    if refusal := who.storing.delete(memory_store_id, memory_id, expected_content_sha256):
        raise refused(refusal)
    return MemoryDeleted(id=memory_id)


def _rendered(outcome: kept.StoredMemory | kept.Refused, view: View) -> WireMemory:
    if not isinstance(outcome, kept.StoredMemory):
        raise refused(outcome)
    return memory(outcome, view)


versions = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memory_versions", tags=["memory versions"])


@versions.get("")
def list_memory_versions(
    *,
    who: Reader,
    memory_store_id: str,
    memory_id: str | None = None,
    operation: kept.Operation | None = None,
    session_id: str | None = None,
    api_key_id: str | None = None,
    service_account_id: str | None = None,
    limit: Limit = 20,
    page: Page = None,
    view: View = "basic",
    made: Created,
) -> MemoryVersionPage:
    """Newest first, those of deleted memories too."""
    wanted: tuple[tuple[kept.Hand, str | None], ...] = (
        ("session", session_id),
        ("api", api_key_id),
        ("service_account", service_account_id),
    )
    authors = tuple(kept.Author(hand, name) for hand, name in wanted if name is not None)
    chosen = kept.VersionQuery(memory_id, operation, authors, made)
    limit, start = most(limit, view), position(page, MEMORY_VERSIONS, int)
    found = who.stores.versions(memory_store_id, chosen, after=start, limit=limit + 1, full=view == "full")
    shown = [memory_version(version, view) for version in found[:limit]]
    return MemoryVersionPage(data=shown, next_page=paged(found, limit, MEMORY_VERSIONS, lambda one: one.number))


@versions.get("/{memory_version_id}")
def retrieve_memory_version(
    who: Reader, memory_store_id: str, memory_version_id: str, view: View = "full"
) -> WireMemoryVersion:
    return memory_version(who.stores.version(memory_store_id, memory_version_id, full=view == "full"), view)


@versions.post("/{memory_version_id}/redact")
def redact_memory_version(who: Writer, memory_store_id: str, memory_version_id: str) -> WireMemoryVersion:
    """Remove what it said for good, from history too. What a memory says now cannot be redacted."""
    return memory_version(who.storing.redact(memory_store_id, memory_version_id), "full")
