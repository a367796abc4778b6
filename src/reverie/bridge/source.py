"""A managed memory that is read, and the copies of it that are kept here: the ports, and the pull between them.

A pull is read-only, brings only what is new, and can be done as often as one likes. Versions are kept oldest first, a
few at a time, so that one that was killed goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from itertools import takewhile
from typing import Protocol

from reverie.core.clock import Clock, rfc3339
from reverie.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class Provenance:
    """The version in which a memory came to read as it does, who wrote it, and in which dream, where that is known."""

    store: str = ""
    version: str = ""
    author: str = ""
    dream: str = ""
    sessions: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a store at one time: its memories by path. `name` is what people call it: a folder, or a store with
    the server it is on."""

    name: str
    texts: Mapping[str, str]
    told: Callable[[str], Iterator[tuple[str, Provenance]]] = lambda _: iter(())  # of a path, newest first

    def origin_of(self, path: str, words: str) -> Provenance:
        """The version of the memory in which these words came to stand there."""
        since = takewhile(lambda one: words in one[0], self.told(path))
        return reduce(lambda _, one: one[1], since, Provenance())


@dataclass(frozen=True, slots=True)
class RemoteStore:
    id: str
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class RemoteVersion:
    """One version of a memory. `sha256` is that of the bytes on the server, None of a memory that was deleted there;
    `path` is None where what it said was redacted there. `author` is the session, key or person that wrote it."""

    id: str
    memory: str
    operation: str
    at: datetime
    path: str | None
    sha256: str | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class RemoteDream:
    """`store` is what it read, `output` what it wrote, `session` the one it ran in."""

    id: str
    status: str
    store: str
    sessions: tuple[str, ...]
    output: str
    session: str
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class RemoteSession:
    """`person` is whose words are in it, and `group` what they belong to (a project, a team, an agent), as far as the
    server says."""

    id: str
    at: datetime
    person: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class HeardSession:
    """The words of a session, turn by turn: `user`, `agent` or `tool`, and the words."""

    id: str
    person: str
    group: str
    turns: tuple[tuple[str, str], ...]


class StoreSource(Protocol):
    """A managed memory. It is never written to."""

    @property
    def address(self) -> str: ...

    def stores(self) -> Iterator[RemoteStore]: ...

    def memories(self, store: str, /) -> Iterator[RemoteVersion]:
        """The memories that stand there now, by their newest versions."""

    def versions(self, store: str, /) -> Iterator[RemoteVersion]:
        """Newest first; nothing where a source keeps none."""

    def text(self, store: str, version: RemoteVersion, /) -> str | None: ...

    def dreams(self) -> Iterator[RemoteDream]: ...

    def heard(self, sessions: Sequence[str], /) -> Iterator[HeardSession]:
        """The words of these sessions; nothing of one that is gone, or where a source keeps none."""

    def close(self) -> None:
        """Let go of connections; it may be read again."""


class Copies(Protocol):
    """Everything pulled so far from one source. A version that was kept once is never changed."""

    def alone(self) -> AbstractContextManager[None]: ...

    def stores(self) -> list[RemoteStore]: ...

    def keep_store(self, store: RemoteStore) -> None: ...

    def versions(self, store: str) -> list[RemoteVersion]:
        """Oldest first."""

    def keep(self, store: str, kept: Iterable[tuple[RemoteVersion, str | None]]) -> None: ...

    def text(self, store: str, version: RemoteVersion) -> str | None: ...

    def dreams(self) -> list[RemoteDream]: ...

    def keep_dreams(self, dreams: Iterable[RemoteDream]) -> None: ...

    def heard(self, sessions: Iterable[str]) -> list[HeardSession]: ...

    def keep_heard(self, heard: Iterable[HeardSession]) -> None: ...

    def proposed(self) -> frozenset[str]:
        """The dreams whose differences were put into the queue, or passed over at the first pull."""

    def mark_proposed(self, dreams: Iterable[str]) -> None: ...


AT_ONCE = 50  # versions that are kept together
ONE_NIGHT = timedelta(hours=12)  # within which a dream over another one's output goes on with its night


@dataclass(frozen=True, slots=True)
class Pulled:
    store: RemoteStore
    versions: int


