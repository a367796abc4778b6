"""`/v1/sessions/{id}/threads`: a session has one thread, its primary one, because no agent here starts another.

Its id is that of the session behind another prefix, and its events are the session's.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from reverie.core.errors import BadInput, NotFound
from reverie.server.caller import Caller, Reader, Watcher, Writer
from reverie.server.pagination import Page, position
from reverie.server.routes.events import LISTING, EventLimit, Previews, events_page
from reverie.server.shapes import sessions as shapes
from reverie.server.stream import FRAMES, streamed
from reverie.transcripts.recorded.session import Recorded, Status, Walk

router = APIRouter(prefix="/v1/sessions/{session_id}/threads", tags=["threads"])
THREADS = "threads"
ThreadLimit = Annotated[int, Query(ge=1, le=1000)]


@router.get("")
def list_threads(
    who: Reader,
    session_id: str,
    limit: ThreadLimit = 1000,
    page: Page = None,
    statuses: Annotated[list[Status] | None, Query()] = None,
) -> shapes.ThreadPage:
    """One, or none if it has another status."""
    position(page, THREADS, str)  # there is no second page, so no cursor is one of ours
    found = who.recording.get(session_id)
    wanted = not page and (not statuses or found.status in statuses)
    return shapes.ThreadPage(data=[shapes.thread(found)] if wanted else [], next_page=None)


@router.get("/{session_thread_id}")
def retrieve_thread(who: Reader, session_id: str, session_thread_id: str) -> shapes.SessionThread:
    return shapes.thread(_with(who, session_id, session_thread_id))


@router.post("/{session_thread_id}/archive")
def archive_thread(who: Writer, session_id: str, session_thread_id: str) -> shapes.SessionThread:
    """Only a thread that was started by another can be; the primary one goes with its session."""
    found = _with(who, session_id, session_thread_id)
    if found.archived_at is None:
        raise BadInput(
            f"{session_thread_id} is the primary thread of its session.",
            expected="a thread started by another",
            next_step=f"POST /v1/sessions/{session_id}/archive archives both.",
        )
    return shapes.thread(found)


@router.get("/{session_thread_id}/events")
def list_thread_events(
    who: Reader, session_id: str, session_thread_id: str, limit: EventLimit = 100, page: Page = None
) -> shapes.EventPage:
    _with(who, session_id, session_thread_id)
    return events_page(who, session_id, Walk(limit + 1, position(page, LISTING, int)))


@router.get("/{session_thread_id}/stream", response_class=StreamingResponse, responses={200: {"content": {FRAMES: {}}}})
async def stream_thread(
    who: Watcher, session_id: str, session_thread_id: str, event_deltas: Previews = None
) -> StreamingResponse:
    await run_in_threadpool(_with, who, session_id, session_thread_id)
    return await streamed(who, session_id)


def _with(who: Caller, session: str, thread: str) -> Recorded:
    found = who.recording.get(session)
    if thread != shapes.thread_of(found):
        raise NotFound(f"The session {session} has no thread {thread}.")
    return found
