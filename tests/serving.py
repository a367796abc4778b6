"""A real server on a free port of this machine, and the plainest client there is."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from reverie.app import Home
from reverie.core.scope import Permission
from reverie.server.app import api_application
from reverie.server.caller import CallLimits, House
from reverie.server.middleware import PatientProtocol


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> str:
        return str(self.json["error"]["type"])


@dataclass(frozen=True)
class Served:
    """`key` is good for everything in the workspace `local` but administering it."""

    house: House
    port: int
    key: str
    default: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def new_key(self, *scopes: str, workspace: str = "local", user: str = "") -> str:
        permissions = frozenset(map(Permission, scopes))
        return self.house.home.tenants.keys(workspace).create("a test", permissions, user).secret

    def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"x-api-key": self.key if key is None else key, "content-type": "application/json"} | (headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, raw, {name: value for name, value in sent.items() if value})
            answered = connection.getresponse()
            headers_back = {name.lower(): value for name, value in answered.getheaders()}
            return Answer(answered.status, headers_back, answered.read().decode())
        finally:
            connection.close()

    def store(self, key: str | None = None, **given: Any) -> str:
        return str(self.call("POST", "/v1/memory_stores", {"name": "Notes"} | given, key=key).json["id"])

    def memory(self, store: str, path: str, content: str = "", key: str | None = None) -> dict[str, Any]:
        made = self.call("POST", f"/v1/memory_stores/{store}/memories", {"path": path, "content": content}, key=key)
        assert made.status == 200, made.text
        return dict(made.json)


@contextmanager
def serving(home: Home, limits: CallLimits | None = None, *, dreams: bool = True, **given: Any) -> Iterator[Served]:
    house = House(home)
    key = house.keys.create("the test", frozenset(Permission) - {Permission.ADMIN}).secret
    limits = limits or CallLimits(per_second=1e6, burst=10**6)
    app = api_application(house, limits=limits, **given)
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off", http=PatientProtocol)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    working = ExitStack()
    thread.start()
    try:
        working.enter_context(house.sharing(limits))
        if dreams:
            working.enter_context(house.working())
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield Served(house, server.servers[0].sockets[0].getsockname()[1], key)
    finally:
        server.should_exit = True
        thread.join()
        working.close()


@contextmanager
def in_a_thread(config: uvicorn.Config) -> Iterator[str]:
    """The address at which an application answers."""
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
