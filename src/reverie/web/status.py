"""How things stand: targets, sources, the last nights, the queue, what models cost."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.app import checkup
from reverie.dreams.dream import Dream
from reverie.web.inbox import parts
from reverie.web.plots import Plot, barred

router = APIRouter()
PLOTTED = 40  # nights


@router.get("/costs")
def costs(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=PLOTTED)
    asked = [one for one in dreams if one.consulted]
    paid = {one.id: sum(each.dollars or 0.0 for each in one.consulted) for one in asked}
    money = [(one.started_at, paid[one.id], _said(one)) for one in reversed(asked)]
    tokens = [(one.started_at, float(_tokens(one)), _said(one)) for one in reversed(asked)]
    plots = [barred("Dollars a night", money, top="${:,.4f}"), barred("Tokens a night", tokens)]
    values = {"dreams": asked, "plots": [one for one in plots if one], "spending": home.spending()}
    return pages.page(request, "costs.html", **values)


def _tokens(dream: Dream) -> int:
    return sum(one.tokens_in + one.tokens_out for one in dream.consulted)


def _said(dream: Dream) -> str:
    return f"{dream.started_at:%Y-%m-%d} over {dream.target}"


def _seconds(dream: Dream) -> float:
    return (dream.ended_at - dream.started_at).total_seconds() if dream.ended_at else 0.0


def _health(dreams: Sequence[Dream]) -> list[Plot]:
    """The last nights: what they read, what came of it, how long they took."""
    done = [one for one in reversed(dreams) if one.ended_at]
    read = [(one.started_at, float(len(one.sessions)), _said(one)) for one in done]
    came = [(one.started_at, float(one.landed + len(one.proposals)), _said(one)) for one in done]
    took = [(one.started_at, _seconds(one), _said(one)) for one in done]
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
