"""A thin client of the HTTP API, for scripts written after articles: the names they use, and the wire's own.

    client = Client()                                # ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY
    dream = client.beta.dreams.create(memory_store_id=…, session_ids=[…], model="built-in")
    while client.beta.dreams.retrieve(dream.id).status != "complete": …

What is sent is what the protocol wants, so it works with `reverie serve` and with any other server that speaks it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from reverie.core.errors import NotReached
from reverie.harnesses.anthropic_server import AGENT_BETA, DREAM_BETA, MEMORY_BETA, AnthropicServer

ANTHROPIC = "https://api.anthropic.com"
FINAL = ("completed", "failed", "canceled")
ENVIRONMENT = "scripts"  # where the sessions of a script that names no environment run
POLL_SECONDS = 0.2


class LenientStatus(str):
    """`complete` and `completed` are the same: articles say the one, the wire says the other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or {str(self), other} == {"complete", "completed"}

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)


class ServerAnswer:
    """The answer of a server, by name. `to_dict()` is the answer as it came."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = dict(answer)

    def __getattr__(self, name: str) -> Any:
        try:
            return _told(self._answer[name])
        except KeyError:
            raise AttributeError(f"The server said no {name!r}: {', '.join(self._answer)}.") from None

    def __repr__(self) -> str:
        return f"ServerAnswer({self._answer!r})"

    def to_dict(self) -> dict[str, Any]:
        return self._answer


class DreamAnswer(ServerAnswer):
    @property
    def status(self) -> LenientStatus:
        said = str(self._answer["status"])
        return LenientStatus("complete" if said == "completed" else said)

    @property
    def output_memory_store_id(self) -> str | None:
        return next((str(one["memory_store_id"]) for one in self._answer["outputs"]), None)

    @property
    def elapsed_seconds(self) -> float:
        began, ended = self._answer["created_at"], self._answer["ended_at"]
        now = datetime.fromisoformat(ended) if ended else datetime.now().astimezone()
        return max(0.0, (now - datetime.fromisoformat(began)).total_seconds())


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ServerAnswer(value)
    return [_told(one) for one in value] if isinstance(value, list) else value


class Resource:
    """The resource at one address: `create`, `retrieve` (or `get`), `update`, `list`, `archive`, `cancel`, `delete`."""

    def __init__(self, server: AnthropicServer, path: str, beta: str) -> None:
        self._server, self._path, self._beta = server, path, beta

    def create(self, *owner: str, **body: Any) -> ServerAnswer:
        return self._made(self._post("", owner, body))

    def retrieve(self, name: str, **owner: str) -> ServerAnswer:
        return self._made(self._server.send("GET", self._at(tuple(owner.values()), name), self._beta))

    get = retrieve

    def update(self, name: str, /, memory_store_id: str = "", **body: Any) -> ServerAnswer:
        owner = (memory_store_id,) if memory_store_id else ()
        return self._made(self._post(f"/{name}", owner, body))

    def list(self, *owner: str, **query: Any) -> Iterator[ServerAnswer]:
        path, page = self._at(owner), ""
        while True:
            asked = {**query, **({"page": page} if page else {})}
            found = self._server.send("GET", path, self._beta, params=asked)
            yield from map(self._made, found["data"])
            page = found.get("next_page") or ""
            if not page:
                return

    def archive(self, name: str) -> ServerAnswer:
        return self._made(self._post(f"/{name}/archive"))

    def cancel(self, name: str) -> ServerAnswer:
        return self._made(self._post(f"/{name}/cancel"))

    def delete(self, name: str, **owner: str) -> ServerAnswer:
        return ServerAnswer(self._server.send("DELETE", self._at(tuple(owner.values()), name), self._beta))

    def _post(self, tail: str, owner: tuple[str, ...] = (), body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        sent = {name: value for name, value in (body or {}).items() if value is not None}
        return self._server.send("POST", f"{self._at(owner)}{tail}", self._beta, json=sent)

    def _at(self, owner: tuple[str, ...], name: str = "") -> str:
        return "/".join([self._path.format(*owner), *([name] if name else [])])

    def _made(self, answer: Mapping[str, Any]) -> ServerAnswer:
        return ServerAnswer(answer)


class DreamsResource(Resource):
    """`create` takes `memory_store_id` and `session_ids`, or the wire's own `inputs`."""

    def create(
        self, *owner: str, memory_store_id: str = "", session_ids: list[str] | None = None, **body: Any
    ) -> DreamAnswer:
        if memory_store_id or session_ids:
            store = {"type": "memory_store", "memory_store_id": memory_store_id}
            body["inputs"] = [store, {"type": "sessions", "session_ids": list(session_ids or ())}]
        return self._made(self._post("", owner, body))

    def retrieve(self, name: str, **owner: str) -> DreamAnswer:
        return self._made(self._server.get(self._at((), name), self._beta))

    get = retrieve

    def wait(self, name: str, timeout: float = 6 * 3600.0, poll: float = POLL_SECONDS) -> DreamAnswer:
        """The dream when it is over, however it ended."""
        until = time.monotonic() + timeout
        while (found := self.retrieve(name)).to_dict()["status"] not in FINAL:
            if time.monotonic() > until:
                raise NotReached(f"{name} is still {found.status} after {timeout:.0f} s.", next_step="Ask again later.")
            time.sleep(poll)
        return found

    def _made(self, answer: Mapping[str, Any]) -> DreamAnswer:
        return DreamAnswer(answer)


