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
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reverie import __version__
from reverie.core.errors import BadInput, ReverieError

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
MOST_HITS = 20
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


# ---- the tools, as they are listed -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tool:
    """`schema` is JSON Schema of the arguments; `writes` is true where a proposal can come of it."""

    name: str
    about: str
    schema: Mapping[str, Any]
    writes: bool


def _string(about: str = "") -> dict[str, str]:
    return {"type": "string", **({"description": about} if about else {})}


def _strings(about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": about}


def _object(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TOOLS = (
    Tool(
        "search",
        "Search past sessions of this person with any agent. Use when they refer to earlier work or a decision.",
        _object(["query"], query=_string(), limit={"type": "integer", "minimum": 1, "maximum": MOST_HITS}),
        False,
    ),
    Tool(
        "recall",
        "What is remembered for this person's agents, with ids; about a subject, or the first entries.",
        _object(about=_string()),
        False,
    ),
    Tool("match_skills", "Which skills a task calls for, and why.", _object(["task"], task=_string()), False),
    Tool("read_skill", "The text of a skill.", _object(["name"], name=_string()), False),
    Tool(
        "remember",
        "Propose one lasting statement for memory, when the person says to remember something or corrects you. "
        "Nothing is written: the person reviews it.",
        _object(
            ["text"],
            text=_string("One statement that stands by itself."),
            replaces=_string("The id of the entry it takes the place of."),
            because=_string("Why, in a sentence."),
            target=_string("Which memory; yours if not given."),
        ),
        True,
    ),
    Tool(
        "refine_skill",
        "Propose a change of a skill that was wrong or incomplete. Nothing is written: the person reviews it.",
        _object(
            ["name", "because"],
            name=_string(),
            section=_string("The heading the rules stand under."),
            add=_strings("Rules to add."),
            replace={"type": "object", "additionalProperties": {"type": "string"}, "description": "Old rule to new."},
            remove=_strings("Rules to take out."),
            because=_string("What went wrong, in a sentence."),
        ),
        True,
    ),
    Tool(
        "proposals",
        "What waits for the person's review; with an id, one proposal in full: change, evidence, why it asks.",
        _object(id=_string()),
        False,
    ),
)


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
                from reverie.integrations.agent_tools import read_page

                uri = _text(params, "uri")
                text = self._with_tools(lambda tools: read_page(tools, uri))
                return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}
            case "prompts/list":
                return {"prompts": [{"name": PROMPT, "description": PROMPT_ABOUT}]}
            case "prompts/get":
                from reverie.integrations.agent_tools import review_last_night

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
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    async def post(request: Request) -> Response:
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return PlainTextResponse(f"A page of {origin} may not call this server.", 403)
        if not await run_in_threadpool(_admits, server, dict(request.headers)):
            said = "A key is needed: `reverie keys create --name … --scope write`, sent as `Authorization: Bearer …`."
            return PlainTextResponse(said, 401, {"WWW-Authenticate": "Bearer"})
        if request.headers.get("mcp-protocol-version", VERSIONS[0]) not in VERSIONS:
            said = f"The revisions spoken here are {', '.join(VERSIONS)}."
            return JSONResponse(error_answer(None, INVALID_REQUEST, said), 400)
        if (body := await _body(request)) is None:
            return PlainTextResponse(f"A message may have {LARGEST:,} bytes.", 413)
        answer = await run_in_threadpool(_answered, server, body)
        return Response(status_code=202) if answer is None else JSONResponse(answer)

    return Starlette(routes=[Route(PATH, post, methods=["POST"])])


def _admits(server: McpServer, headers: Mapping[str, str]) -> bool:
    from reverie.core.scope import Permission

    bearer = headers.get("authorization", "")
    secret = bearer[7:] if bearer[:7].lower() == "bearer " else headers.get("x-api-key", "")
    with server.opened() as home:
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
