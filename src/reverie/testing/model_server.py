"""A model server on loopback with scripted answers and every kind of misbehaviour. It speaks Chat Completions and
Messages, for the real coding agents also Responses and generateContent, and Embeddings.

    with serving([Says('{"colour": "blue"}'), Refuses(429, "1")]) as server:
        ...                                    # openai clients at server.openai_url, anthropic ones at server.url
        assert not server.saw("the secret")

A script is one play, a list of them, used up one request at a time (the last one again for the rest), or a function of
the request. Without one, each answer is the smallest that fits the schema asked for. `python -m
reverie.testing.model_server` serves until it is interrupted; with `--queue` or `--replay` it answers from a folder, see
`model_recordings`.
"""

from __future__ import annotations

import argparse
import base64
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reverie.testing.model_plays import MISBEHAVIOURS, Play, Refuses, Says, Sends, tear_down
from reverie.testing.model_recordings import ANSWER, REQUEST, Queue, Recordings
from reverie.testing.model_wires import ReceivedRequest, ToolUse

Script = Play | Sequence[Play] | Callable[[ReceivedRequest], Play]
CONTEXT = 32_768
_MOST_BYTES = 64_000_000
_DEEPEST = 12


class Server:
    """Where it listens, and every request it got, in order."""

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        self._script = [script] if isinstance(script, Play) else script
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self.requests: list[ReceivedRequest] = []
        self._http = _Listener(("127.0.0.1", port), _Handler, self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def asked(self) -> list[ReceivedRequest]:
        """The requests for an answer, without those for the list of models."""
        return [request for request in self.requests if request.method == "POST"]

    def saw(self, words: str) -> bool:
        """Whether these words came in anywhere: a path, a header, a body, escaped or not."""
        plain, escaped = words.encode(), json.dumps(words)[1:-1].encode()
        return any(
            plain in request.raw or escaped in request.raw or words in request.path or words in str(request.headers)
            for request in self.requests
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def play_for(self, asked: ReceivedRequest) -> Play:
        """Record the request and choose what to do with it."""
        with self._lock:
            self.requests.append(asked)
            if asked.method == "GET":
                entry = {"id": "scripted", "object": "model", "created": 1_700_000_000, "owned_by": "reverie"}
                listing = {"object": "list", "data": [entry | {"max_model_len": CONTEXT}], "has_more": False}
                return Sends(json.dumps(listing).encode())
            if asked.path.endswith("/embeddings"):
                # The built-in embedder's vectors of the texts, as OpenAI's clients read them.
                from reverie.text.embedding import embed

                given = asked.body.get("input")
                vectors = embed([given] if isinstance(given, str) else list(given or ())).astype("<f4")
                packed = asked.body.get("encoding_format") == "base64"
                told = [base64.b64encode(one.tobytes()).decode() if packed else one.tolist() for one in vectors]
                data = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(told)]
                usage = {"prompt_tokens": 1, "total_tokens": 1}
                return Sends(json.dumps({"object": "list", "model": "scripted", "data": data, "usage": usage}).encode())
            if asked.route is None:
                return Refuses(404, message=f"There is nothing at {asked.path}.")
            if self._script is None:
                return fitting(asked)
            if callable(self._script):
                return self._script(asked)
            return self._script[min(len(self.asked), len(self._script)) - 1]


def fitting(asked: ReceivedRequest) -> Says:
    """The smallest answer of the shape asked for; an echo of nothing much where no shape was."""
    if asked.schema is None:
        return Says("ok")
    value: Any = shaped(asked.schema)
    if asked.tool and not asked.body.get("response_format"):
        return Says("", (ToolUse(asked.tool[0], value),), finish="tool_calls")
    return Says(json.dumps(value))


@contextmanager
def serving(script: Script | None = None, port: int = 0) -> Iterator[Server]:
    server = Server(script, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], server: Server) -> None:
        super().__init__(address, handler)
        self.scripted = server


class _Handler(BaseHTTPRequestHandler):
    """One request, one play, one closed connection."""

    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self._serve(self.rfile.read(min(length, _MOST_BYTES)))

    def _serve(self, raw: bytes) -> None:
        self.close_connection, self._chunked = True, False
        body: object = {}
        with suppress(ValueError):
            body = json.loads(raw)
        told = body if isinstance(body, dict) else {}
        asked = ReceivedRequest(self.command, self.path, dict(self.headers.items()), raw, told)
        play = self.server.scripted.play_for(asked)
        with suppress(OSError):  # whoever asked has gone
            play.perform(asked, self)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self._chunked = "Content-Length" not in headers
        framing = {"Transfer-Encoding": "chunked"} if self._chunked else {}
        for name, value in {**headers, **framing, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def write(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if self._chunked else piece)

    def end(self) -> None:
        if self._chunked:
            self.wfile.write(b"0\r\n\r\n")

    def wait(self, seconds: float) -> bool:
        return not self.server.scripted.closing.wait(seconds)

    def reset(self) -> None:
        tear_down(self.connection)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are recorded."""


def serve_command(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m reverie.testing.model_server", description="A scripted model server.")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--wait", type=float, metavar="SECONDS", help="with --queue: then answer 503 (300; 0: at once)")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--misbehave", choices=sorted(MISBEHAVIOURS), help="answer every request so")
    ways.add_argument("--queue", metavar="FOLDER", help=f"write *{REQUEST} there, answer from *{ANSWER}")
    ways.add_argument("--replay", metavar="FOLDER", help=f"answer from *{ANSWER} there, 404 for what has none")
    chosen = parser.parse_args(arguments)
    if chosen.wait is not None and not chosen.queue:
        parser.error("--wait needs --queue FOLDER")
    if chosen.replay and not Path(chosen.replay).is_dir():
        parser.error(f"--replay: there is no folder {chosen.replay}")
    script: Play | None = MISBEHAVIOURS[chosen.misbehave] if chosen.misbehave else None
    if chosen.queue:
        script = Queue(chosen.queue) if chosen.wait is None else Queue(chosen.queue, chosen.wait)
    elif chosen.replay:
        script = Recordings(chosen.replay)
    with serving(script, chosen.port) as server, suppress(KeyboardInterrupt):
        sys.stdout.write(f"Chat Completions at {server.openai_url}, Messages at {server.url}. Ctrl-C ends it.\n")
        sys.stdout.flush()
        server.closing.wait()
    if isinstance(script, Recordings) and script.missing:
        sys.exit(script.advice)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was started in the background
    serve_command()


def shaped(schema: Mapping[str, Any], depth: int = 0) -> object:
    """The smallest value the schema allows: required fields only, lists as short as they may be."""
    if depth > _DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return shaped(schema[union][0], depth + 1)
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            return {name: shaped(schema.get("properties", {}).get(name, {}), depth + 1) for name in wanted}
        case "array":
            return [shaped(schema.get("items", {}), depth + 1) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "string":
            return "x" * max(schema.get("minLength", 0), 1)
        case _:
            return None