class SessionsResource(Resource):
    """`create` takes `agent_id`, `memory_store_id` and `initial_message`, or the wire's own `agent`, `resources` and
    `initial_events`. Without an environment it runs in one that is called after scripts, and is made once."""

    def create(  # type: ignore[override]
        self,
        agent_id: str = "",
        memory_store_id: str = "",
        initial_message: str = "",
        *,
        environment_id: str = "",
        **body: Any,
    ) -> ServerAnswer:
        if agent_id:
            body["agent"] = agent_id
        if memory_store_id:
            mounted = {"type": "memory_store", "memory_store_id": memory_store_id}
            body["resources"] = [*body.get("resources", ()), mounted]
        if initial_message:
            body["initial_events"] = [*body.get("initial_events", ()), _message(initial_message)]
        return self._made(self._post("", (), body | {"environment_id": environment_id or self._environment}))

    def send_message(self, session_id: str, text: str) -> ServerAnswer:
        return self.events.create(session_id, events=[_message(text)])

    @cached_property
    def events(self) -> Resource:
        return Resource(self._server, "/v1/sessions/{}/events", AGENT_BETA)

    @cached_property
    def _environment(self) -> str:
        there = Resource(self._server, "/v1/environments", AGENT_BETA)
        known = next((one.id for one in there.list(limit=100) if one.name == ENVIRONMENT), None)
        return str(known or there.create(name=ENVIRONMENT).id)


def _message(text: str) -> dict[str, Any]:
    return {"type": "user.message", "content": [{"type": "text", "text": text}]}


class StoresResource(Resource):
    @cached_property
    def memories(self) -> Resource:
        return Resource(self._server, "/v1/memory_stores/{}/memories", MEMORY_BETA)

    @cached_property
    def memory_versions(self) -> Resource:
        return Resource(self._server, "/v1/memory_stores/{}/memory_versions", MEMORY_BETA)


class Client:
    """`client.dreams` and `client.beta.dreams` are the same, and so are `client.beta.sessions` and
    `client.beta.managed_agents.sessions`."""

    def __init__(self, base_url: str | None = None, api_key: str | None = None) -> None:
        from reverie.config import load

        environment = load().environment if base_url is None or api_key is None else {}
        address = base_url or environment.get("ANTHROPIC_BASE_URL") or ANTHROPIC
        self.server = AnthropicServer(address, api_key or environment.get("ANTHROPIC_API_KEY", ""))
        self.dreams = DreamsResource(self.server, "/v1/dreams", DREAM_BETA)
        self.sessions = SessionsResource(self.server, "/v1/sessions", AGENT_BETA)
        self.agents = Resource(self.server, "/v1/agents", AGENT_BETA)
        self.environments = Resource(self.server, "/v1/environments", AGENT_BETA)
        self.memory_stores = StoresResource(self.server, "/v1/memory_stores", MEMORY_BETA)
        self.beta = self.managed_agents = self

    def close(self) -> None:
        self.server.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
