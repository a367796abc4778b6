"""The application: pages over one Home, the guard around them, and who is let in: on one's own machine whoever brings
the printed address, on a server people with a key.

Around every request: who may come in, by which name, from which page, with how much; and what a browser may do with the
answer. A page of another site can make this browser call us. Its requests carry an `Origin` that is not ours, no cookie
(SameSite=Strict) and no token of a form; if its name was pointed at this machine (DNS rebinding) they carry that name
as `Host`. Each of these alone is refused.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, parse_qsl, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.app import Home
from reverie.core.errors import ReverieError
from reverie.core.scope import ApiKey, Permission
from reverie.web import inbox, memory, nights
from reverie.web.pages import Pages, root_of

ROUTERS = tuple(part.router for part in (inbox, nights, memory))


MOUNTED_AT = "/web"
LARGEST_BODY = 256 * 1024
LONGEST_QUERY = 8 * 1024
MOST_FIELDS = 200
FORM = "application/x-www-form-urlencoded"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with `no-referrer` a browser sends `Origin: null` with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_LOG = logging.getLogger("reverie.web")


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
    # Make now what requests share: two that come at once would each make their own.
    _ = home.inbox, home.history, home.dream, home.skills, home.search
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


@dataclass(slots=True)
class WebGuard:
    """ASGI middleware. A request that passes has its form in `request.state.form`, read and its token checked, and the
    home as its visitor may see it in `request.state.home`."""

    app: ASGIApp
    door: Door
    pages: Pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket
        guarded, root = _Headers(send), scope.get("root_path", "")
        try:
            answer = await self._check(scope, receive, root)
            await (answer or self.app)(scope, scope.pop("reverie.receive", receive), guarded)
        except RequestRefused as no:
            await self.pages.message(no.status, no.title, no.said, root=root)(scope, receive, guarded)
        except Exception as error:  # the last line: nothing leaves without the headers
            frame = traceback.extract_tb(error.__traceback__)[-1]  # what it says may quote content
            _LOG.error("%s at %s:%s", type(error).__name__, frame.filename.rpartition("/")[2], frame.lineno)
            if guarded.begun:
                raise
            said = "This page could not be made. `reverie verify` checks that everything is whole."
            await self.pages.message(500, "Something broke", said, root=root)(scope, receive, guarded)

    async def _check(self, scope: Scope, receive: Receive, root: str) -> Response | None:
        """The answer, where the request goes no further."""
        headers = Headers(scope=scope)
        self._check_name(headers)
        if len(scope["query_string"]) > LONGEST_QUERY:
            raise RequestRefused(414, "Too long", f"The address holds more than {LONGEST_QUERY:,} bytes.")
        path = scope["path"].removeprefix(root) or "/"
        if path.startswith("/static/"):
            return None
        port = headers["host"].rpartition(":")[2]
        name = f"reverie_{port if port.isdigit() else 80}"  # cookies know no ports
        cookie = _cookies(headers).get(name, "")
        body = b"" if scope["method"] in ("GET", "HEAD") else await _body(headers, receive)
        form = _form(headers, body) if scope["method"] not in ("GET", "HEAD") else {}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        knock = Knock(scope["method"], path, root, cookie, name, query, form, scope["scheme"] == "https")
        visitor = self.door.visitor(cookie)
        if answer := self.door.opened(knock, self.pages):
            return answer
        if visitor is None:
            return self.door.refused(knock)
        scope.setdefault("state", {}).update(csrf=visitor.csrf, home=visitor.home, person=visitor.person)
        if scope["method"] not in ("GET", "HEAD"):
            if not hmac.compare_digest(form.get("csrf", "").encode(), visitor.csrf.encode()):
                raise RequestRefused(403, "Not done", "The form is not ours, or is too old. Load the page again.")
            if not visitor.may_decide:
                raise RequestRefused(403, "Not done", "Your key may look, and not decide: it lacks the scope review.")
            scope["state"]["form"] = form

            async def replay() -> Message:
                return {"type": "http.request", "body": body, "more_body": False}

            scope["reverie.receive"] = replay
        return None

    def _check_name(self, headers: Headers) -> None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        try:
            name = urlsplit(f"//{hosts[0]}").hostname if len(hosts) == 1 else None
        except ValueError:
            name = None
        if not name or not self.door.answers_to(name):
            raise RequestRefused(403, "Not let in", f"These pages are not served by that name: {self.door.called}.")
        ours = [f"{scheme}://{hosts[0]}" for scheme in self.door.schemes]
        if origins and (len(origins) > 1 or origins[0] not in ours):
            raise RequestRefused(403, "Not done", "The request came from a page of another site.")


def _form(headers: Headers, body: bytes) -> dict[str, str]:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise RequestRefused(415, "Not a form", "Writes come from the forms of these pages.")
    try:
        form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise RequestRefused(400, "Not understood", "The form could not be read.") from error
    return {name: values[0] for name, values in form.items()}


def _cookies(headers: Headers) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in headers.getlist("cookie"):
        try:
            found |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        except CookieError:
            continue  # a cookie that is none logs nobody in
    return found


async def _body(headers: Headers, receive: Receive) -> bytes:
    too_large = RequestRefused(413, "Too large", f"A form may hold at most {LARGEST_BODY:,} bytes.")
    declared = headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > LARGEST_BODY:
        raise too_large
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise too_large
    return body


@dataclass(slots=True)
class _Headers:
    send: Send
    begun: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await self.send(message)


LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
STAY_SECONDS = 12 * 3600.0  # without a request; then people log in again
MOST_VISITORS = 10_000


class RequestRefused(Exception):
    def __init__(self, status: int, title: str, said: str) -> None:
        super().__init__(said)
        self.status, self.title, self.said = status, title, said


@dataclass(frozen=True, slots=True)
class Visitor:
    """`person` is shown to them, and is empty on their own machine."""

    home: Home
    csrf: str
    person: str = ""
    may_decide: bool = True


@dataclass(frozen=True, slots=True)
class Knock:
    """A request, before it is known whose it is. `cookie` is the value of the cookie `name`; `path` is below `root`."""

    method: str
    path: str
    root: str
    cookie: str
    name: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    encrypted: bool

    def with_cookie(self, answer: Response, value: str) -> Response:
        answer.set_cookie(
            self.name, value, httponly=True, samesite="strict", path=self.root or "/", secure=self.encrypted
        )
        return answer


def csrf_of(cookie: str) -> str:
    return hmac.new(cookie.encode(), b"form", "sha256").hexdigest()


@dataclass(slots=True)
class Entrance:
    """The token of the printed address, good once, and the cookie that whoever brings it gets."""

    home: Home
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: bool = False
    called: str = "they are for this machine only, 127.0.0.1 or localhost"
    schemes: tuple[str, ...] = ("http",)
    _lock: Lock = field(default_factory=Lock)

    @property
    def csrf(self) -> str:
        return csrf_of(self.cookie)

    def answers_to(self, name: str) -> bool:
        return name in LOOPBACK

    def visitor(self, cookie: str) -> Visitor | None:
        known = hmac.compare_digest(cookie.encode(), self.cookie.encode())
        return Visitor(self.home, self.csrf) if known else None

    def opened(self, knock: Knock, pages: Pages) -> Response | None:
        """A page that goes on by itself: had the link been on a page of another site, a redirect would lose the
        cookie."""
        if knock.method != "GET":
            return None
        with self._lock:
            token = knock.query.get("token", "")
            good = not self.used and hmac.compare_digest(token.encode(), self.token.encode())
            self.used = self.used or good
        if not good:
            return None
        welcome = pages.message(200, "Opening the inbox", "", root=knock.root, go=f"{knock.root}/")
        return knock.with_cookie(welcome, self.cookie)

    def refused(self, knock: Knock) -> Response:
        said = "This link was used already." if "token" in knock.query else "Your browser is not known here."
        raise RequestRefused(403, "Not let in", f"{said} Run `reverie web` and open the address it prints.")


@dataclass(slots=True)
class KeyDoor:
    """People come in with their keys. A key is sent once, in a form; the browser keeps a cookie that says nothing. Who
    is logged in is known to this process alone, and a key that is revoked ends it at once."""

    home: Home
    names: Iterable[str] = ()
    called: str = "the names of this server are given with --allow-host"
    schemes: tuple[str, ...] = ("http", "https")
    _in: dict[str, tuple[ApiKey, float]] = field(default_factory=dict)  # by cookie: whose, and when it came last
    _lock: Lock = field(default_factory=Lock)

    def answers_to(self, name: str) -> bool:
        """Every number, too: it cannot be rebound."""
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in {"localhost", *(one.lower() for one in self.names)}
        return True

    def visitor(self, cookie: str) -> Visitor | None:
        now = time.monotonic()
        with self._lock:
            found = self._in.get(cookie)
            if found is None or now - found[1] > STAY_SECONDS:
                self._in.pop(cookie, None)
                return None
            key = found[0]
            self._in[cookie] = key, now
        if not self.home.keys.still(key):
            self._leave(cookie)
            return None
        person = key.user or key.name
        home = self.home.team.of(key.workspace, key.user, person)
        return Visitor(home, csrf_of(cookie), person, key.may(Permission.REVIEW))

    def opened(self, knock: Knock, pages: Pages) -> Response | None:
        match knock.method, knock.path:
            case "GET", "/login":
                known = self.visitor(knock.cookie)
                return RedirectResponse(f"{knock.root}/", 303) if known else self._login_form(knock, pages, "")
            case "POST", "/login":
                return self._log_in(knock, pages)
            case "POST", "/logout" if self._is_ours(knock):
                self._leave(knock.cookie)
                return RedirectResponse(f"{knock.root}/login", 303)
        return None

    def refused(self, knock: Knock) -> Response:
        if knock.method in ("GET", "HEAD"):
            return RedirectResponse(f"{knock.root}/login", 303)
        raise RequestRefused(403, "Not let in", "You are not logged in, or not any more. Log in, and do it again.")

    def _login_form(self, knock: Knock, pages: Pages, said: str) -> Response:
        """The form, bound to this browser: nobody else's page can log it in as someone it is not."""
        fresh = secrets.token_urlsafe(32)
        form = pages.outside("login.html", 403 if said else 200, knock.root, said=said, token=csrf_of(fresh))
        return knock.with_cookie(form, fresh)

    def _log_in(self, knock: Knock, pages: Pages) -> Response:
        if not self._is_ours(knock):
            return self._login_form(knock, pages, "The form was too old. Try again.")
        key = self.home.keys.admitted(knock.form.get("key", "").strip())
        if key is None:
            return self._login_form(knock, pages, "That is no key of this server, or not any more.")
        if not key.may(Permission.READ) and not key.may(Permission.REVIEW):
            return self._login_form(knock, pages, f"The key {key.id} lacks the scope read or review.")
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._in) >= MOST_VISITORS:
                del self._in[min(self._in, key=lambda one: self._in[one][1])]
            self._in[cookie] = key, time.monotonic()
        return knock.with_cookie(RedirectResponse(f"{knock.root}/", 303), cookie)

    def _is_ours(self, knock: Knock) -> bool:
        sent = knock.form.get("csrf", "")
        return bool(knock.cookie) and hmac.compare_digest(sent.encode(), csrf_of(knock.cookie).encode())

    def _leave(self, cookie: str) -> None:
        with self._lock:
            self._in.pop(cookie, None)


Door = Entrance | KeyDoor
