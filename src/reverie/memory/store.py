"""A memory store: a named set of memories at paths, with a version for every change; the ports behind it; and what a
store, a path and a memory may be. The limits are Anthropic's.

One document of a target is one memory; the row is the truth. A memory keeps its id when it is renamed; versions stay
when it is deleted, and go with the store. Every port method takes the Scope whose rows it may touch; its `user` None is
every user of the workspace.

A listing is a subtree, or one folder with what is below it rolled up. Paths come sorted by their bytes; a position is
the last path that was given out, so that a page begins behind it whatever was written meanwhile.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput
from reverie.core.scope import Scope

Operation = Literal["created", "modified", "deleted"]
Hand = Literal["api", "session", "user", "service_account"]
LONGEST_NAME = 255
LONGEST_DESCRIPTION = 1_024
MOST_METADATA = 16
LONGEST_KEY = 64
LONGEST_VALUE = 512
LONGEST_PATH_BYTES = 1_024
DEEPEST_PATH = 20
LARGEST_MEMORY_BYTES = 102_400
MOST_MEMORIES = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
ROOT = "/"


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
class PageDates:
    """How old the statements of a memory are that a dream has written to: those in `said`, by their hashes, as old as
    the words they rest on; the others as old as the memory was before, in its present wording since `since` if that is
    known, and at least since `seen`."""

    since: datetime | None
    seen: datetime
    said: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """`content` is None where it was not asked for. `dates` is None where no dream has written since a program did."""

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
    dates: PageDates | None = None

    @property
    def age(self) -> PageDates:
        """One that was never rewritten may be older than its row."""
        rewritten = self.updated_at if self.updated_at != self.created_at else None
        return self.dates or PageDates(rewritten, self.updated_at)


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


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The writer, the findings in the text, and which path becomes which without losing its memory's id.

    `each` is what the scan said of the text of one path, where several are written; `dates` are those of a path's
    statements, where they are not as old as the write.
    """

    author: Author
    flags: tuple[Flag, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, tuple[Flag, ...]] = field(default_factory=dict)
    dates: Mapping[str, PageDates] = field(default_factory=dict)

    def flags_at(self, path: str) -> tuple[Flag, ...]:
        return self.each.get(path, self.flags)


@dataclass(frozen=True, slots=True)
class Below:
    """Which memories: those below a prefix, and with `depth` 1 what is further down rolled up."""

    prefix: str
    depth: int


class StoreRecords(Protocol):
    def add(self, scope: Scope, store: Store) -> None: ...

    def change(self, scope: Scope, store: str, change: Callable[[Store], Store], done: str) -> Store | None:
        """Change what is said of it in one transaction, with the ledger's row. The same is no change."""

    def store(self, scope: Scope, store: str) -> Store | None: ...

    def stores(self, scope: Scope, made: TimeSpan, *, archived: bool, after: str | None, limit: int) -> list[Store]:
        """Newest first, behind the store with the id `after`."""

    def delete(self, scope: Scope, store: str) -> None:
        """Take it away with its memories, its versions and every text its history holds. The ledger stays."""

    def memory(self, scope: Scope, store: str, memory: str, *, full: bool) -> StoredMemory | None: ...

    def at(self, scope: Scope, store: str, path: str) -> StoredMemory | None: ...

    def memories(
        self, scope: Scope, store: str, below: Below, after: str | None, *, limit: int, full: bool
    ) -> list[StoredMemory | Prefix]: ...

    def in_the_way(self, scope: Scope, store: str, path: str, but: str | None) -> StoredMemory | None:
        """A memory at this path, above it or below it, other than the one named."""

    def version(self, scope: Scope, store: str, version: str, *, full: bool) -> MemoryVersion | None: ...

    def versions(
        self, scope: Scope, store: str, chosen: VersionQuery, after: int | None, limit: int, *, full: bool
    ) -> list[MemoryVersion]:
        """Newest first, behind the version with the number `after`."""

    def redact(self, scope: Scope, version: MemoryVersion, by: Author, at: datetime) -> None:
        """Take its text and path away, out of history too wherever nothing else needs it."""


