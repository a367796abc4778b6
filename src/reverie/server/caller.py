"""Who calls: the one dependency behind every route. It yields the key's Scope and what may be done in it, and holds
each key to its limits. And what the server needs of a Home, and who is woken when a session has news.

How much one key may ask for: a token bucket, and a number of calls and of streams at a time. Whether a call is admitted
is decided here, in memory. What other servers on the same database admitted is learnt a moment later (`Sharing`) and
taken out of the bucket, below zero if need be: over a second or two all of them together admit what one would. Servers
tell each other a few times a second and never while anyone waits.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Annotated
from urllib.parse import unquote

from fastapi import Header, Request, Security, params
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from reverie.app import Home
from reverie.changes.stores import StoreWrites
from reverie.core.errors import ReverieError
from reverie.core.scope import LOCAL, ApiKey, Keyring, Permission, Scope
from reverie.dreams.stores.dreaming import StoreDreaming
from reverie.erasure.library import Erasing
from reverie.memory.library import Stores
from reverie.memory.store import Author
from reverie.server.wire import Problem
from reverie.transcripts.add import Importing
from reverie.transcripts.recorded_library import Definitions, Recording

SECONDS = 0.25
FORGOTTEN = 1.0  # who did not call here for so long begins anew: what others admitted meanwhile is over
LEAVE_SECONDS = 20
_LOG = logging.getLogger("reverie.server")
DAY_SECONDS = 24 * 3600
BEARER = HTTPBearer(auto_error=False, scheme_name="bearer", description="A key of `reverie keys create`.")
HEADER = APIKeyHeader(name="x-api-key", auto_error=False, scheme_name="x-api-key", description="The same key.")


@dataclass(slots=True)
class _Bucket:
    """`untold` calls were admitted here and no other server knows of them yet."""

    workspace: str
    tokens: float
    at: float
    untold: int = 0
    running: int = 0
    watching: int = 0


@dataclass(slots=True)
class CallLimits:
    """`at_once` stays below the server's threads: no single key can take them all."""

    per_second: float = 300
    burst: int = 600
    at_once: int = 32
    streams: int = 100
    now: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def admitted(self, key: str, workspace: str = LOCAL) -> Iterator[None]:
        with self._lock:
            bucket = self._refilled(key, workspace)
            if bucket.running >= self.at_once:
                raise _later(0.1, f"{bucket.running} calls of this key are running.")
            if bucket.tokens < 1:
                raise _later((1 - bucket.tokens) / self.per_second, "This key calls too often.")
            bucket.tokens -= 1
            bucket.untold += 1
            bucket.running += 1
        try:
            yield
        finally:
            with self._lock:
                bucket.running -= 1

    @contextmanager
    def watching(self, key: str) -> Iterator[None]:
        """One more stream, until it ends."""
        with self._lock:
            bucket = self._refilled(key)
            if bucket.watching >= self.streams:
                raise _later(1, f"{bucket.watching} streams of this key are open.")
            bucket.watching += 1
        try:
            yield
        finally:
            with self._lock:
                bucket.watching -= 1

    def untold(self) -> dict[str, dict[str, int]]:
        """By workspace and key, how many calls were admitted here since this was asked last."""
        told: dict[str, dict[str, int]] = {}
        with self._lock:
            for key, bucket in self._buckets.items():
                if bucket.untold:
                    told.setdefault(bucket.workspace, {})[key] = bucket.untold
                    bucket.untold = 0
        return told

    def elsewhere(self, key: str, calls: int) -> None:
        """So many were admitted by others. Nobody has to wait for more than a full bucket."""
        with self._lock:
            bucket = self._buckets[key]
            bucket.tokens = max(-self.burst, bucket.tokens - calls)

    def _refilled(self, key: str, workspace: str = LOCAL) -> _Bucket:
        now = self.now()
        bucket = self._buckets.setdefault(key, _Bucket(workspace, self.burst, now))
        bucket.tokens = min(self.burst, bucket.tokens + (now - bucket.at) * self.per_second)
        bucket.at = now
        return bucket


def _later(seconds: float, why: str) -> Problem:
    waits = {"retry-after": str(max(1, math.ceil(seconds))), "retry-after-ms": str(max(1, math.ceil(seconds * 1000)))}
    return Problem(429, f"{why} Try again later.", headers=waits)


@dataclass(slots=True)
class Sharing:
    """`called` adds to the counts of a workspace's keys and says what they are. A server where nobody calls asks for
    nothing. `_seen` is the count of each key and when it was looked at; what came since, less our own, is others'."""

    limits: CallLimits
    called: Callable[[str, Mapping[str, int]], dict[str, int]]
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def share(self) -> None:
        for workspace, calls in self.limits.untold().items():
            for key, count in self.called(workspace, calls).items():
                now, ours = self.limits.now(), calls[key]
                before, at = self._seen.get(key, (count - ours, now))
                self._seen[key] = (count, now)
                if now - at < FORGOTTEN:
                    self.limits.elsewhere(key, count - before - ours)


@contextmanager
def every(seconds: float, work: Callable[[], object], name: str, failed: str) -> Iterator[None]:
    """While this lasts, `work` is done at once and then each so many seconds. `failed` is said where it raises."""
    over = threading.Event()

    def going_on() -> None:
        while not over.is_set():
            try:
                work()
            except (ReverieError, OSError) as error:
                _LOG.warning("%s: %s", failed, type(error).__name__)
            over.wait(seconds)

    thread = threading.Thread(target=going_on, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LEAVE_SECONDS)


