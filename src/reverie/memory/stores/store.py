"""A memory store: a named set of memories at paths, with a version for every change. Values only.

One document of a target is one memory; the row is the truth. A memory keeps its id when it is renamed; versions stay
when it is deleted, and go with the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from reverie.core.clock import TimeSpan

Operation = Literal["created", "modified", "deleted"]
Hand = Literal["api", "session", "user", "service_account"]


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a version, or of its redaction: a key, a session, a person."""

    hand: Hand
    id: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A finding of a scan in a memory's text, without repeating any of it."""

    category: str
    severity: str


@dataclass(frozen=True, slots=True)
class Store:
    """`user` is whose memory it is, '' the workspace's own. `held` counts its memories, `written` its versions."""

    id: str
    user: str
    name: str
    description: str
    metadata: Mapping[str, str]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    held: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """`content` is None where it was not asked for."""

    id: str
    store: str
    path: str
    sha256: str
    size: int
    version: str
    created_at: datetime
    updated_at: datetime
    flags: tuple[Flag, ...] = ()
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A memory after one change. It never alters, except by redaction: then its text is gone."""

    id: str
    number: int
    store: str
    memory: str
    operation: Operation
    created_at: datetime
    author: Author
    change: str | None = None
    path: str | None = None
    sha256: str | None = None
    size: int | None = None
    flags: tuple[Flag, ...] = ()
    redacted_at: datetime | None = None
    redacted_by: Author | None = None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Prefix:
    """Stands for all memories whose paths begin with it."""

    path: str


@dataclass(frozen=True, slots=True)
class VersionQuery:
    """Which versions: all that are set must fit."""

    memory: str | None = None
    operation: Operation | None = None
    author: tuple[Author, ...] = ()
    made: TimeSpan = field(default_factory=TimeSpan)


# ---- what can come of wanting to change a memory -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PathTaken:
    """Another memory is there, or in the way: a folder cannot be a file. Nothing was changed."""

    memory: str
    path: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """The memory does not say what the writer believed it says. Nothing was changed."""

    expected: str
    found: str


Refused = PathTaken | Outdated