def pull(
    source: StoreSource, copies: Copies, redact: Callable[[str], str], clock: Clock, stores: Collection[str]
) -> list[Pulled]:
    """Every store, or those named; and every dream. `redact` takes secrets out of a text before it is kept."""
    with copies.alone(), closing(source):
        found = [one for one in source.stores() if not stores or one.id in stores]
        missing = sorted(set(stores) - {one.id for one in found})
        if missing:
            raise NotFound(f"{source.address} has no memory store {missing[0]}.")
        copies.keep_dreams(source.dreams())
        # the words of the sessions of the dreams that are to be proposed
        wanted = {name for night in new_nights(copies) for dream in night for name in dream.sessions}
        unheard = sorted(wanted - {one.id for one in copies.heard(wanted)})
        for start in range(0, len(unheard), AT_ONCE):
            some = source.heard(unheard[start : start + AT_ONCE])
            copies.keep_heard(replace(one, turns=tuple((who, redact(text)) for who, text in one.turns)) for one in some)
        return [_pulled(source, copies, redact, clock, one) for one in found]


def _pulled(
    source: StoreSource, copies: Copies, redact: Callable[[str], str], clock: Clock, store: RemoteStore
) -> Pulled:
    def clean_text(version: RemoteVersion) -> str | None:
        if version.operation == "deleted" or version.path is None:
            return None
        text = source.text(store.id, version)
        return None if text is None else redact(text)

    copies.keep_store(store)
    known = copies.versions(store.id)
    seen = {one.id for one in known}
    new = [*takewhile(lambda one: one.id not in seen, source.versions(store.id))][::-1]
    # Memories that stand there and are told by no version: a source forgets old ones, or keeps none at all.
    heads = {one.memory: one for one in (*known, *new)}
    there = {one.memory: one for one in source.memories(store.id)}
    new += [one for one in there.values() if one.memory not in heads or heads[one.memory].id != one.id]
    for memory, head in heads.items():
        if memory not in there and head.operation != "deleted":
            new.append(RemoteVersion(f"{head.id}-gone", memory, "deleted", clock.now(), head.path))
    for start in range(0, len(new), AT_ONCE):
        copies.keep(store.id, [(one, clean_text(one)) for one in new[start : start + AT_ONCE]])
    return Pulled(store, len(new))


def new_nights(copies: Copies) -> list[list[RemoteDream]]:
    """The dreams that ended since the last were proposed, those of one night together: each reads what the one before
    it wrote. Of a source that is new, its last night alone."""
    done, nights = copies.proposed(), list[list[RemoteDream]]()

    def goes_on(before: RemoteDream, dream: RemoteDream) -> bool:
        return before.output == dream.store and dream.created_at - (before.ended_at or before.created_at) < ONE_NIGHT

    for dream in copies.dreams():
        if dream.status == "completed" and dream.output and dream.id not in done:
            before = next((night for night in nights if goes_on(night[-1], dream)), None)
            if before is None:
                nights.append([dream])
            else:
                before.append(dream)
    return nights if done else sorted(nights, key=lambda night: night[-1].created_at)[-1:]


def snapshot_at(copies: Copies, store: str, name: str, *, until: datetime | None = None, version: str = "") -> Snapshot:
    """The store as it stood at a time, or when a version had been written; as it was last pulled if neither is said."""
    known, dreams = copies.versions(store), copies.dreams()
    if version and version not in {one.id for one in known}:
        raise NotFound(f"{store} has no version {version} here.", next_step="`reverie bridge pull` brings in new ones.")
    heads = dict[str, RemoteVersion]()
    for one in known:
        if until is None or one.at <= until:
            heads[one.memory] = one
        if version and one.id == version:
            break
    standing = {one.path: one for one in heads.values() if one.operation != "deleted" and one.path is not None}
    texts = {path: copies.text(store, one) or "" for path, one in standing.items()}
    return Snapshot(name, texts, lambda path: _told(copies, store, standing[path], dreams))


def _told(
    copies: Copies, store: str, version: RemoteVersion, dreams: Sequence[RemoteDream]
) -> Iterator[tuple[str, Provenance]]:
    """The texts of a memory, newest first: its versions, then those of the store that the dream read which wrote
    the first of them."""

    def wrote(by: RemoteDream, one: RemoteVersion) -> bool:
        """By the session it ran in; else by the store it wrote, while it ran."""
        if by.session and one.author:
            return by.session == one.author
        return by.output == store and by.created_at <= one.at <= (by.ended_at or one.at)

    known = copies.versions(store)
    for one in reversed(known[: known.index(version) + 1]):
        if one.memory == version.memory:
            dream = next((by for by in dreams if wrote(by, one)), None)
            named = (dream.id, dream.sessions) if dream else ("", ())
            yield copies.text(store, one) or "", Provenance(store, one.id, one.author, *named, rfc3339(one.at))
    if dream is not None and dream.store != store:
        read = [one for one in copies.versions(dream.store) if one.path == version.path and one.at <= dream.created_at]
        if read:
            yield from _told(copies, dream.store, read[-1], dreams)
