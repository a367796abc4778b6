"""`/v1/sessions/{id}/events`: sent, listed, and streamed as they happen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from reverie.api import session_shapes as shapes
from reverie.api.caller import Caller, Reader, Watcher, Writer
from reverie.api.pages import After, Before, Page, Since, Until, between, paged, position
from reverie.sessions.recorded import RecordedEvent, Walk

router = APIRouter(prefix="/v1/sessions/{session_id}/events", tags=["events"])
LISTING = "events"
FRAMES = "text/event-stream"
LOOKING_SECONDS = 1.0  # for what other processes write
HEARTBEAT_SECONDS = 15.0
Order = Literal["asc", "desc"]
Previews = Annotated[list[Literal["agent.message", "agent.thinking"]] | None, Query()]


@router.post("")
def send_events(who: Writer, session_id: str, body: shapes.NewEvents) -> shapes.SentEvents:
    """They are recorded, without secrets, in the order given: all of them or none."""
    kept = who.recording.send(session_id, [one.model_dump(exclude_unset=True) for one in body.events])
    return shapes.SentEvents(data=[shapes.event(one) for one in kept])


@router.get("")
def list_events(
    *, who: Reader, session_id: str, limit: Annotated[int, Query(ge=1, le=1000)] = 100, page: Page = None,
    order: Order = "asc", types: Annotated[list[shapes.EventType] | None, Query()] = None, since: Since = None,
    until: Until = None, after: After = None, before: Before = None,
) -> shapes.EventPage:  # fmt: skip
    walk = Walk(limit + 1, position(page, LISTING, int), descending=order == "desc")
    found = who.recording.events(session_id, types or (), between(since, until, after, before), walk)
    data = [shapes.event(one) for one in found[:limit]]
    return shapes.EventPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.number))


@router.get("/stream", response_class=StreamingResponse, responses={200: {"content": {FRAMES: {}}}})
async def stream_events(who: Watcher, session_id: str, event_deltas: Previews = None) -> StreamingResponse:
    """Server-sent events from now on; what was before is in the listing. Ends when the session is deleted."""
    last = await run_in_threadpool(who.recording.last, session_id)
    return StreamingResponse(_frames(who, session_id, last), headers={"x-accel-buffering": "no"}, media_type=FRAMES)


async def _frames(who: Caller, session: str, last: int) -> AsyncIterator[str]:
    yield ": recording\n\n"
    spoken = time.monotonic()
    with who.house.bells.heard(session) as bell:
        while (found := await run_in_threadpool(who.recording.behind, session, last)) is not None:
            status, news = found
            for event in news:
                last, spoken = event.number, time.monotonic()
                yield _frame(shapes.event(event))
            if status == "idle" and _unanswered(news):
                yield _frame(_made(who, "session.status_idle", stop_reason={"type": "end_turn"}, stop_details=None))
            if time.monotonic() - spoken > HEARTBEAT_SECONDS:
                spoken = time.monotonic()
                yield ": still here\n\n"
            await _rung(bell)
    yield _frame(_made(who, "session.deleted"))


async def _rung(bell: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(bell.wait(), LOOKING_SECONDS)
    except TimeoutError:
        return
    finally:
        bell.clear()


def _unanswered(news: Sequence[RecordedEvent]) -> bool:
    """Nobody answers here. Who waits for the end of the turn is told that it has come, and waits no more."""
    return bool(news) and news[-1].type.startswith(("user.", "system."))


def _made(who: Caller, kind: str, **more: object) -> shapes.SessionEvent:
    """Not one of those that are kept."""
    home = who.house.home
    return shapes.SessionEvent(id=home.ids.new("sevt"), type=kind, processed_at=home.clock.now(), **more)


def _frame(event: shapes.SessionEvent) -> str:
    return f"event: {event.type}\ndata: {event.model_dump_json()}\n\n"
