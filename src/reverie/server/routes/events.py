"""`/v1/sessions/{id}/events`: sent, listed, and streamed as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from reverie.core.clock import TimeSpan
from reverie.server.caller import Caller, Reader, Watcher, Writer
from reverie.server.pagination import After, Before, Page, Since, Until, between, paged, position
from reverie.server.shapes import sessions as shapes
from reverie.server.stream import FRAMES, streamed
from reverie.transcripts.recorded.session import Walk

router = APIRouter(prefix="/v1/sessions/{session_id}/events", tags=["events"])
LISTING = "events"
Order = Literal["asc", "desc"]
EventLimit = Annotated[int, Query(ge=1, le=1000)]
Previews = Annotated[list[Literal["agent.message", "agent.thinking"]] | None, Query()]


@router.post("")
def send_events(who: Writer, session_id: str, body: shapes.NewEvents) -> shapes.SentEvents:
    """They are recorded, without secrets, in the order given: all of them or none."""
    kept = who.recording.send(session_id, [one.model_dump(exclude_unset=True) for one in body.events])
    return shapes.SentEvents(data=[shapes.event(one) for one in kept])


@router.get("")
def list_events(
    *,
    who: Reader,
    session_id: str,
    limit: EventLimit = 100,
    page: Page = None,
    order: Order = "asc",
    types: Annotated[list[shapes.EventType] | None, Query()] = None,
    since: Since = None,
    until: Until = None,
    after: After = None,
    before: Before = None,
) -> shapes.EventPage:
    walk = Walk(limit + 1, position(page, LISTING, int), descending=order == "desc")
    return events_page(who, session_id, walk, types or (), between(since, until, after, before))


def events_page(
    who: Caller, session: str, walk: Walk, types: Sequence[str] = (), at: TimeSpan | None = None
) -> shapes.EventPage:
    limit = walk.limit - 1
    found = who.recording.events(session, types, at or TimeSpan(), walk)
    data = [shapes.event(one) for one in found[:limit]]
    return shapes.EventPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.number))


@router.get("/stream", response_class=StreamingResponse, responses={200: {"content": {FRAMES: {}}}})
async def stream_events(who: Watcher, session_id: str, event_deltas: Previews = None) -> StreamingResponse:
    """Server-sent events from now on; what was before is in the listing. Ends when the session is deleted."""
    return await streamed(who, session_id)
