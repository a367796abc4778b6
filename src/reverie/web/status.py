"""How things stand: targets, sources, the last nights, the queue, what models cost, what is wrong with what is read.

What happens elsewhere while a page is open comes as server-sent events: a night that runs, a proposal that someone else
decided. A page works without them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from reverie.app import Home, checkup
from reverie.core.errors import NotFound
from reverie.dreams.dream import Dream
from reverie.web.inbox import parts
from reverie.web.pages import Plot, barred

router = APIRouter()
PLOTTED = 40  # nights
MOST_FINDINGS = 200
EVERY_SECONDS = 2.0


@router.get("/costs")
def costs(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=PLOTTED)
    asked = [one for one in dreams if one.consulted]
    paid = {one.id: sum(each.dollars or 0.0 for each in one.consulted) for one in asked}
    money = [(one.started_at, paid[one.id], _bar_label(one)) for one in reversed(asked)]
    tokens = [
        (one.started_at, float(sum(each.tokens_in + each.tokens_out for each in one.consulted)), _bar_label(one))
        for one in reversed(asked)
    ]
    plots = [barred("Dollars a night", money, top="${:,.4f}"), barred("Tokens a night", tokens)]
    values = {"dreams": asked, "plots": [one for one in plots if one], "spending": home.spending()}
    return pages.page(request, "costs.html", **values)


def _bar_label(dream: Dream) -> str:
    return f"{dream.started_at:%Y-%m-%d} over {dream.target}"


def _health(dreams: Sequence[Dream]) -> list[Plot]:
    """The last nights: what they read, what came of it, how long they took."""
    done = [one for one in reversed(dreams) if one.ended_at]
    read = [(one.started_at, float(len(one.sessions)), _bar_label(one)) for one in done]
    came = [(one.started_at, float(one.landed + len(one.proposals)), _bar_label(one)) for one in done]
    took = [
        (one.started_at, (one.ended_at - one.started_at).total_seconds(), _bar_label(one))
        for one in done
        if one.ended_at
    ]
    plots = (
        barred("Sessions read", read),
        barred("Landed or asked", came),
        barred("Seconds taken", took, top="{:,.1f}"),
    )
    return [one for one in plots if one]


@router.get("/status")
def status(request: Request, check: bool = False) -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    names = list(dict.fromkeys([*home.memory.present(), *home.dreams.records.targets(home.owned)]))
    values = {
        "usage": [(name, one) for name in names for one in home.memory.usage(name)],
        "staged": {name: len(home.dreams.records.staged(home.owned, name)) for name in names},
        "off": {name: home.switched_off(name) for name in names},
        "enabled": home.config.dreaming.enabled,
        "sources": home.sessions.sources(),
        "quarantined": home.sessions.quarantined(),
        "dreams": home.dreams.records.find(home.owned, limit=8),
        "running": home.dreams.records.unfinished(home.owned),
        "queued": home.queue.waiting() if home.is_whole else [],
        "success": home.dreams.last_success(),
        "waiting": home.review.count(),
        "spending": home.spending(),
        "checks": checkup(home.config) if check and home.is_whole else [],
        "unread": unread,
        "home": str(home.config.home) if home.is_whole else "",
        "behind": home.index.behind(),
        "plots": _health(home.dreams.records.find(home.owned, limit=PLOTTED)),
    }
    return pages.page(request, "status.html", **values)


@router.get("/audit")
def audit(request: Request, kind: str = "") -> Response:
    home, pages = parts(request)
    if not home.is_whole:
        raise NotFound("There is nothing here to audit.", next_step="The files of the machine belong to its owner.")
    whole = home.audit()
    shown = whole.narrowed([kind] if kind else [], None)
    values = {"report": whole, "findings": shown.findings[:MOST_FINDINGS], "count": len(shown.findings), "kind": kind}
    return pages.page(request, "audit.html", **values)


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
