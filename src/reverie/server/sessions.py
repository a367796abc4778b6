"""`/v1/sessions`, recorded and idle; their events, sent, listed and streamed; their threads and resources.

A session has one thread, its primary one, because no agent here starts another. Its id is that of the session behind
another prefix, and its events are the session's.

The memory stores a session was given are its resources. They are given when it is made, and stay. In Anthropic's API a
memory store has no id as a resource; those with one are files and repositories, which this server does not keep. So
none is found here by an id, and what is asked for is answered as what does not exist.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Annotated, Any, Literal, NoReturn

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput, NotFound
from reverie.erasure.records import ErasureKind, Rules
from reverie.memory.library import writable
from reverie.server import session_shapes as shapes
from reverie.server.caller import Caller, Reader, Watcher, Writer
from reverie.server.definitions import agent_told
from reverie.server.wire import Created, Limit, Page, bearing, both_ways, paged, position
from reverie.transcripts.recorded import Recorded, RecordedQuery, Status, Walk, mount_path
from reverie.transcripts.recorded_library import SessionWish

sessions = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Order = Literal["asc", "desc"]
EventLimit = Annotated[int, Query(ge=1, le=1000)]
SESSIONS = "sessions"
FRAMES = "text/event-stream"
EVENTS = "events"
THREADS = "threads"
RESOURCES = "resources"
LOOKING_SECONDS = 1.0  # for what other processes write
HEARTBEAT_SECONDS = 15.0


@sessions.post("")
def create_session(who: Writer, body: shapes.NewSession) -> shapes.WireSession:
    """An agent and an environment must be there first. No agent answers: what is sent is recorded."""
    mounted = list[dict[str, Any]]()
    for one in body.resources or ():
        store = writable(who.stores.get(one.memory_store_id))
        given = {"access": one.access or "read_write", "instructions": one.instructions}
        kept = {"name": store.name, "description": store.description, "mount_path": mount_path(store.name)}  # as of now
        mounted.append({"type": "memory_store", "memory_store_id": store.id} | given | kept)
    if len({one["memory_store_id"] for one in mounted}) < len(mounted):
        raise BadInput("resources: a memory store stands there twice.", expected="each store once")
    agent: dict[str, Any] = {"agent": body.agent}
    if not isinstance(body.agent, str):
        laid_over = body.agent.model_dump(exclude_unset=True, exclude={"type", "id", "version"})
        laid_over = {name: value for name, value in laid_over.items() if value is not None or name == "system"}
        agent = {"agent": body.agent.id, "version": body.agent.version, "overrides": agent_told(laid_over)}
    wish = SessionWish(
        **agent,
        environment=body.environment_id,
        title=body.title,
        metadata=body.metadata,
        resources=mounted,
        vaults=body.vault_ids or (),
        budget=body.budget,
    )
    first = [one.model_dump(exclude_unset=True) for one in body.initial_events or ()]
    return shapes.session(who.recording.create(wish, first))


@sessions.get("")
def list_sessions(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    order: Order = "desc",
    agent_id: str | None = None,
    agent_version: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    memory_store_id: str | None = None,
    deployment_id: str | None = None,
    statuses: Annotated[list[Status] | None, Query()] = None,
    include_archived: bool = False,
    made: Created,
) -> shapes.SessionPage:
    which = RecordedQuery(made, agent_id, agent_version, memory_store_id, tuple(statuses or ()), include_archived)
    place, back = bearing(page, SESSIONS)
    walk = Walk(limit + 1, place, descending=(order == "desc") is not back)
    found = [] if deployment_id is not None else who.recording.find(which, walk)
    shown, forward, backward = both_ways([one.id for one in found], limit, SESSIONS, place, back=back)
    by_id = {one.id: one for one in found}
    data = [shapes.session(by_id[name]) for name in shown]
    return shapes.SessionPage(data=data, next_page=forward, prev_page=backward)


@sessions.get("/{session_id}")
def retrieve_session(who: Reader, session_id: str) -> shapes.WireSession:
    return shapes.session(who.recording.get(session_id))


@sessions.post("/{session_id}")
def update_session(who: Writer, session_id: str, body: shapes.SessionPatch) -> shapes.WireSession:
    patch = body.model_dump(exclude_unset=True)
    if body.agent is not None:
        patch["agent"] = agent_told(patch["agent"])
    return shapes.session(who.recording.update(session_id, patch))


@sessions.post("/{session_id}/archive")
def archive_session(who: Writer, session_id: str) -> shapes.WireSession:
    """Nothing can be sent to it from now on; it can be read and dreamt about."""
    return shapes.session(who.recording.archive(session_id))


@sessions.delete("/{session_id}")
def delete_session(who: Writer, session_id: str, rules: Rules | None = None) -> shapes.SessionDeleted:
    """With its events and its words. What memory says because of it is the store's and stays, unless `rules` is
    `remove`. One that was imported is erased from everywhere, with what rests on it alone (`rules=keep` keeps that)."""
    is_recorded = who.recording.records.one(who.scope, session_id) is not None
    if is_recorded and rules is None:
        who.recording.delete(session_id)
    else:
        who.erasing(who.erasing.plan(ErasureKind.SESSION, session_id, rules=rules or "remove"))
        who.recording.told(session_id)
    return shapes.SessionDeleted(id=session_id)


events = APIRouter(prefix="/v1/sessions/{session_id}/events", tags=["events"])
Previews = Annotated[list[Literal["agent.message", "agent.thinking"]] | None, Query()]


@events.post("")
def send_events(who: Writer, session_id: str, body: shapes.NewEvents) -> shapes.SentEvents:
    """They are recorded, without secrets, in the order given: all of them or none."""
    kept = who.recording.send(session_id, [one.model_dump(exclude_unset=True) for one in body.events])
    return shapes.SentEvents(data=[shapes.event(one) for one in kept])


@events.get("")
def list_events(
    *,
    who: Reader,
    session_id: str,
    limit: EventLimit = 100,
    page: Page = None,
    order: Order = "asc",
    types: Annotated[list[shapes.EventType] | None, Query()] = None,
    made: Created,
) -> shapes.EventPage:
    walk = Walk(limit + 1, position(page, EVENTS, int), descending=order == "desc")
    return events_page(who, session_id, walk, types or (), made)


def events_page(
    who: Caller, session: str, walk: Walk, types: Sequence[str] = (), at: TimeSpan | None = None
) -> shapes.EventPage:
    limit = walk.limit - 1
    found = who.recording.events(session, types, at or TimeSpan(), walk)
    data = [shapes.event(one) for one in found[:limit]]
    return shapes.EventPage(data=data, next_page=paged(found, limit, EVENTS, lambda one: one.number))


@events.get("/stream", response_class=StreamingResponse, responses={200: {"content": {FRAMES: {}}}})
async def stream_events(who: Watcher, session_id: str, event_deltas: Previews = None) -> StreamingResponse:
    """Server-sent events from now on; what was before is in the listing. Ends when the session is deleted."""
    return await streamed(who, session_id)


threads = APIRouter(prefix="/v1/sessions/{session_id}/threads", tags=["threads"])


@threads.get("")
def list_threads(
    who: Reader,
    session_id: str,
    limit: EventLimit = 1000,
    page: Page = None,
    statuses: Annotated[list[Status] | None, Query()] = None,
) -> shapes.ThreadPage:
    """One, or none if it has another status."""
    position(page, THREADS, str)  # there is no second page, so no cursor is one of ours
    found = who.recording.get(session_id)
    wanted = not page and (not statuses or found.status in statuses)
    return shapes.ThreadPage(data=[shapes.thread(found)] if wanted else [], next_page=None)


@threads.get("/{session_thread_id}")
def retrieve_thread(who: Reader, session_id: str, session_thread_id: str) -> shapes.SessionThread:
    return shapes.thread(_with(who, session_id, session_thread_id))


@threads.post("/{session_thread_id}/archive")
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


@threads.get("/{session_thread_id}/events")
def list_thread_events(
    who: Reader, session_id: str, session_thread_id: str, limit: EventLimit = 100, page: Page = None
) -> shapes.EventPage:
    _with(who, session_id, session_thread_id)
    return events_page(who, session_id, Walk(limit + 1, position(page, EVENTS, int)))


@threads.get(
    "/{session_thread_id}/stream", response_class=StreamingResponse, responses={200: {"content": {FRAMES: {}}}}
)
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


resources = APIRouter(prefix="/v1/sessions/{session_id}/resources", tags=["resources"])


class NewResource(BaseModel):
    """Memory stores are given when a session is made, not later."""

    type: Literal["file"]
    file_id: str
    mount_path: str | None = None


class ResourcePatch(BaseModel):
    authorization_token: str


@resources.get("")
def list_resources(who: Reader, session_id: str, limit: EventLimit = 1000, page: Page = None) -> shapes.ResourcePage:
    there = list(enumerate(who.recording.get(session_id).resources, 1))
    left = there[position(page, RESOURCES, int) or 0 :]
    data = [dict(one) for _, one in left[:limit]]
    return shapes.ResourcePage(data=data, next_page=paged(left, limit, RESOURCES, lambda one: one[0]))


@resources.post("")
def add_resource(who: Writer, session_id: str, body: NewResource) -> shapes.SessionResource:
    who.recording.get(session_id)
    raise NotFound(f"There is no file {body.file_id}: this server keeps none.")


@resources.get("/{resource_id}")
def retrieve_resource(who: Reader, session_id: str, resource_id: str) -> shapes.SessionResource:
    _refuse_resource(who, session_id, resource_id)


@resources.post("/{resource_id}")
def update_resource(who: Writer, session_id: str, resource_id: str, body: ResourcePatch) -> shapes.SessionResource:
    _refuse_resource(who, session_id, resource_id)


@resources.delete("/{resource_id}")
def delete_resource(who: Writer, session_id: str, resource_id: str) -> shapes.ResourceDeleted:
    _refuse_resource(who, session_id, resource_id)


def _refuse_resource(who: Caller, session: str, resource: str) -> NoReturn:
    who.recording.get(session)
    raise NotFound(f"The session {session} has no resource {resource}.")


class Stream(StreamingResponse):
    """Counted among the streams of its key from its first byte to its last, however it ends."""

    def __init__(self, frames: AsyncIterator[str], watching: AbstractContextManager[None]) -> None:
        super().__init__(frames, headers={"x-accel-buffering": "no"}, media_type=FRAMES)
        self._watching = watching

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._watching:
            await super().__call__(scope, receive, send)


async def streamed(who: Caller, session: str) -> Stream:
    last = await run_in_threadpool(who.recording.last, session)
    return Stream(_frames(who, session, last), who.limits.watching(who.key.id))


async def _frames(who: Caller, session: str, last: int) -> AsyncIterator[str]:
    yield ": recording\n\n"
    spoken = time.monotonic()
    with who.house.wakeups.waiting_for(session) as news:
        while (found := await run_in_threadpool(who.recording.behind, session, last)) is not None:
            for event in found:
                last, spoken = event.number, time.monotonic()
                yield _frame(shapes.event(event))
            if time.monotonic() - spoken > HEARTBEAT_SECONDS:
                if not await run_in_threadpool(who.house.keys.still, who.key):
                    return
                spoken = time.monotonic()
                yield ": still here\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), LOOKING_SECONDS)
            news.clear()
    # The one event that is kept nowhere: its session is not there any more.
    home = who.house.home
    gone = shapes.SessionEvent(id=home.ids.new("sevt"), type="session.deleted", processed_at=home.clock.now())
    yield _frame(gone)


def _frame(event: shapes.SessionEvent) -> str:
    return f"event: {event.type}\ndata: {event.model_dump_json()}\n\n"
