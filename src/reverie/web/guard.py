"""Around every request: who may come in, by which name, from which page, with how much; and what a browser may do with
the answer.

A page of another site can make this browser call us. Its requests carry an `Origin` that is not ours, no cookie
(SameSite=Strict) and no token of a form; if its name was pointed at this machine (DNS rebinding) they carry that name
as `Host`. Each of these alone is refused.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from urllib.parse import parse_qs, parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.web.pages import Pages

LARGEST_BODY = 256 * 1024
LONGEST_QUERY = 8 * 1024
MOST_FIELDS = 200
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
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


@dataclass(slots=True)
class Entrance:
    """The token of the printed address, good once, and the cookie that whoever brings it gets."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: bool = False
    _lock: Lock = field(default_factory=Lock)

    @property
    def csrf(self) -> str:
        return hmac.new(self.cookie.encode(), b"form", "sha256").hexdigest()

    def redeem(self, token: str) -> bool:
        with self._lock:
            good = not self.used and hmac.compare_digest(token.encode(), self.token.encode())
            self.used = self.used or good
        return good

    def knows(self, cookie: str) -> bool:
        return hmac.compare_digest(cookie.encode(), self.cookie.encode())


class RequestRefused(Exception):
    def __init__(self, status: int, title: str, said: str) -> None:
        super().__init__(said)
        self.status, self.title, self.said = status, title, said


@dataclass(slots=True)
class WebGuard:
    """ASGI middleware. A request that passes has its form in `request.state.form`, read and its token checked."""

    app: ASGIApp
    entrance: Entrance
    pages: Pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket
        guarded = _Headers(send)
        try:
            answer = await self._passed(scope, receive)
            await (answer or self.app)(scope, scope.pop("reverie.receive", receive), guarded)
        except RequestRefused as no:
            await self.pages.message(no.status, no.title, no.said)(scope, receive, guarded)
        except Exception as error:  # the last line: nothing leaves without the headers
            frame = traceback.extract_tb(error.__traceback__)[-1]  # what it says may quote content
            _LOG.error("%s at %s:%s", type(error).__name__, frame.filename.rpartition("/")[2], frame.lineno)
            if guarded.begun:
                raise
            said = "This page could not be made. `reverie verify` checks that everything is whole."
            await self.pages.message(500, "Something broke", said)(scope, receive, guarded)

    async def _passed(self, scope: Scope, receive: Receive) -> HTMLResponse | None:
        """The answer, where the request goes no further."""
        headers = Headers(scope=scope)
        _check_name(headers)
        if len(scope["query_string"]) > LONGEST_QUERY:
            raise RequestRefused(414, "Too long", f"The address holds more than {LONGEST_QUERY:,} bytes.")
        if scope["path"].startswith("/static/"):
            return None
        port = headers["host"].rpartition(":")[2]
        name = f"reverie_{port if port.isdigit() else 80}"  # cookies know no ports
        token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        if token and scope["method"] == "GET" and self.entrance.redeem(token):
            return self._welcome(name)
        if not self.entrance.knows(_cookies(headers).get(name, "")):
            said = "This link was used already." if token else "Your browser is not known here."
            raise RequestRefused(403, "Not let in", f"{said} Run `reverie web` and open the address it prints.")
        scope.setdefault("state", {})["csrf"] = self.entrance.csrf
        if scope["method"] not in ("GET", "HEAD"):
            await self._check_form(scope, headers, receive)
        return None

    def _welcome(self, name: str) -> HTMLResponse:
        """A page that goes on by itself: had the link been on a page of another site, a redirect would lose the
        cookie."""
        answer = self.pages.message(200, "Opening the inbox", "", go="/")
        answer.set_cookie(name, self.entrance.cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def _check_form(self, scope: Scope, headers: Headers, receive: Receive) -> None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            raise RequestRefused(415, "Not a form", "Writes come from the forms of these pages.")
        body = await _body(headers, receive)
        try:
            form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
        except ValueError as error:
            raise RequestRefused(400, "Not understood", "The form could not be read.") from error
        if not hmac.compare_digest(form.get("csrf", [""])[0].encode(), self.entrance.csrf.encode()):
            raise RequestRefused(403, "Not done", "The form is not one of ours, or is too old. Load the page again.")
        scope["state"]["form"] = {name: values[0] for name, values in form.items()}
        scope["reverie.receive"] = _again(body)


def _check_name(headers: Headers) -> None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    try:
        name = urlsplit(f"//{hosts[0]}").hostname if len(hosts) == 1 else None
    except ValueError:
        name = None
    if name not in LOOPBACK:
        raise RequestRefused(403, "Not let in", "These pages are for this machine only: 127.0.0.1 or localhost.")
    if origins and origins != [f"http://{hosts[0]}"]:
        raise RequestRefused(403, "Not done", "The request came from a page of another site.")


def _cookies(headers: Headers) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in headers.getlist("cookie"):
        try:
            found |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        except CookieError:
            continue
    return found


async def _body(headers: Headers, receive: Receive) -> bytes:
    declared = headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > LARGEST_BODY:
        raise _too_large()
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise _too_large()
    return body


def _too_large() -> RequestRefused:
    return RequestRefused(413, "Too large", f"A form may hold at most {LARGEST_BODY:,} bytes.")


def _again(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


@dataclass(slots=True)
class _Headers:
    """Sends an answer with the headers that every answer has."""

    send: Send
    begun: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await self.send(message)
