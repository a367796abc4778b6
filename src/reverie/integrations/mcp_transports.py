"""How messages of the Model Context Protocol travel: lines on standard input and output, or streamable HTTP.

Over HTTP each request is answered by itself, with JSON; there are no sessions and no streams to keep, which the
protocol allows. Who calls needs a key of this home.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reverie.core.errors import BadInput
from reverie.integrations.mcp_server import PARSE_ERROR, VERSIONS, Answer, McpServer, error_answer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PATH = "/mcp"
LARGEST = 1_000_000  # bytes of one message
START_SECONDS = 60


def serve_stdio(server: McpServer) -> None:
    """Until the agent closes its end. Whatever else writes to standard output goes to standard error."""
    out = sys.stdout.buffer
    with redirect_stdout(sys.stderr):
        for line in sys.stdin.buffer:
            if line.strip():
                _write(out, _answered(server, line))


def _answered(server: McpServer, raw: bytes) -> Answer | None:
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return error_answer(None, PARSE_ERROR, "This is no JSON.")
    return server.answer(message)


def _write(out: IO[bytes], answer: Answer | None) -> None:
    if answer is not None:
        out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        out.flush()


def http_app(server: McpServer) -> Starlette:
    """At `/mcp`, for who has a key of this home that may write: `Authorization: Bearer …` or `x-api-key`."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    return Starlette(routes=[Route(PATH, _Endpoint(server).post, methods=["POST"])])


@dataclass(frozen=True, slots=True)
class _Endpoint:
    server: McpServer

    async def post(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse, PlainTextResponse, Response

        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return PlainTextResponse(f"A page of {origin} may not call this server.", 403)
        if not await run_in_threadpool(self._admits, dict(request.headers)):
            said = "A key is needed: `reverie keys create --name … --scope write`, sent as `Authorization: Bearer …`."
            return PlainTextResponse(said, 401, {"WWW-Authenticate": "Bearer"})
        if request.headers.get("mcp-protocol-version", VERSIONS[0]) not in VERSIONS:
            return JSONResponse(
                error_answer(None, -32600, f"The revisions spoken here are {', '.join(VERSIONS)}."), 400
            )
        if (body := await _body(request)) is None:
            return PlainTextResponse(f"A message may have {LARGEST:,} bytes.", 413)
        answer = await run_in_threadpool(_answered, self.server, body)
        return Response(status_code=202) if answer is None else JSONResponse(answer)

    def _admits(self, headers: Mapping[str, str]) -> bool:
        from reverie.core.keys import Permission

        bearer = headers.get("authorization", "")
        secret = bearer[7:] if bearer[:7].lower() == "bearer " else headers.get("x-api-key", "")
        with self.server.opened() as home:
            key = home.keys.admitted(secret.strip())
            ours = key is not None and key.workspace == home.scope.workspace and key.user in ("", home.config.owner)
            return key is not None and ours and key.may(Permission.WRITE)


async def _body(request: Request) -> bytes | None:
    """None where it is too long, of which no more is read."""
    pieces, size = list[bytes](), 0
    async for piece in request.stream():
        size += len(piece)
        if size > LARGEST:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def started_tools(server: Mapping[str, Any]) -> list[str]:
    """Start a server as an agent does, by what was written down for it, and ask it for its tools."""
    version = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [server["command"], *server["args"]],
        input="".join(f"{json.dumps(one)}\n" for one in asked),
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(Path.home()), "PATH": os.defpath, **server.get("env", {})},
        timeout=START_SECONDS,
    )
    try:
        _, listed = map(json.loads, done.stdout.splitlines())
        return [tool["name"] for tool in listed["result"]["tools"]]
    except (ValueError, KeyError) as error:
        raise BadInput(f"The MCP server does not start: {done.stderr.strip()[-500:] or 'it says nothing'}") from error
