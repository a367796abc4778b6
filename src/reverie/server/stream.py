"""What happens in a session, as server-sent events, for as long as someone listens and may."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from reverie.server.caller import Caller
from reverie.server.shapes import sessions as shapes

FRAMES = "text/event-stream"
LOOKING_SECONDS = 1.0  # for what other processes write
HEARTBEAT_SECONDS = 15.0


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
    return Stream(_frames(who, session, last), who.watching)


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
            await _news_or_time(news)
    # The one event that is kept nowhere: its session is not there any more.
    home = who.house.home
    gone = shapes.SessionEvent(id=home.ids.new("sevt"), type="session.deleted", processed_at=home.clock.now())
    yield _frame(gone)


async def _news_or_time(news: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(news.wait(), LOOKING_SECONDS)
    except TimeoutError:
        return
    finally:
        news.clear()


def _frame(event: shapes.SessionEvent) -> str:
    return f"event: {event.type}\ndata: {event.model_dump_json()}\n\n"
