"""The Model Context Protocol: what a client asks, and the answer; by lines on standard input, or over streamable HTTP.

Written by hand, because an agent does not wait for a server that starts slowly (docs/decisions/0016): nothing but the
standard library is imported before the first call of a tool. It speaks every revision up to 2025-11-25, which newer
clients fall back to. A home is opened for each call and closed after it: what a person or a night changed in between is
seen, and nothing is held while the agent thinks.

Over HTTP each request is answered by itself, with JSON; there are no sessions and no streams to keep, which the
protocol allows. Who calls needs a key of this home.

Beside the tools an agent may read a home by address: memory, skills, the diaries of nights; and there is one prompt.
That list is always the same, so that it costs nothing: an agent asks for it when it starts, and waits for the answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from reverie import __version__
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.integrations.tool_schemas import TOOLS

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from reverie.app import Home
    from reverie.integrations.agent_tools import AgentTools


VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INSTRUCTIONS = (
    "Reverie keeps what this person's agents learnt. Search or recall before asking the person something they may "
    "have told an agent before. Propose with `remember` what should hold in later sessions; the person decides."
)
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
Answer = dict[str, Any]
Made = TypeVar("Made")
PATH = "/mcp"
LARGEST = 1_000_000  # bytes of one message
START_SECONDS = 60
SCHEME = "reverie://"
PAGES = {
    f"{SCHEME}memory": ("memory", "What is remembered for this person's agents, by where it stands."),
    f"{SCHEME}skills": ("skills", "The skills there are, with their addresses."),
    f"{SCHEME}diary": ("diary", "The last nights, with the addresses of their diaries."),
}
TEMPLATES = {
    f"{SCHEME}memory/{{target}}": ("memory of one target", "What one agent, project or home remembers."),
    f"{SCHEME}skills/{{skill}}": ("a skill", "The text of one skill."),
    f"{SCHEME}diary/{{dream}}": ("a diary", "What one night read, changed, proposed and held, with reasons."),
}
NIGHTS = 7  # diaries that are listed
PROMPT = "review-last-night"
PROMPT_ABOUT = "What the last night changed and what waits for a decision, to go through together."


class _Failed(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class McpServer:
    """`agent` is who calls, as the installer or the caller named it; `target` is its memory."""

    opened: Callable[[], AbstractContextManager[Home]]
    target: str | None
    agent: str

    def answer(self, message: object) -> Answer | None:
        """To a request, its answer; to a notification, none."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            is_answer = isinstance(message, dict) and ("result" in message or "error" in message)
            return None if is_answer else error_answer(None, INVALID_REQUEST, "This is no JSON-RPC request.")
        if "id" not in message:
            return None
        number, params = message["id"], message.get("params") or {}
        try:
            if not isinstance(params, dict):
                raise _Failed(INVALID_PARAMS, "The parameters are no object.")
            return {"jsonrpc": "2.0", "id": number, "result": self._result(message["method"], params)}
        except _Failed as failed:
            return error_answer(number, failed.code, str(failed))
        except ReverieError as error:
            return error_answer(number, INVALID_PARAMS, str(error))
        except Exception as error:  # noqa: BLE001 - a bug of ours ends one call, not the agent's session
            return error_answer(number, INTERNAL, f"{type(error).__name__}. Please report it.")

    def _result(self, method: str, params: Mapping[str, Any]) -> Answer:
        match method:
            case "initialize":
                wanted = params.get("protocolVersion")
                return {
                    "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
                    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
                    "serverInfo": {"name": "reverie", "version": __version__},
                    "instructions": INSTRUCTIONS,
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": listed_tools()}
            case "tools/call":
                return self._called(_text(params, "name"), params.get("arguments") or {})
            case "resources/list":
                return {"resources": [_page("uri", uri, *told) for uri, told in PAGES.items()]}
            case "resources/templates/list":
                return {"resourceTemplates": [_page("uriTemplate", uri, *told) for uri, told in TEMPLATES.items()]}
            case "resources/read":
                uri = _text(params, "uri")
                text = self._with_tools(lambda tools: read_page(tools, uri))
                return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}
            case "prompts/list":
                return {"prompts": [{"name": PROMPT, "description": PROMPT_ABOUT}]}
            case "prompts/get":
                if (name := _text(params, "name")) != PROMPT:
                    raise _Failed(INVALID_PARAMS, f"There is no prompt {name!r}.")
                content = {"type": "text", "text": self._with_tools(review_last_night)}
                return {"description": PROMPT_ABOUT, "messages": [{"role": "user", "content": content}]}
        raise _Failed(NO_METHOD, f"There is no method {method!r}.")

    def _called(self, name: str, given: Any) -> Answer:
        from reverie.integrations.agent_tools import call_tool

        if not isinstance(given, dict):
            raise _Failed(INVALID_PARAMS, "The arguments are no object.")
        try:
            text, is_error = self._with_tools(lambda tools: call_tool(tools, name, given)), False
        except ReverieError as error:  # the agent can mend it, and should read why
            text, is_error = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    def _with_tools(self, do: Callable[[AgentTools], Made]) -> Made:
        from reverie.integrations.agent_tools import AgentTools

        with self.opened() as home:
            return do(AgentTools(home, self.target or home.memory.default(), self.agent))


