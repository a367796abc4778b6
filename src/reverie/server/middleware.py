"""Around every request: an id, who may be asked by that name, how large it may be, a line in the log, a count.

A browser can be made to call a server on its own machine. A page's request carries an `Origin` that is not ours; a
page whose name was pointed at this machine (DNS rebinding) carries that name as `Host`. Both are refused. A number
instead of a name cannot be rebound.

A proxy, a log or a filter in front of this server may be another reader of a body. Where two readers could take one
body for two different things, it is refused: JSON is in UTF-8 and has every name of an object once.

And how a request arrives (`PatientProtocol`): nobody can hold a connection by sending slowly, or nothing, and its lines
end in one way. uvicorn closes a connection that is idle between two requests, but waits for ever for the first byte of
the first and for the end of the head of any. A body is waited for in `Guard`, which knows how much of it has come.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import time
import traceback
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from h11 import RemoteProtocolError
from h11._receivebuffer import ReceiveBuffer
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reverie.server.wire import Problem, envelope, problem_of

LARGEST_BODY = 1024 * 1024  # the largest memory, each character of it escaped
LARGEST_IMPORT = 512 * 1024 * 1024  # transcripts, which are read as they come
IMPORTING = "/v1/reverie/sessions/import"
DRAINED = 16 * LARGEST_BODY  # who sends a little too much is told so; who sends far too much is cut off
BODY_SECONDS = 30.0  # and a second more for each `SLOWEST` bytes that have come
SLOWEST = 64 * 1024
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
METHODS = frozenset({"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"})
ONCE = ("host", "origin", "authorization", "x-api-key", "reverie-user", "anthropic-workspace-id", "content-length")
CLOSE = {"connection": "close"}
_LOG = logging.getLogger("reverie.server")
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_BRACKETS = re.compile(rb"(?:%5B%5D|\[\])(?==)", re.IGNORECASE)
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
HEAD_SECONDS = 20.0
_BARE_LF = re.compile(rb"(?<!\r)\n")


@dataclass(slots=True)
class Guard:
    """ASGI middleware. `names` are the hosts this server answers to, beside every number and `localhost`."""

    app: ASGIApp
    names: frozenset[str]
    metrics: Metrics
    new_id: Callable[[], str]
    root_path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        call = _Call(scope, send, self.new_id(), time.perf_counter())
        scope["state"]["request_id"] = call.id
        scope["query_string"] = _BRACKETS.sub(b"", scope["query_string"])  # `types[]=a` and `types=a` are the same
        if self.root_path and scope["path"].startswith(f"{self.root_path}/"):
            scope["root_path"] = self.root_path  # a proxy may take it away or not
        with self.metrics.running():
            try:
                await self._check_and_pass(scope, receive, call)
            except Exception as error:  # noqa: BLE001 - the last line: nothing leaves without the envelope
                await call.fail(error, receive)
        self.metrics.count(call.method, call.route, call.status, call.seconds)
        _LOG.info(json.dumps(call.told()))

    async def _check_and_pass(self, scope: Scope, receive: Receive, call: _Call) -> None:
        headers = Headers(scope=scope)
        if b"%00" in scope["query_string"] or "\0" in scope["path"]:
            raise Problem(400, "The URL holds a character that cannot be part of any name.")
        # Refuse what two readers could understand differently: a proxy in front of us may be the other one.
        for name in ONCE:
            if len(headers.getlist(name)) > 1:
                raise Problem(400, f"The header {name} is there twice.")
        if "authorization" in headers and "x-api-key" in headers:
            raise Problem(400, "Two credentials were sent. Send `Authorization` or `x-api-key`, not both.")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Problem(400, "The body has a length and is in chunks. Send one of both.", headers=CLOSE)
        if not self._known(headers.get("host", "")):
            raise Problem(403, "This server does not answer to that Host.")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != headers.get("host"):
            raise Problem(403, "Calls from pages of another origin are refused.")
        importing = scope["path"].endswith(IMPORTING)
        body = await _limited(headers, receive, LARGEST_IMPORT if importing else LARGEST_BODY)
        if not importing and scope["method"] in WITH_BODY:
            body = await one_reading(body)
        await self.app(scope, body, call.send)

    def _known(self, host: str) -> bool:
        if not _HOST.fullmatch(host):
            return False
        try:
            name = urlsplit(f"//{host}").hostname or ""
            ipaddress.ip_address(name)
        except ValueError:
            name, _, port = host.rpartition(":")
            return (name if port.isdigit() else host).lower() in self.names | {"localhost"}
        return True


async def _limited(headers: Headers, receive: Receive, largest: int) -> Receive:
    """The same body, refused once it is too large."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > largest:
        left = int(declared) if int(declared) <= DRAINED else 0
        with suppress(TimeoutError):
            async with asyncio.timeout(BODY_SECONDS):
                while left > 0 and (message := await receive()).get("more_body"):
                    left -= len(message["body"])
        raise Problem(413, f"The body is larger than {largest:,} bytes.", headers=CLOSE)
    got, over, began = 0, False, asyncio.get_running_loop().time()

    async def counted() -> Message:
        nonlocal got, over
        try:
            async with asyncio.timeout_at(None if over else began + BODY_SECONDS + got / SLOWEST):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(408, "The body does not come.", CLOSE) from error
        over = not message.get("more_body", False)
        got += len(message.get("body", b""))
        if got > largest:
            raise HTTPException(413, f"The body is larger than {largest:,} bytes.")
        return message

    return counted


