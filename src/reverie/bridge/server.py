"""What a server is asked to do: a night that is bigger than one dream, and documents that are pushed into a store.

A night's sessions go in batches, each dreamt over what the last one wrote. What is to be done is written down before it
is begun, so that a night that was killed goes on where it stopped: a dream that was begun and not written down is found
on the server by what it reads.

What was approved here is pushed as documents at paths that stay the same, below `/reverie/`, and nothing outside of
that is touched. What stands there already is not written again: after a push, a push does nothing, and a pull brings
nothing that is new here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reverie.bridge.source import RemoteDream, RemoteSession, RemoteVersion
from reverie.core.clock import Clock
from reverie.core.errors import BadInput
from reverie.core.ids import sha256
from reverie.safety.redact import redact
from reverie.safety.scan import scan

# ---- a night of many sessions ----------------------------------------------------------------------------------------

MOST_SESSIONS = 100  # that one dream reads, by the protocol
OVER = ("completed", "failed", "canceled")
POLL_SECONDS = 2.0


class DreamServer(Protocol):
    @property
    def address(self) -> str: ...

    def sessions(self, store: str, since: datetime | None, /) -> Iterator[RemoteSession]: ...

    def dreams(self) -> Iterator[RemoteDream]: ...

    def dream(self, name: str, /) -> RemoteDream: ...

    def begin_dream(self, store: str, sessions: Sequence[str], model: str, instructions: str, /) -> RemoteDream: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Link:
    """One dream of a night; `output` is there once it is completed."""

    sessions: tuple[str, ...]
    dream: str = ""
    status: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class BridgeNight:
    """`until` is when the last of its sessions was made: what is newer is for the next night."""

    store: str
    began: datetime
    until: datetime
    links: tuple[Link, ...]

    @property
    def done(self) -> bool:
        return all(one.output for one in self.links)

    @property
    def output(self) -> str:
        """The last store that is complete."""
        return next((one.output for one in reversed(self.links) if one.output), "")

    @property
    def dreamt(self) -> int:
        return sum(len(one.sessions) for one in self.links if one.output)

    @property
    def sessions(self) -> int:
        return sum(len(one.sessions) for one in self.links)


class BridgeNights(Protocol):
    def alone_with(self, store: str) -> AbstractContextManager[None]: ...

    def night(self, store: str) -> BridgeNight | None: ...

    def keep_night(self, night: BridgeNight) -> None: ...


@dataclass(frozen=True, slots=True)
class TooFew:
    """Nothing was begun: so many sessions are new, of those that were to be waited for."""

    new: int
    wanted: int


@dataclass(frozen=True, slots=True)
class DreamNight:
    server: DreamServer
    nights: BridgeNights
    clock: Clock
    wait: Callable[[float], None]

    def __call__(self, store: str, model: str, instructions: str = "", after: int = 1) -> BridgeNight | TooFew:
        """All that is new; once there are `after` new sessions. A night that was broken off is gone on with first."""
        with self.nights.alone_with(store), closing(self.server):
            last = self.nights.night(store)
            if last is None or last.done:
                known = {name for link in last.links for name in link.sessions} if last else set[str]()
                since = self.server.sessions(store, last.until if last else None)
                new = [one for one in since if one.id not in known]
                if len(new) < max(1, after):
                    return TooFew(len(new), max(1, after))
                ids = [one.id for one in new]
                links = [Link(tuple(ids[start : start + MOST_SESSIONS])) for start in range(0, len(ids), MOST_SESSIONS)]
                last = BridgeNight(store, self.clock.now(), max(one.at for one in new), tuple(links))
                self.nights.keep_night(last)
            for at in range(len(last.links)):
                last = self._dreamt(last, at, model, instructions)
                if not last.links[at].output:
                    break
            return last

    def _dreamt(self, night: BridgeNight, at: int, model: str, instructions: str) -> BridgeNight:
        link = night.links[at]
        if link.output:
            return night
        store = night.links[at - 1].output if at else night.store
        dream = self.server.dream(link.dream) if link.dream else None
        if dream is None or dream.status in ("failed", "canceled"):
            # One that reads just this and did not fail: the night was killed before it was written down.
            wanted = sorted(link.sessions)
            same = (one for one in self.server.dreams() if one.store == store and sorted(one.sessions) == wanted)
            dream = next((one for one in same if one.status not in ("failed", "canceled")), None)
            dream = dream or self.server.begin_dream(store, link.sessions, model, instructions)
        night = self._kept(night, at, dream)
        while dream.status not in OVER:
            self.wait(POLL_SECONDS)
            dream = self.server.dream(dream.id)
        return self._kept(night, at, dream)

    def _kept(self, night: BridgeNight, at: int, dream: RemoteDream) -> BridgeNight:
        output = dream.output if dream.status == "completed" else ""
        link = Link(night.links[at].sessions, dream.id, dream.status, output)
        night = replace(night, links=(*night.links[:at], link, *night.links[at + 1 :]))
        self.nights.keep_night(night)
        return night


# ---- documents that are pushed ---------------------------------------------------------------------------------------

ROOT = "/reverie/"
LARGEST = 102_400  # bytes of one memory, by the protocol


class StoreWriter(Protocol):
    """A memory store that can be written. Each write names what it expects to find, so nothing is written over."""

    def standing(self, store: str, below: str, /) -> list[RemoteVersion]: ...

    def put(self, store: str, path: str, content: str, was: RemoteVersion | None, /) -> None: ...

    def remove(self, store: str, was: RemoteVersion, /) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Pushed:
    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    kept_back: tuple[tuple[str, str], ...]  # path, and why it is not sent


def push(writer: StoreWriter, store: str, documents: Mapping[str, str]) -> Pushed:
    """Make what stands below `/reverie/` the same as these documents, by their paths below it."""
    if not documents:
        raise BadInput("There is nothing to push.", expected="a skill or an entry of memory")
    wanted = {f"{ROOT}{path}": text for path, text in documents.items()}
    kept_back = dict[str, str]()
    for path, text in wanted.items():
        if redact(text).found:
            kept_back[path] = "it holds a secret"
        elif len(text.encode("utf-8", "surrogateescape")) > LARGEST:
            kept_back[path] = f"it is longer than {LARGEST:,} bytes"
        elif scan(text, "skill").blocked:
            kept_back[path] = "the safety scan would keep it out"
    there = {one.path or "": one for one in writer.standing(store, ROOT)}
    hashes = {path: sha256(text.encode("utf-8", "surrogateescape")) for path, text in wanted.items()}
    written = [
        path
        for path, hashed in hashes.items()
        if path not in kept_back and (path not in there or there[path].sha256 != hashed)
    ]
    removed = [path for path in there if path not in wanted]
    for path in written:
        writer.put(store, path, wanted[path], there.get(path))
    for path in removed:
        writer.remove(store, there[path])
    unchanged = len(wanted) - len(written) - len(kept_back)
    return Pushed(tuple(written), tuple(removed), unchanged, tuple(kept_back.items()))
