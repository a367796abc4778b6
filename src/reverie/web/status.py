"""How things stand: targets, sources, the last nights, the queue, what models cost."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.app import checkup
from reverie.web.inbox import parts

router = APIRouter()


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
        "queued": home.waiting(),
        "success": home.dreams.last_success(),
        "waiting": home.review.count(),
        "spending": home.spending(),
        "checks": checkup(home.config) if check else [],
        "unread": unread,
        "home": str(home.config.home),
    }
    return pages.page(request, "status.html", **values)
