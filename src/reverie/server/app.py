"""The application: routers, the guard around them, and an OpenAPI that says what really happens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from reverie import __version__
from reverie.server import (
    agents,
    dreams,
    environments,
    erasures,
    events,
    imports,
    memories,
    resources,
    sessions,
    shapes,
    stores,
    threads,
    versions,
)
from reverie.server import health as operating
from reverie.server.errors import answer_errors
from reverie.server.limits import Limits
from reverie.server.metrics import Metrics
from reverie.server.middleware import Guard
from reverie.server.wiring import House

ROUTERS = (
    stores.router,
    memories.router,
    versions.router,
    agents.router,
    environments.router,
    sessions.router,
    events.router,
    threads.router,
    resources.router,
    dreams.router,
    imports.router,
    erasures.router,
    operating.router,
)
_ERRORS = {
    400: "The request cannot be carried out as it is.",
    401: "No valid key.",
    403: "The key may not do this.",
    404: "There is none, or none of yours.",
    408: "The body did not arrive in time.",
    409: "Someone else was there first. Repeating it would fail again.",
    413: "Too large.",
    429: "Too much at once; `retry-after` says when to come back.",
}


def application(
    house: House, *, names: Iterable[str] = (), limits: Limits | None = None, root_path: str = ""
) -> FastAPI:
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": shapes.Error, "description": said} for status, said in _ERRORS.items()
    }
    app = FastAPI(
        title="Reverie",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_name,
        responses=responses,
        redirect_slashes=False,
    )
    app.state.house, app.state.limits, app.state.metrics = house, limits or Limits(), Metrics()
    for router in ROUTERS:
        app.include_router(router)
    answer_errors(app)
    app.add_middleware(
        Guard,
        names=frozenset(name.lower() for name in names),
        metrics=app.state.metrics,
        new_id=lambda: house.home.ids.new("req"),
        root_path=root_path.rstrip("/"),
    )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _name(route: APIRoute) -> str:
    return route.name


def _described(app: FastAPI) -> dict[str, Any]:
    """What FastAPI says by itself, without the 422 that this server never answers."""
    if app.openapi_schema is None:
        told = get_openapi(title=app.title, version=app.version, routes=app.routes)
        for path in told["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for unused in ("HTTPValidationError", "ValidationError"):
            told["components"]["schemas"].pop(unused, None)
        app.openapi_schema = told
    return app.openapi_schema
