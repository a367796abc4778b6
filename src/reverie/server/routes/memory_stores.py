"""`/v1/memory_stores`, the memories in them and the versions of those."""

from __future__ import annotations

from fastapi import APIRouter

from reverie.changes.land import Landed, in_words
from reverie.memory.store import Author, Hand, Operation, Refused, StoredMemory, VersionQuery
from reverie.server.caller import Reader, Writer
from reverie.server.errors import FINAL, Problem, refused
from reverie.server.pagination import Created, Limit, Page, View, most, paged, position
from reverie.server.shapes import stores as shapes

stores = APIRouter(prefix="/v1/memory_stores", tags=["memory stores"])
STORES = "stores"


@stores.post("")
def create_memory_store(who: Writer, body: shapes.NewStore) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.create(body.name, body.description or "", body.metadata))


@stores.get("")
def list_memory_stores(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    include_archived: bool = False,
    made: Created,
) -> shapes.MemoryStorePage:
    """Newest first."""
    start = position(page, STORES, str)
    found = who.stores.find(made, archived=include_archived, after=start, limit=limit + 1)
    shown = [shapes.memory_store(store) for store in found[:limit]]
    return shapes.MemoryStorePage(data=shown, next_page=paged(found, limit, STORES, lambda store: store.id))


@stores.get("/{memory_store_id}")
def retrieve_memory_store(who: Reader, memory_store_id: str) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.get(memory_store_id))


@stores.post("/{memory_store_id}")
def update_memory_store(who: Writer, memory_store_id: str, body: shapes.StorePatch) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.update(memory_store_id, body.name, body.description, body.metadata))


@stores.post("/{memory_store_id}/archive")
def archive_memory_store(who: Writer, memory_store_id: str) -> shapes.MemoryStore:
    """From now on it can be read and not written. There is no way back."""
    return shapes.memory_store(who.stores.archive(memory_store_id))


@stores.post("/{memory_store_id}/changes/{change_id}/undo")
def undo_change(who: Writer, memory_store_id: str, change_id: str) -> shapes.Undone:
    """Take a change back, byte for byte; 409 if something came after it. A version's `reverie_change_id` names it."""
    outcome = who.storing.undo(memory_store_id, change_id)
    if not isinstance(outcome, Landed):
        raise Problem(409, f"{change_id} was not taken back: {in_words(outcome)}", headers=FINAL)
    return shapes.Undone(id=outcome.change.id, undoes=change_id)


@stores.delete("/{memory_store_id}")
def delete_memory_store(who: Writer, memory_store_id: str) -> shapes.MemoryStoreDeleted:
    """With its memories and versions."""
    who.stores.delete(memory_store_id)
    return shapes.MemoryStoreDeleted(id=memory_store_id)


memories = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memories", tags=["memories"])
MEMORIES = "memories"


@memories.post("")
def create_memory(who: Writer, memory_store_id: str, body: shapes.NewMemory, view: View = "basic") -> shapes.WireMemory:
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
) -> shapes.MemoryPage:
    """In the order of their paths; with `depth=1` what is further below is rolled up."""
    limit, start = most(limit, view), position(page, MEMORIES, str)
    found = who.stores.memories(memory_store_id, path_prefix, depth, after=start, limit=limit + 1, full=view == "full")
    shown = [shapes.listed_memory(one, view) for one in found[:limit]]
    return shapes.MemoryPage(data=shown, next_page=paged(found, limit, MEMORIES, lambda one: one.path))


@memories.get("/{memory_id}")
def retrieve_memory(who: Reader, memory_store_id: str, memory_id: str, view: View = "full") -> shapes.WireMemory:
    return shapes.memory(who.stores.memory(memory_store_id, memory_id, full=view == "full"), view)


@memories.post("/{memory_id}")
def update_memory(
    who: Writer, memory_store_id: str, memory_id: str, body: shapes.MemoryPatch, view: View = "basic"
) -> shapes.WireMemory:
    """Rewrite, rename or both; with a precondition only if it still says what the writer read."""
    expected = body.precondition.content_sha256 if body.precondition else None
    return _rendered(who.storing.update(memory_store_id, memory_id, body.path, body.content, expected), view)


@memories.delete("/{memory_id}")
def delete_memory(
    who: Writer, memory_store_id: str, memory_id: str, expected_content_sha256: str | None = None
) -> shapes.MemoryDeleted:
    """Its versions stay."""
    if refusal := who.storing.delete(memory_store_id, memory_id, expected_content_sha256):
        raise refused(refusal)
    return shapes.MemoryDeleted(id=memory_id)


def _rendered(outcome: StoredMemory | Refused, view: View) -> shapes.WireMemory:
    if not isinstance(outcome, StoredMemory):
        raise refused(outcome)
    return shapes.memory(outcome, view)


versions = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memory_versions", tags=["memory versions"])
MEMORY_VERSIONS = "versions"


@versions.get("")
def list_memory_versions(
    *,
    who: Reader,
    memory_store_id: str,
    memory_id: str | None = None,
    operation: Operation | None = None,
    session_id: str | None = None,
    api_key_id: str | None = None,
    service_account_id: str | None = None,
    limit: Limit = 20,
    page: Page = None,
    view: View = "basic",
    made: Created,
) -> shapes.MemoryVersionPage:
    """Newest first, those of deleted memories too."""
    wanted: tuple[tuple[Hand, str | None], ...] = (
        ("session", session_id),
        ("api", api_key_id),
        ("service_account", service_account_id),
    )
    authors = tuple(Author(hand, name) for hand, name in wanted if name is not None)
    chosen = VersionQuery(memory_id, operation, authors, made)
    limit, start = most(limit, view), position(page, MEMORY_VERSIONS, int)
    found = who.stores.versions(memory_store_id, chosen, after=start, limit=limit + 1, full=view == "full")
    shown = [shapes.memory_version(version, view) for version in found[:limit]]
    return shapes.MemoryVersionPage(data=shown, next_page=paged(found, limit, MEMORY_VERSIONS, lambda one: one.number))


@versions.get("/{memory_version_id}")
def retrieve_memory_version(
    who: Reader, memory_store_id: str, memory_version_id: str, view: View = "full"
) -> shapes.WireMemoryVersion:
    found = who.stores.version(memory_store_id, memory_version_id, full=view == "full")
    return shapes.memory_version(found, view)


@versions.post("/{memory_version_id}/redact")
def redact_memory_version(who: Writer, memory_store_id: str, memory_version_id: str) -> shapes.WireMemoryVersion:
    """Remove what it said for good, from history too. What a memory says now cannot be redacted."""
    return shapes.memory_version(who.storing.redact(memory_store_id, memory_version_id), "full")
