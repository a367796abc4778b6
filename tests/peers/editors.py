"""Editors that agents ask what a person looks at: they speak the protocols of the real extensions, and show what a test
says. Codex finds one by a socket in its folder, Claude Code by a file there that names a port."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

_WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # by RFC 6455


@contextmanager
def codex_editor(folder: Path, shown: Mapping[str, Any]) -> Iterator[None]:
    """As the extension of VS Code answers Codex 0.166 after `/ide`: frames of JSON, each behind its length."""

    def serve(stream: BinaryIO) -> None:
        while head := stream.read(4):
            asked = json.loads(stream.read(struct.unpack("<I", head)[0]))
            result = {"clientId": "tui"} if asked["method"] == "initialize" else {"ideContext": shown}
            told = {"type": "response", "resultType": "success", "result": result, "requestId": asked["requestId"]}
            answer = json.dumps(told | {"method": asked["method"], "handledByClientId": "editor"}).encode()
            stream.write(struct.pack("<I", len(answer)) + answer)
            stream.flush()

    path = folder / "ipc/ipc.sock"
    path.parent.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        _in_background(listening, serve)
        yield


class ClaudeEditor:
    """As the extension of VS Code serves Claude Code 2.1.197: MCP on a WebSocket. It finds `problem` in each
    file that is edited."""

    def __init__(self, problem: str) -> None:
        self._problem = problem
        self._edited = list[str]()
        self._stream: BinaryIO | None = None
        self.connected = threading.Event()

    def selects(self, path: Path, text: str = "") -> None:
        """A person selects text in a file, or only opens it."""
        end = {"line": text.count("\n"), "character": len(text)}
        selection = {"start": {"line": 0, "character": 0}, "end": end, "isEmpty": not text}
        self._send("selection_changed", {"selection": selection, "text": text, "filePath": str(path)})

    def serve(self, stream: BinaryIO) -> None:
        lines = [line.decode().strip().partition(":") for line in iter(stream.readline, b"\r\n")]
        asked = {name.lower(): text.strip() for name, _, text in lines}
        key = f"{asked['sec-websocket-key']}{_WEBSOCKET}".encode()
        accept = base64.b64encode(hashlib.sha1(key).digest()).decode()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        protocol = "Sec-WebSocket-Protocol: mcp\r\n" if "sec-websocket-protocol" in asked else ""
        stream.write(f"{head}{protocol}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        stream.flush()
        self._stream = stream
        while frame := _frame(stream):
            told = json.loads(frame)
            if told.get("method") in ("ide_connected", "notifications/initialized"):
                self.connected.set()
            elif "id" in told and "method" in told:
                self._write({"jsonrpc": "2.0", "id": told["id"], "result": self._result(told)})

    def _result(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        match told["method"]:
            case "initialize":
                about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "editor", "version": "1"}}
                return {"protocolVersion": told["params"]["protocolVersion"], **about}
            case "tools/list":
                schema = {"type": "object", "properties": {"uri": {"type": "string"}}}
                names = ("getDiagnostics", "openDiff", "close_tab", "closeAllDiffTabs", "openFile")
                return {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in names]}
            case "tools/call":
                text = self._diagnostics(told["params"]) if told["params"]["name"] == "getDiagnostics" else "OK"
                return {"content": [{"type": "text", "text": text}]}
            case _:
                return {}

    def _diagnostics(self, params: Mapping[str, Any]) -> str:
        """Before an edit Claude Code asks about one file, afterwards about all."""
        if uri := str(params.get("arguments", {}).get("uri", "")):
            self._edited.append(uri)
            return "[]"
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        found = [{"message": self._problem, "severity": "Error", "range": place, "source": "lint"}]
        return json.dumps([{"uri": one, "diagnostics": found} for one in self._edited])

    def _send(self, method: str, params: Mapping[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._stream is not None, "no agent has connected to the editor"
        content = json.dumps(message).encode()
        self._stream.write(b"\x81\x7f" + struct.pack(">Q", len(content)) + content)
        self._stream.flush()


def _frame(stream: BinaryIO) -> bytes:
    """The words of the next text frame; nothing where the other side is gone. Clients mask what they send."""
    while len(head := stream.read(2)) == 2:
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(stream.read(2 if size == 126 else 8))
        mask, content = stream.read(4), stream.read(size)
        if head[0] & 0xF == 1:
            return bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))
    return b""


@contextmanager
def claude_editor(folder: Path, work: Path, problem: str) -> Iterator[ClaudeEditor]:
    editor = ClaudeEditor(problem)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        lock = folder / f"ide/{listening.getsockname()[1]}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        about = {"pid": os.getpid(), "workspaceFolders": [str(work)], "ideName": "Visual Studio Code"}
        lock.write_text(json.dumps(about | {"transport": "ws", "authToken": "letmein"}))
        _in_background(listening, editor.serve)
        yield editor


def _in_background(listening: socket.socket, serve: Callable[[BinaryIO], None]) -> None:
    """Whoever connects is served, until nobody listens any more."""

    def accept() -> None:
        listening.listen()
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=follow, args=(connection,), daemon=True).start()

    def follow(connection: socket.socket) -> None:
        with suppress(OSError, StopIteration), connection, connection.makefile("rwb") as stream:
            serve(stream)

    threading.Thread(target=accept, daemon=True).start()
