"""For who runs the server: is it alive, does its database answer, how much does it do. No key is needed."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from reverie.api.wiring import House

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
async def metrics(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")
