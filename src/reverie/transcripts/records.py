"""The port behind which transcripts are kept, and the values it speaks in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from reverie.core.scope import Scope
from reverie.transcripts.session import Head, Session, Turn

Fate = Literal["new", "grown", "rewritten", "unchanged", "erased before"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A session as it stands in the records. `changed` is its place in the order of all writes."""

    head: Head
    user: str
    revision: int
    turns: int
    source: str | None
    changed: int
    removed: bool = False


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Which sessions to list. None means any."""

    harness: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A path that is read again whenever new transcripts are brought in. `standard`: it is where the harness of that
    reader leaves them, and nobody had to add it."""

    path: str
    reader: str | None
    user: str
    standard: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    path: str
    reader: str


class EndedSessions(Protocol):
    """The sessions that agents' hooks queued for the next night."""

    def waiting(self) -> list[Ended]: ...

    def done(self, ended: Ended) -> None:
        """It is in the records, or never will be."""


class NoneEnded:
    """No hook queues anything here."""

    def waiting(self) -> list[Ended]:
        return []

    def done(self, ended: Ended) -> None:
        """There is none."""


class SessionBusy(Exception):
    """Someone else changed a session while it was stored. Nothing of it was kept; it can be read again."""


class Records(Protocol):
    def known(self, scope: Scope, session_id: str) -> Stored | None:
        """One session, removed or not. A scope without a user finds it if just one user has it."""

    def write(
        self, scope: Scope, head: Head, turns: Iterable[Turn], *, source: str | None, finish: Callable[[], Head]
    ) -> tuple[Fate, int]:
        """Keep a whole transcript: all of it or nothing. Returns its fate and the turns added.

        `turns` is consumed once, streaming; `finish` is asked for the final head behind the last turn. What was
        erased is not kept again: not a session (`erased before`), and not a text in any.
        """

    def read(self, scope: Scope, session_id: str, revision: int | None = None, most: int | None = None) -> Session:
        """`most`: no more of its beginning than so many characters."""

    def exchange(self, scope: Scope, session_id: str, numbers: Iterable[int]) -> tuple[Stored | None, dict[int, Turn]]:
        """The session and the named turns of its newest revision; None and nothing if it was removed."""

    def exchanges(
        self, scope: Scope, wanted: Mapping[str, Collection[int]]
    ) -> dict[str, tuple[Stored, dict[int, Turn]]]:
        """The same of several sessions of one person at once; those that are not there are left out."""

    def every_turn(self, scope: Scope, stored: Stored) -> Iterator[Turn]:
        """The turns of a session at the revision found, in order, streamed."""

    def find(self, scope: Scope, wanted: SessionQuery) -> Iterator[Stored]:
        """Newest first."""

    def changed_since(self, scope: Scope, cursor: int) -> Iterator[Stored]:
        """Every session written or removed behind `cursor`, in order of change."""

    def remove(self, scope: Scope, session_id: str) -> None:
        """Take the words out, keep a mark that it was removed."""

    def erasures(self, scope: Scope) -> int:
        """A number that grows with every erasure: what is derived has to begin again."""

    def tidy(self, scope: Scope) -> None:
        """Take out what writes that were killed left behind."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that could not be read. It is tried again when its fingerprint changes; an empty one always has."""

    path: str
    reader: str
    fingerprint: str
    why: str
    since: datetime


class Quarantine(Protocol):
    def put(self, scope: Scope, path: str, reader: str, fingerprint: str, why: str) -> None: ...

    def release(self, scope: Scope, path: str) -> None: ...

    def held(self, scope: Scope) -> list[Quarantined]: ...


class Sources(Protocol):
    def remember(self, scope: Scope, path: str, reader: str | None) -> None: ...

    def forget(self, scope: Scope, path: str) -> bool: ...

    def remembered(self, scope: Scope) -> list[Source]: ...

    def fingerprint(self, scope: Scope, path: str) -> str | None: ...

    def keep_fingerprint(self, scope: Scope, path: str, fingerprint: str) -> None: ...
