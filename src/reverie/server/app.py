"""The application: routers, the guard around them, and an OpenAPI that says what really happens."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from operator import attrgetter
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from reverie import __version__
from reverie.core.ids import is_loopback
from reverie.server import definitions, dreams, extensions, memory_stores, sessions
from reverie.server.caller import CallLimits, House
from reverie.server.middleware import Guard, Metrics
from reverie.server.wire import answer_errors

ROUTERS = (
    memory_stores.stores,
    memory_stores.memories,
    memory_stores.versions,
    definitions.agents,
    definitions.environments,
    sessions.sessions,
    sessions.events,
    sessions.threads,
    sessions.resources,
    dreams.router,
    extensions.imports,
    extensions.erasures,
    extensions.experiments,
    extensions.operating,
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


def api_application(
    house: House, *, names: Collection[str] = (), limits: CallLimits | None = None, root_path: str = ""
) -> FastAPI:
    app = FastAPI(title="Reverie", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.house, app.state.limits, app.state.metrics = house, limits or CallLimits(), Metrics()
    # Others reach it: who asks from this machine may be a proxy, and not every proxy says that it is one.
    app.state.reached = bool(root_path) or not all(map(is_loopback, names))
    app.router.routes.extend(_routes())
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


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """The same for every application of this process: FastAPI reads the shapes of each router it includes anew."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": memory_stores.Error, "description": said} for status, said in _ERRORS.items()
    }
    every = APIRouter(responses=responses, generate_unique_id_function=attrgetter("name"), redirect_slashes=False)
    for router in ROUTERS:
        every.include_router(router)
    return tuple(every.routes)


def prepare_routes(app: Starlette) -> None:
    """Have every route built now. FastAPI builds a router's when a path is first held against it, in the thread that
    answers everybody: the first import would hold up all other tenants for as long as that takes."""
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": []})


def _described(app: FastAPI) -> dict[str, Any]:
    """FastAPI's own description, without the 422 that this server never answers."""
    if app.openapi_schema is None:
        told = get_openapi(title=app.title, version=app.version, routes=app.routes)
        for path in told["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for unused in ("HTTPValidationError", "ValidationError"):
            told["components"]["schemas"].pop(unused, None)
        app.openapi_schema = told
    return app.openapi_schema
