"""What happens elsewhere while a page is open, as server-sent events: a night that runs, a proposal that someone else
decided. A page works without them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from reverie.app import Home
from reverie.web.inbox import parts

router = APIRouter()
EVERY_SECONDS = 2.0


@router.get("/events")
async def events(request: Request) -> StreamingResponse:
    home, _ = parts(request)
    return StreamingResponse(_news(home), media_type="text/event-stream")


async def _news(home: Home) -> AsyncIterator[str]:
    """The state of now, at once and whenever it has changed; between, a comment that keeps the connection."""
    last = ""
    while True:
        now = await asyncio.to_thread(_now, home)
        yield f"data: {now}\n\n" if now != last else ": nothing new\n\n"
        last = now
        await asyncio.sleep(EVERY_SECONDS)


def _now(home: Home) -> str:
    nights = [one.sentence for one in home.dreams.progress()]
    return json.dumps({"waiting": home.inbox.mark(), "nights": nights})
