"""For who runs the server: is it alive, does its database answer, how much does it do.

No key is needed, but for `/metrics` from elsewhere than this machine: how much is done when is nobody else's business.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Security
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel

from reverie.core.strings import is_loopback
from reverie.server.caller import BEARER, HEADER
from reverie.server.errors import Problem
from reverie.server.wiring import House

router = APIRouter(tags=["operating"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@router.get("/healthz")
async def healthz() -> Health:
    return Health()


@router.get("/readyz")
def readyz(request: Request) -> Health:
    house: House = request.app.state.house
    house.look()
    return Health()


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    header: Annotated[str | None, Security(HEADER)],
) -> PlainTextResponse:
    """From elsewhere than this machine, or through a proxy, with any key."""
    house: House = request.app.state.house
    if not _is_local(request) and house.keys.admitted(bearer.credentials if bearer else header or "") is None:
        raise Problem(401, "From elsewhere /metrics needs a key. Send one as `Authorization: Bearer …`.")
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


def _is_local(request: Request) -> bool:
    """Asked by this machine, by a name of this machine, of a server nobody else reaches, and not on behalf of
    someone else: a proxy may say nothing of itself and ask for 127.0.0.1, as nginx does unless it is told otherwise."""
    passed_on = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    asked = request.url.hostname or ""
    alone = not passed_on and not request.app.state.reached
    return alone and request.client is not None and all(map(is_loopback, (request.client.host, asked)))