def listed_tools() -> list[Answer]:
    return [
        {
            "name": tool.name,
            "description": tool.about,
            "inputSchema": tool.schema,
            "annotations": {"readOnlyHint": not tool.writes, "destructiveHint": False, "openWorldHint": False},
        }
        for tool in TOOLS
    ]


def error_answer(number: object, code: int, message: str) -> Answer:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _page(key: str, uri: str, name: str, about: str) -> Answer:
    return {key: uri, "name": name, "description": about, "mimeType": "text/markdown"}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise _Failed(INVALID_PARAMS, f"{name} is missing or no text.")
    return value


def serve_stdio(server: McpServer) -> None:
    """Until the agent closes its end. Whatever else writes to standard output goes to standard error."""
    out = sys.stdout.buffer
    with redirect_stdout(sys.stderr):
        for line in sys.stdin.buffer:
            answer = _answered(server, line) if line.strip() else None
            if answer is not None:
                out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                out.flush()


def _answered(server: McpServer, raw: bytes) -> Answer | None:
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return error_answer(None, PARSE_ERROR, "This is no JSON.")
    return server.answer(message)


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


# ---- what may be read by its address ---------------------------------------------------------------------------------


_PROMPT_FILE = Path(__file__).with_name("review_last_night.md")


def read_page(tools: AgentTools, uri: str) -> str:
    if uri.startswith(SCHEME):
        kind, _, name = unquote(uri.removeprefix(SCHEME)).partition("/")
        match kind, name:
            case "memory", "":
                return "\n".join(f"## {one}\n\n{_memory(tools, one)}" for one in tools.home.memory.present())
            case "memory", target:
                return _memory(tools, target)
            case "skills", "":
                every = tools.safe_skills()
                return "".join(f"- {SCHEME}skills/{quote(one.path)} {one.skill.description or ''}\n" for one in every)
            case "skills", skill:
                return tools.read_skill(skill)
            case "diary", "":
                nights = tools.home.dreams.records.find(tools.home.owned, limit=NIGHTS)
                return "".join(f"- {SCHEME}diary/{one.id} {one.started_at:%Y-%m-%d} {one.target}\n" for one in nights)
            case "diary", dream:
                return _safe_lines(tools.home.dreams.get(dream).diary)
    raise NotFound(f"There is no page {uri}.", expected=f"one of {', '.join(PAGES)}, or a page below")


def _memory(tools: AgentTools, target: str) -> str:
    return "".join(f"- {entry.text}\n" for entry in tools.safe_entries(target))


def _safe_lines(text: str) -> str:
    """A diary quotes what it did not keep, and why."""
    from reverie.integrations.agent_tools import withhold_unsafe

    return "\n".join(map(withhold_unsafe, text.split("\n")))


def review_last_night(tools: AgentTools) -> str:
    from reverie.integrations.agent_tools import describe_proposal

    diaries = [dream.diary for dream in tools.home.dreams.records.find(tools.home.owned, limit=NIGHTS) if dream.diary]
    waiting = [describe_proposal(one) for one in tools.home.review.waiting()]
    return Template(_PROMPT_FILE.read_text("utf-8")).substitute(
        diary=_safe_lines(diaries[0].strip()) if diaries else "There was no night yet.",
        proposals="\n\n".join(waiting) or "Nothing waits.",
    )
