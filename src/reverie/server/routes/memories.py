"""`/v1/memory_stores/{id}/memories`."""

from __future__ import annotations

from fastapi import APIRouter

from reverie.memory.stores.store import Refused, StoredMemory
from reverie.server.caller import Reader, Writer
from reverie.server.errors import refused
from reverie.server.pagination import Limit, Page, View, most, paged, position
from reverie.server.shapes import stores as shapes

router = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memories", tags=["memories"])
LISTING = "memories"


@router.post("")
def create_memory(who: Writer, memory_store_id: str, body: shapes.NewMemory, view: View = "basic") -> shapes.WireMemory:
    return _rendered(who.storing.create(memory_store_id, body.path, body.content or ""), view)


@router.get("")
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
    limit, start = most(limit, view), position(page, LISTING, str)
    found = who.stores.memories(memory_store_id, path_prefix, depth, after=start, limit=limit + 1, full=view == "full")
    shown = [shapes.listed_memory(one, view) for one in found[:limit]]
    return shapes.MemoryPage(data=shown, next_page=paged(found, limit, LISTING, lambda one: one.path))


@router.get("/{memory_id}")
def retrieve_memory(who: Reader, memory_store_id: str, memory_id: str, view: View = "full") -> shapes.WireMemory:
    return shapes.memory(who.stores.memory(memory_store_id, memory_id, full=view == "full"), view)


@router.post("/{memory_id}")
def update_memory(
    who: Writer, memory_store_id: str, memory_id: str, body: shapes.MemoryPatch, view: View = "basic"
) -> shapes.WireMemory:
    """Rewrite, rename or both; with a precondition only if it still says what the writer read."""
    expected = body.precondition.content_sha256 if body.precondition else None
    return _rendered(who.storing.update(memory_store_id, memory_id, body.path, body.content, expected), view)


@router.delete("/{memory_id}")
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