@dataclass(slots=True)
class _Call:
    scope: Scope
    out: Send
    id: str
    began: float
    status: int = 0
    error: str | None = None

    @property
    def method(self) -> str:
        """One of those there are: anyone may make up another, and each would be counted by itself for ever."""
        return str(self.scope["method"]) if self.scope["method"] in METHODS else "other"

    @property
    def route(self) -> str:
        """The pattern, never the path: that holds ids, and a query what people look for."""
        return str(getattr(self.scope.get("route"), "path", "none"))

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["request-id"] = self.id
            headers["cache-control"] = "no-store"
            headers["x-content-type-options"] = "nosniff"
            if workspace := self.scope["state"].get("workspace"):
                headers["anthropic-workspace-id"] = workspace
        await self.out(message)

    async def fail(self, error: Exception, receive: Receive) -> None:
        problem = problem_of(error)
        if problem.status >= 500:  # what it says may quote content: the log has its name and place only
            frame = traceback.extract_tb(error.__traceback__)[-1]
            self.error = f"{type(error).__name__} at {frame.filename.rpartition('/')[2]}:{frame.lineno}"
        if self.status:
            raise error
        await envelope(problem, self.id)(self.scope, receive, self.send)

    def told(self) -> dict[str, Any]:
        state = self.scope["state"]
        told = {
            "request_id": self.id,
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 1),
            "workspace": state.get("workspace"),
            "key": state.get("key"),
            "error": self.error,
        }
        return {name: value for name, value in told.items() if value is not None}


class Metrics:
    """Counts for Prometheus, as plain text. No tenant, key or content is in them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[tuple[str, str], list[int]] = {}
        self._seconds: Counter[tuple[str, str]] = Counter()
        self._running = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        self._running += 1  # on the event loop only
        try:
            yield
        finally:
            self._running -= 1

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, route, status] += 1
            buckets = self._times.setdefault((method, route), [0] * (len(BOUNDS) + 1))
            buckets[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[method, route] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# TYPE reverie_http_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'reverie_http_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield "# TYPE reverie_http_request_seconds histogram"
        for (method, route), buckets in sorted(self._times.items()):
            labels, total = f'method="{method}",route="{route}"', 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += count
                yield f'reverie_http_request_seconds_bucket{{{labels},le="{bound}"}} {total}'
            yield f"reverie_http_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"reverie_http_request_seconds_count{{{labels}}} {total}"
        yield "# TYPE reverie_http_requests_running gauge"
        yield f"reverie_http_requests_running {self._running}"


async def one_reading(receive: Receive) -> Receive:
    """The same body, once it is there. Raises where it is ambiguous; what is no JSON at all is told by whoever reads
    it."""
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body", False):
        messages.append(await receive())
    try:
        text = b"".join(message.get("body", b"") for message in messages).decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "The body is not UTF-8.") from error
    if "\0" in text:  # UTF-16 and UTF-32 of anything plain
        raise Problem(400, "The body is not UTF-8.")
    try:
        with suppress(ValueError):
            json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.") from error
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(400, f"The body has the name {twice[:100]!r} twice in one object.")
    return made


# ---- how a request arrives -------------------------------------------------------------------------------------------


class WholeLineEnds(ReceiveBuffer):
    """Lines of a head end with CR LF. h11 also takes a bare LF, and a proxy before us may not: to it the same bytes are
    another request."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = bytes(self._data)
        lines = super().maybe_extract_lines()
        if lines is not None and _BARE_LF.search(before[: len(before) - len(self._data)]):
            raise RemoteProtocolError("a line ends with a bare LF")
        return lines


class PatientProtocol(H11Protocol):
    """HTTP/1.1, where the head of a request is there in `HEAD_SECONDS` or the connection ends."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.conn._receive_buffer = WholeLineEnds()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answering():
            self._no_longer()
        else:
            self._wait()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        """From the first byte on: those that follow win no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _no_longer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self._answering():
            self.transport.close()
