"""`/v1/memory_stores/{id}/memory_versions`."""

from __future__ import annotations

from fastapi import APIRouter

from reverie.memory.stores.store import Author, Hand, Operation, VersionQuery
from reverie.server.caller import Reader, Writer
from reverie.server.pagination import After, Before, Limit, Page, Since, Until, View, between, most, paged, position
from reverie.server.shapes import stores as shapes

router = APIRouter(prefix="/v1/memory_stores/{memory_store_id}/memory_versions", tags=["memory versions"])
LISTING = "versions"


@router.get("")
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
    since: Since = None,
    until: Until = None,
    after: After = None,
    before: Before = None,
) -> shapes.MemoryVersionPage:
    """Newest first, those of deleted memories too."""
    wanted: tuple[tuple[Hand, str | None], ...] = (
        ("session", session_id),
        ("api", api_key_id),
        ("service_account", service_account_id),
    )
    authors = tuple(Author(hand, name) for hand, name in wanted if name is not None)
    chosen = VersionQuery(memory_id, operation, authors, between(since, until, after, before))
    limit, start = most(limit, view), position(page, LISTING, int)
    found = who.stores.versions(memory_store_id, chosen, after=start, limit=limit + 1, full=view == "full")
    shown = [shapes.memory_version(version, view) for version in found[:limit]]
    return shapes.MemoryVersionPage(data=shown, next_page=paged(found, limit, LISTING, lambda one: one.number))


@router.get("/{memory_version_id}")
def retrieve_memory_version(
    who: Reader, memory_store_id: str, memory_version_id: str, view: View = "full"
) -> shapes.WireMemoryVersion:
    found = who.stores.version(memory_store_id, memory_version_id, full=view == "full")
    return shapes.memory_version(found, view)


@router.post("/{memory_version_id}/redact")
def redact_memory_version(who: Writer, memory_store_id: str, memory_version_id: str) -> shapes.WireMemoryVersion:
    """Remove what it said for good, from history too. What a memory says now cannot be redacted."""
    return shapes.memory_version(who.storing.redact(memory_store_id, memory_version_id), "full")
