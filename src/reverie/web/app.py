"""The application: pages over one Home, and the guard around them."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from reverie.app import Home
from reverie.core.errors import ReverieError
from reverie.web import inbox, memory, nights, sessions, status
from reverie.web.doors import Door
from reverie.web.guard import WebGuard
from reverie.web.pages import Pages, root_of

ROUTERS = tuple(part.router for part in (inbox, nights, memory, sessions, status))


MOUNTED_AT = "/web"


def web_application(home: Home, door: Door) -> FastAPI:
    app = FastAPI(title="Reverie", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    pages = Pages(home.config.timezone)
    app.state.home, app.state.pages = home, pages  # a page is made of `request.state.home`
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))

    def told(request: Request, status: int, title: str, said: str) -> Response:
        if getattr(request.state, "csrf", ""):
            return pages.page(request, "message.html", status, title=title, said=said)
        return pages.message(status, title, said, root=root_of(request))

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

    app.add_middleware(WebGuard, door=door, pages=pages)
    warm(home)
    return app


def mount_beside(api: ASGIApp, pages: ASGIApp, root_path: str = "") -> ASGIApp:
    """A server's API, and the pages at `/web`. A proxy may take `root_path` away or leave it."""
    prefix = f"{root_path.rstrip('/')}{MOUNTED_AT}"

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path == MOUNTED_AT or path.startswith(f"{MOUNTED_AT}/"):
            path = f"{prefix}{path.removeprefix(MOUNTED_AT)}"
        if scope["type"] != "http" or not (path == prefix or path.startswith(f"{prefix}/")):
            await api(scope, receive, send)
        elif path == prefix:
            await RedirectResponse(f"{prefix}/", 307)(scope, receive, send)
        else:
            await pages({**scope, "path": path, "root_path": prefix}, receive, send)

    return application


def warm(home: Home) -> None:
    """Make now what requests share: two that come at once would each make their own."""
    _ = home.inbox, home.history, home.dream, home.skills, home.search
