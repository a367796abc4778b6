"""Memory stores, their versions and dreams on a server that speaks Anthropic's protocol: the real one, ours, others'.

Implements `reverie.bridge.source.StoreSource`. Nothing but GET is ever sent, except by `push` and to
begin a dream. The key goes to the address it was given for and nowhere else: redirects are refused, and so is plain
HTTP to another machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import httpx2

from reverie.bridge.source import HeardSession, RemoteDream, RemoteSession, RemoteStore, RemoteVersion
from reverie.core.errors import BadInput, NotFound, NotPermitted, NotReached

VERSION = "2023-06-01"
MEMORY_BETA, DREAM_BETA = "agent-memory-2026-07-22", "dreaming-2026-04-21"
AGENT_BETA = "managed-agents-2026-04-01"
_PERSON, _GROUP = ("user_id", "user", "person"), ("project", "team")  # as callers name them in a session's metadata
PAGE = 100
TRIES, TIMEOUT = 4, 60.0
_WAITS = {"retry-after-ms": 0.001, "retry-after": 1.0}  # how long the server wants to be left alone, in seconds
AGAIN = (408, 429, 500, 502, 503, 504, 529)
LARGEST = 50_000_000


Given = ParamSpec("Given")
Row = TypeVar("Row")


def _as_expected(listing: Callable[Given, Iterator[Row]]) -> Callable[Given, Iterator[Row]]:
    """Rows that are not what the protocol says are the server's mistake, and told as that."""

    @wraps(listing)
    def listed(*given: Given.args, **named: Given.kwargs) -> Iterator[Row]:
        try:
            yield from listing(*given, **named)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NotReached(
                f"The server's answer is not of Anthropic's protocol: {type(error).__name__} {error}.",
                expected="memory stores, versions and dreams as the protocol has them",
            ) from error

    return listed


