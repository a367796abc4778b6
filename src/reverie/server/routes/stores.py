"""`/v1/memory_stores`."""

from __future__ import annotations

from fastapi import APIRouter

from reverie.changes.land import Landed, in_words
from reverie.server.caller import Reader, Writer
from reverie.server.errors import FINAL, Problem
from reverie.server.pagination import After, Before, Limit, Page, Since, Until, between, paged, position
from reverie.server.shapes import stores as shapes

router = APIRouter(prefix="/v1/memory_stores", tags=["memory stores"])
LISTING = "stores"


@router.post("")
def create_memory_store(who: Writer, body: shapes.NewStore) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.create(body.name, body.description or "", body.metadata))


@router.get("")
def list_memory_stores(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    include_archived: bool = False,
    since: Since = None,
    until: Until = None,
    after: After = None,
    before: Before = None,
) -> shapes.MemoryStorePage:
    """Newest first."""
    made, start = between(since, until, after, before), position(page, LISTING, str)
    found = who.stores.find(made, archived=include_archived, after=start, limit=limit + 1)
    shown = [shapes.memory_store(store) for store in found[:limit]]
    return shapes.MemoryStorePage(data=shown, next_page=paged(found, limit, LISTING, lambda store: store.id))


@router.get("/{memory_store_id}")
def retrieve_memory_store(who: Reader, memory_store_id: str) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.get(memory_store_id))


@router.post("/{memory_store_id}")
def update_memory_store(who: Writer, memory_store_id: str, body: shapes.StorePatch) -> shapes.MemoryStore:
    return shapes.memory_store(who.stores.update(memory_store_id, body.name, body.description, body.metadata))


@router.post("/{memory_store_id}/archive")
def archive_memory_store(who: Writer, memory_store_id: str) -> shapes.MemoryStore:
    """From now on it can be read and not written. There is no way back."""
    return shapes.memory_store(who.stores.archive(memory_store_id))


@router.post("/{memory_store_id}/changes/{change_id}/undo")
def undo_change(who: Writer, memory_store_id: str, change_id: str) -> shapes.Undone:
    """Take a change back, byte for byte; 409 if something came after it. A version's `reverie_change_id` names it."""
    outcome = who.storing.undo(memory_store_id, change_id)
    if not isinstance(outcome, Landed):
        raise Problem(409, f"{change_id} was not taken back: {in_words(outcome)}", headers=FINAL)
    return shapes.Undone(id=outcome.change.id, undoes=change_id)


@router.delete("/{memory_store_id}")
def delete_memory_store(who: Writer, memory_store_id: str) -> shapes.MemoryStoreDeleted:
    """With its memories and versions."""
    who.stores.delete(memory_store_id)
    return shapes.MemoryStoreDeleted(id=memory_store_id)
