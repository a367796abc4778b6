"""The application: pages over one Home, and the guard around them."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from reverie.app import Home
from reverie.core.errors import ReverieError
from reverie.web import events, inbox, memory, nights, rules, sessions, status
from reverie.web.guard import Entrance, WebGuard
from reverie.web.pages import Pages

ROUTERS = (inbox.router, nights.router, memory.router, rules.router, sessions.router, status.router, events.router)


def application(home: Home, entrance: Entrance) -> FastAPI:
    app = FastAPI(title="Reverie", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    pages = Pages(home.config.timezone)
    app.state.home, app.state.pages = home, pages
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))

    def told(request: Request, status: int, title: str, said: str) -> Response:
        return pages.message(status, title, said, csrf=getattr(request.state, "csrf", ""))

    @app.exception_handler(ReverieError)
    def explain(request: Request, error: ReverieError) -> Response:
        return told(request, error.http_status, "That did not work", str(error))

    @app.exception_handler(HTTPException)
    def none_such(request: Request, error: HTTPException) -> Response:
        missing = error.status_code == 404
        said = "There is no such page." if missing else str(error.detail)
        return told(request, error.status_code, "Not found" if missing else "Not done", said)

    @app.exception_handler(RequestValidationError)
    def misread(request: Request, error: RequestValidationError) -> Response:
        return told(request, 400, "Not understood", "The address holds something that no page here knows.")

    app.add_middleware(WebGuard, entrance=entrance, pages=pages)
    warm(home)
    return app


def warm(home: Home) -> None:
    """What requests share is made now: two that come at once would each make their own."""
    _ = home.inbox, home.history, home.dream, home.skills, home.search
