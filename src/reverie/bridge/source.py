"""The ports of the bridge: a managed memory that is read, and the copies of it that are kept here. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


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
        ...

    def versions(self, store: str, /) -> Iterator[RemoteVersion]:
        """Newest first; nothing where a source keeps none."""
        ...

    def text(self, store: str, version: RemoteVersion, /) -> str | None: ...

    def dreams(self) -> Iterator[RemoteDream]: ...

    def heard(self, sessions: Sequence[str], /) -> Iterator[HeardSession]:
        """The words of these sessions; nothing of one that is gone, or where a source keeps none."""
        ...

    def close(self) -> None:
        """Let go of connections; it may be read again."""
        ...


class Copies(Protocol):
    """Everything pulled so far from one source. A version that was kept once is never changed."""

    def alone(self) -> AbstractContextManager[None]: ...

    def stores(self) -> list[RemoteStore]: ...

    def keep_store(self, store: RemoteStore) -> None: ...

    def versions(self, store: str) -> list[RemoteVersion]:
        """Oldest first."""
        ...

    def keep(self, store: str, kept: Iterable[tuple[RemoteVersion, str | None]]) -> None: ...

    def text(self, store: str, version: RemoteVersion) -> str | None: ...

    def dreams(self) -> list[RemoteDream]: ...

    def keep_dreams(self, dreams: Iterable[RemoteDream]) -> None: ...

    def heard(self, sessions: Iterable[str]) -> list[HeardSession]: ...

    def keep_heard(self, heard: Iterable[HeardSession]) -> None: ...

    def proposed(self) -> frozenset[str]:
        """The dreams whose differences were put into the queue, or passed over at the first pull."""
        ...

    def mark_proposed(self, dreams: Iterable[str]) -> None: ...
