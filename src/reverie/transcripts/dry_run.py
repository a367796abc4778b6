"""What would be there if everything new were brought in now. It is read, redacted and looked at, and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import cast

from reverie.core.scope import Scope
from reverie.transcripts.library import Library
from reverie.transcripts.records import (
    Ended,
    EndedSessions,
    Fate,
    Quarantine,
    Quarantined,
    Records,
    SessionQuery,
    Sources,
    Stored,
)
from reverie.transcripts.session import Head, Session, Turn, same_words

_NEVER = datetime.min.replace(tzinfo=UTC)
_Name = tuple[str, str]  # whose, and which


@dataclass(frozen=True, slots=True)
class Refreshed:
    """`library` is as it would be; `fresh` are the sessions in it that are not stored, or not as they are now."""

    library: Library
    fresh: frozenset[_Name]


def as_if_refreshed(
    library: Library, most: int, wanted: Callable[[Head], bool] = lambda _: True, *, harness: str = ""
) -> Refreshed:
    """A library with what the known sources have that is new. Of what is new it knows the words of the newest
    `most` that are wanted; of the others only that they are there."""
    records = _Overlay(library.records, most, wanted)
    sources = cast(Sources, _Unmarked(library.kept_sources))
    quarantine = cast(Quarantine, _Untouched(library.quarantine))
    ended = _StillWaiting(library.ended)
    made = replace(library, records=cast(Records, records), kept_sources=sources, quarantine=quarantine, ended=ended)
    made.refresh(harness=harness)
    return Refreshed(made, frozenset(records.fresh))


@dataclass(frozen=True, slots=True)
class _Unmarked:
    """Sources, of which none counts as read afterwards."""

    sources: Sources

    def remembered(self, scope: Scope) -> object:
        return self.sources.remembered(scope)

    def fingerprint(self, scope: Scope, path: str) -> str | None:
        return self.sources.fingerprint(scope, path)

    def keep_fingerprint(self, scope: Scope, path: str, fingerprint: str) -> None:
        """Not this time."""


@dataclass(frozen=True, slots=True)
class _StillWaiting:
    """The queue of the hooks, of which nothing is taken away."""

    ended: EndedSessions

    def waiting(self) -> list[Ended]:
        return self.ended.waiting()

    def done(self, ended: Ended) -> None:
        """Not this time."""


@dataclass(frozen=True, slots=True)
class _Untouched:
    """The quarantine, which nothing enters or leaves."""

    quarantine: Quarantine

    def held(self, scope: Scope) -> list[Quarantined]:
        return self.quarantine.held(scope)

    def put(self, scope: Scope, path: str, reader: str, fingerprint: str, why: str) -> None:
        """Not this time."""

    def release(self, scope: Scope, path: str) -> None:
        """Not this time."""


@dataclass(slots=True)
class _Overlay:
    """Records, and on top of them what was written here. All that `refresh` and an estimate ask of them."""

    records: Records
    most: int
    wanted: Callable[[Head], bool]
    fresh: dict[_Name, Stored] = field(default_factory=dict)
    turns: dict[_Name, tuple[Turn, ...]] = field(default_factory=dict)
    _order: Iterator[int] = field(default_factory=lambda: count(1 << 62))

    def known(self, scope: Scope, session_id: str) -> Stored | None:
        return self.fresh.get((scope.user or "", session_id)) or self.records.known(scope, session_id)

    def write(
        self, scope: Scope, head: Head, turns: Iterable[Turn], *, source: str | None, finish: Callable[[], Head]
    ) -> tuple[Fate, int]:
        said, old = tuple(turns), self.records.known(scope, head.id)
        before = tuple(self.records.every_turn(scope, old)) if old and not old.removed else ()
        agreed = len(said) >= len(before) and all(map(same_words, before, said))
        if before and agreed and len(said) == len(before):
            return "unchanged", 0
        fate: Fate = "new" if not before else "grown" if agreed else "rewritten"
        revision = old.revision + (fate != "grown") if old else 1
        name = (scope.user or "", head.id)
        self.fresh[name] = Stored(finish(), name[0], revision, len(said), source, next(self._order))
        self._hold(name, said)
        return fate, len(said) - len(before)

    def _hold(self, name: _Name, said: tuple[Turn, ...]) -> None:
        """The words of a few: there may be years of them."""
        if self.wanted(self.fresh[name].head):
            self.turns[name] = said
        if len(self.turns) > 2 * self.most:
            newest = sorted(self.turns, key=lambda one: _newest_first(self.fresh[one]))[: self.most]
            self.turns = {one: self.turns[one] for one in newest}

    def tidy(self, scope: Scope) -> None:
        """Not this time."""

    def find(self, scope: Scope, wanted: SessionQuery) -> Iterator[Stored]:
        stored = [one for one in self.records.find(scope, wanted) if (one.user, one.head.id) not in self.fresh]
        here = [
            one for one in self.fresh.values() if scope.user in (None, one.user) and one.head.is_since(wanted.since)
        ]
        return iter(sorted([*stored, *here], key=_newest_first))

    def read(self, scope: Scope, session_id: str, revision: int | None = None, most: int | None = None) -> Session:
        name = (scope.user or "", session_id)
        if name in self.turns:
            return Session(self.fresh[name].head, self.turns[name], self.fresh[name].revision)
        return self.records.read(scope, session_id, revision, most)


def _newest_first(one: Stored) -> tuple[float, int]:
    return -(one.head.started_at or _NEVER).timestamp(), -one.changed
