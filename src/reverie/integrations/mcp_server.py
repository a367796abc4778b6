"""The Model Context Protocol: what a client asks, and the answer. No transport: one message in, one or none out.

Written by hand, because an agent does not wait for a server that starts slowly (docs/decisions/0016): nothing but the
standard library is imported before the first call of a tool. It speaks every revision up to 2025-11-25, which newer
clients fall back to. A home is opened for each call and closed after it: what a person or a night changed in between is
seen, and nothing is held while the agent thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from reverie import __version__
from reverie.core.errors import ReverieError
from reverie.integrations.agent_resources import (
    PAGES,
    PROMPT,
    PROMPT_ABOUT,
    TEMPLATES,
    read_page,
    review_last_night,
)
from reverie.integrations.tool_schemas import TOOLS

if TYPE_CHECKING:
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
                return _initialized(params.get("protocolVersion"))
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
                return self._read(_text(params, "uri"))
            case "prompts/list":
                return {"prompts": [{"name": PROMPT, "description": PROMPT_ABOUT}]}
            case "prompts/get":
                return self._prompted(_text(params, "name"))
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

    def _read(self, uri: str) -> Answer:
        text = self._with_tools(lambda tools: read_page(tools, uri))
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}

    def _prompted(self, name: str) -> Answer:
        if name != PROMPT:
            raise _Failed(INVALID_PARAMS, f"There is no prompt {name!r}.")
        content = {"type": "text", "text": self._with_tools(review_last_night)}
        return {"description": PROMPT_ABOUT, "messages": [{"role": "user", "content": content}]}

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


def _initialized(wanted: object) -> Answer:
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "reverie", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _page(key: str, uri: str, name: str, about: str) -> Answer:
    return {key: uri, "name": name, "description": about, "mimeType": "text/markdown"}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise _Failed(INVALID_PARAMS, f"{name} is missing or no text.")
    return value
