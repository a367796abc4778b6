"""Telegram's servers as a bot sees them: a test says what people write, and sees what the bot answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BOT = {"id": 999, "is_bot": True, "first_name": "Claw", "username": "clawbot"}


class Telegram:
    """What is written in private to the bot, or in a group it is in."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._updates = list[Mapping[str, Any]]()

    def write(self, sender: str, number: int, text: str, *, group: int = 0, **more: Any) -> None:
        about = {"id": number, "is_bot": False, "first_name": sender}
        chat = {"id": group, "type": "group", "title": "Team"} if group else {**about, "type": "private"}
        at = len(self._updates) + 1
        message = {"message_id": at, "date": int(time.time()), "from": about, "chat": chat, "text": text, **more}
        self._updates.append({"update_id": at, "message": message})

    def answer(self, method: str, asked: Mapping[str, Any]) -> object:
        match method:
            case "getMe":
                return BOT | {"can_join_groups": True, "can_read_all_group_messages": True}
            case "getUpdates":
                end, first = time.monotonic() + 1, asked.get("offset") or 0
                while not (new := [one for one in self._updates if one["update_id"] >= first]):
                    if time.monotonic() > end:
                        break
                    time.sleep(0.05)
                return new
            case "sendMessage" | "editMessageText":
                chat = {"id": asked.get("chat_id"), "type": "private"}
                return {"message_id": 1_000, "date": int(time.time()), "chat": chat, "text": asked.get("text", "")}
            case _:
                return True


@contextmanager
def telegram() -> Iterator[Telegram]:
    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = json.loads(body) if body.startswith(b"{") else {}
            method = self.path.rpartition("/")[2].partition("?")[0]
            content = json.dumps({"ok": True, "result": served.answer(method, asked)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(BrokenPipeError):  # a bot that stops does not wait for news
                self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        served = Telegram(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield served
        server.shutdown()
        thread.join()
