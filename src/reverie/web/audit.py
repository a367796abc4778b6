"""What is wrong with what agents read, as `reverie audit` says it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.core.errors import NotFound
from reverie.web.inbox import parts

router = APIRouter()
MOST_FINDINGS = 200


@router.get("/audit")
def audit(request: Request, kind: str = "") -> Response:
    home, pages = parts(request)
    if not home.is_whole:
        raise NotFound("There is nothing here to audit.", next_step="The files of the machine belong to its owner.")
    whole = home.audit()
    shown = whole.narrowed([kind] if kind else [], None)
    values = {"report": whole, "findings": shown.findings[:MOST_FINDINGS], "count": len(shown.findings), "kind": kind}
    return pages.page(request, "audit.html", **values)