@dataclass(frozen=True)
class AnthropicServer:
    """`wait` is slept between two tries."""

    address: str
    key: str = field(repr=False)
    wait: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{self.address!r} is not the address of a server.", expected="https://… without a path")
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise BadInput(f"{self.address} is not encrypted.", expected="https:// for a server on another machine")

    # ---- reading -----------------------------------------------------------------------------------------------------

    @_as_expected
    def stores(self) -> Iterator[RemoteStore]:
        for row in self._listed("/v1/memory_stores", MEMORY_BETA, include_archived="true"):
            yield RemoteStore(row["id"], row.get("name") or "", row.get("description") or "")

    @_as_expected
    def memories(self, store: str, **below: str) -> Iterator[RemoteVersion]:
        for row in self._listed(f"/v1/memory_stores/{store}/memories", MEMORY_BETA, **below):
            if row.get("type", "memory") == "memory":
                at = datetime.fromisoformat(row["updated_at"])
                yield RemoteVersion(
                    row["memory_version_id"], row["id"], "modified", at, row["path"], row["content_sha256"]
                )

    @_as_expected
    def versions(self, store: str) -> Iterator[RemoteVersion]:
        for row in self._listed(f"/v1/memory_stores/{store}/memory_versions", MEMORY_BETA):
            actor, at = row.get("created_by") or {}, datetime.fromisoformat(row["created_at"])
            names = ("session_id", "api_key_id", "user_id", "service_account_id")
            by = next((actor[name] for name in names if actor.get(name)), "")
            what = (row["operation"], at, row.get("path"), row.get("content_sha256"))
            yield RemoteVersion(row["id"], row["memory_id"], *what, by)

    def text(self, store: str, version: RemoteVersion) -> str | None:
        found = self.get(f"/v1/memory_stores/{store}/memory_versions/{version.id}", MEMORY_BETA, view="full")
        content = found.get("content")
        return content if isinstance(content, str) else None

    @_as_expected
    def dreams(self) -> Iterator[RemoteDream]:
        try:
            rows = list(self._listed("/v1/dreams", DREAM_BETA, include_archived="true"))
        except (NotFound, NotPermitted):  # a server, or a key, without dreams
            return
        yield from map(_dream, rows)

    @_as_expected
    def sessions(self, store: str = "", since: datetime | None = None) -> Iterator[RemoteSession]:
        """Oldest first: those that have the store mounted, or all of them; of a time, those made then or later."""
        if store:
            self.get(f"/v1/memory_stores/{store}", MEMORY_BETA)  # a listing is empty for one that is not there
        query = {"order": "asc", "include_archived": "true"} | ({"memory_store_id": store} if store else {})
        query |= {"created_at[gte]": since.isoformat()} if since else {}
        yield from map(_session, self._listed("/v1/sessions", AGENT_BETA, **query))

    def session(self, name: str) -> RemoteSession:
        return _session(self.get(f"/v1/sessions/{name}", AGENT_BETA))

    @_as_expected
    def said(self, session: str) -> Iterator[tuple[str, str]]:
        """The turns of a session: `user`, `agent` or `tool`, and the words."""
        for row in self._listed(f"/v1/sessions/{session}/events", AGENT_BETA, order="asc"):
            who = "tool" if "tool" in row["type"] else row["type"].partition(".")[0]
            for block in row.get("content") or ():
                if who in ("user", "agent", "tool") and block.get("type") == "text":
                    yield who, block["text"]

    def heard(self, sessions: Sequence[str]) -> Iterator[HeardSession]:
        for name in sessions:
            with suppress(NotFound, NotPermitted):  # one that was deleted, or a key that may not read it
                one = self.session(name)
                yield HeardSession(one.id, one.person, one.group, tuple(self.said(name)))

    def dream(self, name: str) -> RemoteDream:
        return _dream(self.get(f"/v1/dreams/{name}", DREAM_BETA))

    # ---- writing: only by `push`, and by a night of dreams -----------------------------------------------------------

    def standing(self, store: str, below: str) -> list[RemoteVersion]:
        return list(self.memories(store, path_prefix=below))

    def put(self, store: str, path: str, content: str, was: RemoteVersion | None) -> None:
        """A memory at this path. What someone else wrote there meanwhile is not written over."""
        memories = f"/v1/memory_stores/{store}/memories"
        if was is None:
            self.send("POST", memories, MEMORY_BETA, json={"path": path, "content": content})
            return
        expected = {"type": "content_sha256", "content_sha256": was.sha256}
        body = {"content": content, "precondition": expected}
        self.send("POST", f"{memories}/{was.memory}", MEMORY_BETA, json=body)

    def remove(self, store: str, was: RemoteVersion) -> None:
        path, expected = f"/v1/memory_stores/{store}/memories/{was.memory}", {"expected_content_sha256": was.sha256}
        self.send("DELETE", path, MEMORY_BETA, params=expected)

    def begin_dream(self, store: str, sessions: Sequence[str], model: str, instructions: str) -> RemoteDream:
        inputs = [
            {"type": "memory_store", "memory_store_id": store},
            {"type": "sessions", "session_ids": list(sessions)},
        ]
        body = {"inputs": inputs, "model": model} | ({"instructions": instructions} if instructions else {})
        return _dream(self.send("POST", "/v1/dreams", DREAM_BETA, json=body))

    def close(self) -> None:
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    # ---- the wire ----------------------------------------------------------------------------------------------------

    def get(self, path: str, beta: str, **query: str) -> dict[str, Any]:
        return self.send("GET", path, beta, params=query)

    def _listed(self, path: str, beta: str, **query: str) -> Iterator[dict[str, Any]]:
        page, seen = "", set[str]()
        while page not in seen:
            seen.add(page)
            found = self.get(path, beta, limit=str(PAGE), **query, **({"page": page} if page else {}))
            yield from found["data"]
            page = str(found.get("next_page") or "")
            if not page:
                return
        raise NotReached(f"{self.address} gives the same page of {path} again and again.")

    def send(self, method: str, path: str, beta: str, **given: Any) -> dict[str, Any]:
        """The answer. Only what can be asked for twice without harm is tried again."""
        for left in reversed(range(TRIES)):
            try:
                answer = self._client.request(method, path, headers={"anthropic-beta": beta}, **given)
            except httpx2.HTTPError as error:
                if left and method == "GET":
                    self.wait(2.0 ** (TRIES - left - 2))
                    continue
                raise NotReached(
                    f"{self.address} cannot be reached: {error}.",
                    next_step="Check the address, and run the same again: a pull and a night go on where they stopped.",
                ) from error
            if answer.status_code in AGAIN and left and method == "GET":
                said = ((answer.headers.get(name, ""), scale) for name, scale in _WAITS.items())
                told = [float(text) * scale for text, scale in said if text.replace(".", "", 1).isdigit()]
                self.wait(min(60.0, told[0]) if told else 2.0 ** (TRIES - left - 2))
                continue
            return self._read(answer, path)
        raise AssertionError("the last try answers or raises")  # pragma: no cover

    def _read(self, answer: httpx2.Response, path: str) -> dict[str, Any]:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if answer.is_success and isinstance(told, dict) and len(answer.content) <= LARGEST:
            return told
        error = told.get("error") if isinstance(told, dict) else None
        why = str(error.get("message", "")) if isinstance(error, dict) else ""
        said = f"{self.address} answered {answer.status_code} to {path}{f': {why}' if why else ''}".rstrip(".") + "."
        match answer.status_code:
            case 401 | 403:
                raise NotPermitted(said, next_step="Check the key, and that it may read memory stores.")
            case 404:
                raise NotFound(said)
            case 400 | 409 | 413 | 422:
                raise BadInput(said)
            case _:
                raise NotReached(said, expected="an answer of Anthropic's protocol")

    @cached_property
    def _client(self) -> httpx2.Client:
        headers = {"x-api-key": self.key, "anthropic-version": VERSION, "user-agent": "reverie-bridge"}
        return httpx2.Client(base_url=self.address.rstrip("/"), headers=headers, timeout=TIMEOUT)


def _dream(row: Mapping[str, Any]) -> RemoteDream:
    inputs = {one["type"]: one for one in row["inputs"]}
    outputs = [one["memory_store_id"] for one in row.get("outputs") or ()]
    store = inputs.get("memory_store", {}).get("memory_store_id", "")
    sessions = tuple(inputs.get("sessions", {}).get("session_ids", ()))
    made = (outputs[0] if outputs else "", row.get("session_id") or "", datetime.fromisoformat(row["created_at"]))
    ended = datetime.fromisoformat(row["ended_at"]) if row.get("ended_at") else None
    return RemoteDream(row["id"], row["status"], store, sessions, *made, ended)


def _session(row: Mapping[str, Any]) -> RemoteSession:
    known = row.get("metadata") or {}
    person = row.get("reverie_user") or next((known[name] for name in _PERSON if known.get(name)), "")
    group = next((known[name] for name in _GROUP if known.get(name)), "") or (row.get("agent") or {}).get("name", "")
    return RemoteSession(row["id"], datetime.fromisoformat(row["created_at"]), person, group)