class Wakeups:
    """Wakes who waits for news of a session when this process writes some. What another wrote is found by looking."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: defaultdict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = defaultdict(set)

    def wake(self, name: str) -> None:
        """From any thread."""
        with self._lock:
            for loop, event in self._waiting.get(name, ()):
                loop.call_soon_threadsafe(event.set)

    def anyone(self) -> bool:
        with self._lock:
            return bool(self._waiting)

    @contextmanager
    def waiting_for(self, name: str) -> Iterator[asyncio.Event]:
        waiting = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting[name].add(waiting)
        try:
            yield waiting[1]
        finally:
            with self._lock:
                self._waiting[name].discard(waiting)
                if not self._waiting[name]:
                    del self._waiting[name]


@dataclass(frozen=True, slots=True)
class House:
    home: Home
    wakeups: Wakeups = field(default_factory=Wakeups)

    @property
    def keys(self) -> Keyring:
        return self.home.keys

    @contextmanager
    def working(self, at_once: int = 2) -> Iterator[None]:
        """While this lasts, dreams are done here. What an earlier process left is taken up first."""
        worker = self.home.queue.server_worker(self.wakeups.wake, at_once)
        worker.start()
        try:
            yield
        finally:
            worker.stop()

    def sharing(self, limits: CallLimits) -> AbstractContextManager[None]:
        """While this lasts, the limits hold for all servers on this database together. What fails to be shared holds
        here all the same; the others miss a quarter of a second."""
        sharing = Sharing(limits, lambda workspace, calls: self.home.tenants.keys(workspace).called(calls))
        return every(SECONDS, sharing.share, "reverie-limits", "what was admitted could not be shared")

    def expiring(self) -> AbstractContextManager[None]:
        """While this lasts, transcripts older than their workspace keeps them are erased, once a day. Who starts a
        second server on the database finds nothing left to do."""
        erase = self.home.erase
        work = erase.expire if self.home.config.values["retention"].text else lambda: None
        return every(DAY_SECONDS, work, "reverie-retention", "what is older than `retention` allows was not erased")


@dataclass(frozen=True, slots=True)
class Caller:
    """`scope` ends at the key's workspace, and at the person the key is bound to or the caller asked for."""

    key: ApiKey
    scope: Scope
    house: House
    limits: CallLimits

    @property
    def stores(self) -> Stores:
        return self.house.home.tenants.stores(self.scope)

    @property
    def storing(self) -> StoreWrites:
        return self.house.home.tenants.writes(self.scope, Author("api", self.key.id), self.key.user)

    @property
    def agents(self) -> Definitions:
        return self.house.home.tenants.definitions(self.scope, "agent")

    @property
    def environments(self) -> Definitions:
        return self.house.home.tenants.definitions(self.scope, "environment")

    @property
    def recording(self) -> Recording:
        return self.house.home.tenants.recording(self.scope, self.key.user, self.house.wakeups.wake)

    @property
    def dreaming(self) -> StoreDreaming:
        return self.house.home.tenants.dreams(self.scope, self.house.wakeups.wake)

    @property
    def erasing(self) -> Erasing:
        return replace(self.house.home.erase, scope=self.scope)

    @property
    def importing(self) -> Importing:
        return self.house.home.tenants.imports(self.scope, self.key.user)


def caller(
    *,
    request: Request,
    needed: SecurityScopes,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    header: Annotated[str | None, Security(HEADER)],
    reverie_user: Annotated[str | None, Header(description="Narrow a key that is bound to nobody to one user.")] = None,
    anthropic_workspace_id: Annotated[str | None, Header(description="If sent, the key's own workspace.")] = None,
) -> Iterator[Caller]:
    house: House = request.app.state.house
    key = house.keys.admitted(bearer.credentials if bearer else header or "")
    if key is None:
        raise Problem(401, "No valid API key. Send one as `Authorization: Bearer …` or `x-api-key`.")
    request.state.key, request.state.workspace = key.id, key.workspace
    limits: CallLimits = request.app.state.limits
    with limits.admitted(key.id, key.workspace):
        if not all(key.may(Permission(wanted)) for wanted in needed.scopes):
            raise Problem(403, f"The key {key.id} lacks the scope {' and '.join(needed.scopes)}.")
        if anthropic_workspace_id not in (None, key.workspace):
            raise Problem(403, f"The key {key.id} does not belong to that workspace.")
        try:
            name = unquote(reverie_user or "", errors="strict")
        except UnicodeDecodeError as error:
            raise Problem(400, "reverie-user: its bytes are not UTF-8.") from error
        if not name.isprintable() or len(name) > 255 or not (reverie_user or "").isascii():
            raise Problem(400, "reverie-user: not a name. Percent-encode what is not ASCII.")
        if key.user and name not in ("", key.user):
            raise Problem(403, f"The key {key.id} is bound to another user.")
        yield Caller(key, Scope(key.workspace, key.user or name or None, key.id), house, limits)


Reader = Annotated[Caller, Security(caller, scopes=[Permission.READ.value])]
Writer = Annotated[Caller, Security(caller, scopes=[Permission.WRITE.value])]
Dreamer = Annotated[Caller, Security(caller, scopes=[Permission.DREAM.value])]
Reviewer = Annotated[Caller, Security(caller, scopes=[Permission.REVIEW.value])]
Administrator = Annotated[Caller, Security(caller, scopes=[Permission.ADMIN.value])]
# Admitted and then let go: who watches a session for hours does not count as a call that is running.
Watcher = Annotated[Caller, params.Security(caller, scopes=[Permission.READ.value], scope="function")]
