"""Hermes' own model for a night: Reverie asks at an address on this machine, Hermes answers with the model and the
credentials it uses itself. Neither sees the other's keys. `model: host` in the block `dreaming:` of config.yaml asks
for it.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_KEY = "REVERIE_HERMES_TOKEN"
_MOST_BYTES = 16_000_000
_SECONDS = 600.0


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """The settings with which Reverie asks here, for as long as a night takes. Nobody without the token is answered."""
    from agent.plugin_llm import PluginLlm  # what `ctx.llm` is, also in the process of a cron job

    server = _Server(PluginLlm(plugin_id="reverie"), secrets.token_urlsafe(24))
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield {
            "REVERIE_MODEL": "anthropic:hermes-host",
            "REVERIE_MODEL_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "REVERIE_MODEL_KEY_NAME": _KEY,
            _KEY: server.token,
        }
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Any, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model, self.token = model, token


class _Handler(BaseHTTPRequestHandler):
    """`POST /v1/messages`, as Anthropic's clients send it, not streamed."""

    server: _Server

    def do_POST(self) -> None:
        asked = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MOST_BYTES))
        if not secrets.compare_digest(self.headers.get("X-Api-Key") or "", self.server.token):
            self._reply(401, _error("authentication_error", "This address is for one night of Reverie."))
            return
        try:
            body = json.loads(asked)
            done = self.server.model.complete(
                chat(body), max_tokens=body.get("max_tokens"), timeout=_SECONDS, purpose="reverie.night"
            )
        except Exception as error:  # noqa: BLE001  # whatever Hermes or its provider raises is an answer that is not there
            self._reply(503, _error("api_error", f"Hermes' model did not answer: {type(error).__name__}"))
            return
        self._reply(200, answer(done))

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: this is Hermes' terminal."""


def chat(body: dict[str, Any]) -> list[dict[str, str]]:
    """The messages as Hermes takes them. A shape the answer is to have is asked for in words."""
    system = _text(body.get("system"))
    shape = ((body.get("output_config") or {}).get("format") or body.get("output_format") or {}).get("schema")
    if shape:
        system += f"\n\nAnswer with JSON alone that fits this schema:\n{json.dumps(shape)}"
    said = [{"role": one["role"], "content": _text(one["content"])} for one in body["messages"]]
    return [{"role": "system", "content": system.strip()}, *said] if system.strip() else said


def answer(done: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{secrets.token_hex(8)}",
        "type": "message",
        "role": "assistant",
        "model": str(done.model or "hermes-host"),
        "content": [{"type": "text", "text": done.text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": done.usage.input_tokens, "output_tokens": done.usage.output_tokens},
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}