def checked_store_name(name: str) -> str:
    _text("name", name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadInput(f"name: {len(name)} characters.", expected=f"1 to {LONGEST_NAME} characters")
    if any(unicodedata.category(char) == "Cc" for char in name):
        raise BadInput("name: it holds a control character.", expected="a name on one line")
    return name


def checked_description(description: str) -> str:
    _text("description", description)
    if len(description) > LONGEST_DESCRIPTION:
        raise BadInput(f"description: {len(description)} characters.", expected=f"at most {LONGEST_DESCRIPTION}")
    return description


def merged_metadata(old: Mapping[str, str], patch: Mapping[str, str | None]) -> dict[str, str]:
    """The old pairs with the patch laid over them: None takes a key away."""
    merged = {key: value for key, value in {**old, **patch}.items() if value is not None}
    if len(merged) > MOST_METADATA:
        raise BadInput(f"metadata: {len(merged)} pairs.", expected=f"at most {MOST_METADATA}")
    for key, value in merged.items():
        _text("metadata", key + value)
        if not 1 <= len(key) <= LONGEST_KEY:
            raise BadInput(f"metadata: a key of {len(key)} characters.", expected=f"1 to {LONGEST_KEY} characters")
        if len(value) > LONGEST_VALUE:
            raise BadInput(f"metadata: a value of {len(value)} characters.", expected=f"at most {LONGEST_VALUE}")
    return merged


def checked_path(path: str) -> str:
    """Exactly one way to write a path, so that two never mean the same memory."""
    segments = path.split("/")[1:]
    wrong = ""
    if not path.startswith("/"):
        wrong = "it does not start with '/'"
    elif any(segment in ("", ".", "..") for segment in segments):
        wrong = "a segment is empty, '.' or '..'"
    elif len(segments) > DEEPEST_PATH:
        wrong = f"it has {len(segments)} segments"
    elif any(unicodedata.category(char) in _UNSEEN for char in path):
        wrong = "it holds a control or format character"
    elif not unicodedata.is_normalized("NFC", path):
        wrong = "it is not in Unicode Normalization Form C"
    elif len(path.encode()) > LONGEST_PATH_BYTES:
        wrong = f"it has {len(path.encode())} bytes"
    if wrong:
        raise BadInput(
            f"path: {wrong}.",
            expected=f"/like/this.md, with 1 to {DEEPEST_PATH} segments and at most {LONGEST_PATH_BYTES:,} bytes",
        )
    return path


def checked_content(content: str) -> bytes:
    """The exact bytes: nothing is normalized, so that everyone computes the same hash."""
    raw = _text("content", content)
    if len(raw) > LARGEST_MEMORY_BYTES:
        raise BadInput(f"content: {len(raw):,} bytes.", expected=f"at most {LARGEST_MEMORY_BYTES:,} bytes of UTF-8")
    return raw


def checked_sha256(name: str, value: str) -> str:
    if not _SHA256.fullmatch(value):
        raise BadInput(f"{name}: not a SHA-256.", expected="64 lowercase hexadecimal characters")
    return value


def outdated(memory: StoredMemory, expected: str | None, wanted: tuple[str, str] | None = None) -> Outdated | None:
    """Whether the writer's belief is out of date. Who wants what is there already, path and hash, is never wrong."""
    if expected in (None, memory.sha256) or wanted == (memory.path, memory.sha256):
        return None
    return Outdated(expected or "", memory.sha256)


def above(path: str) -> list[str]:
    """The folders a path stands in: none of them can be a memory."""
    parts = path.split("/")
    return ["/".join(parts[:upto]) for upto in range(2, len(parts))]


def _text(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{name}: it holds half of a surrogate pair.", expected="text that UTF-8 can hold") from error


def checked_prefix(prefix: str | None) -> str:
    if prefix in (None, "", ROOT):
        return ROOT
    if not str(prefix).endswith("/"):
        raise BadInput("path_prefix: it does not end with '/'.", expected="whole segments, such as /notes/")
    return f"{checked_path(str(prefix)[:-1])}/"


def checked_depth(depth: int | None) -> int:
    if depth not in (None, 0, 1):
        raise BadInput(f"depth: {depth}.", expected="0 for everything below the prefix, 1 for its direct children")
    return depth or 0


def end_of_prefix(prefix: str) -> str:
    """The first text that sorts behind everything below a prefix."""
    return prefix[:-1] + chr(ord("/") + 1)


def rolled_up(paths: Iterable[str], prefix: str, limit: int) -> list[str]:
    """The next direct children below a prefix, at most so many: paths of memories, and folders that end with '/'."""
    found: list[str] = []
    for path in paths:
        child, slash, _ = path[len(prefix) :].partition("/")
        shown = f"{prefix}{child}{slash}"
        if found and found[-1] == shown:
            continue
        if len(found) == limit:
            break
        found.append(shown)
    return found
