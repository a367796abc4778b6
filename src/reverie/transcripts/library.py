"""`home.sessions`: bring transcripts in, list them, show them, take them out.

`as_if_refreshed` is a dry run: what would be there if everything new were brought in now. It is read, redacted and
looked at, and kept nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

from reverie.core.errors import BadInput, NotATranscript, NotPermitted
from reverie.core.scope import Scope
from reverie.transcripts.add import Added, Adding, SkippedFile, Watch, os_reason
from reverie.transcripts.files import FileLimits, kept_name, path_of
from reverie.transcripts.json_streams import storable
from reverie.transcripts.messages import plain_events
from reverie.transcripts.readers import WHOLE_FILE, Intake, Reader, Redact, RootOf, reader_named, required_reader
from reverie.transcripts.records import (
    Ended,
    EndedSessions,
    Fate,
    NoneEnded,
    Quarantine,
    Quarantined,
    Records,
    SessionQuery,
    Source,
    Sources,
    Stored,
)
from reverie.transcripts.session import Head, Session, Turn, same_words


@dataclass(frozen=True, slots=True)
class Library:
    """`standard` are the places where harnesses leave their transcripts on this machine."""

    scope: Scope
    owner: str
    records: Records
    kept_sources: Sources
    readers: tuple[Reader, ...]
    redact: Redact
    quarantine: Quarantine
    limits: FileLimits = field(default_factory=FileLimits)
    root_of: RootOf = str
    standard: Callable[[], Iterable[Source]] = lambda: ()
    ended: EndedSessions = field(default_factory=NoneEnded)

    def add(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        user: str | None = None,
        reader: str | None = None,
        remember: bool = True,
        again: bool = False,
        watch: Watch | None = None,
    ) -> Added:
        """Bring in a session dict, a file or a folder. Twice is once; what grew adds what is new.

        A path is remembered as a source that `refresh` reads again, unless told not to; `again` reads files that
        look unchanged, too.
        """
        chosen = reader_named(reader, self.readers) if reader else None
        run = self._run(user=user, reader=chosen, again=again, watch=watch)
        if isinstance(source, Mapping):
            try:
                kept: Mapping[str, Any] = storable(source)
            except ValueError as error:
                raise NotATranscript(f"The session is {error}.") from error
            run.events(plain_events(kept))
            return run.added
        path = _existing(source)
        if path.is_file():
            run.file(path, run.reader or required_reader(path, self.readers))
        else:
            run.folder(path)
        if remember:
            self.kept_sources.remember(self.scope.of(user or self.owner), kept_name(path), reader)
        return run.added

    def refresh(self, *, harness: str = "", watch: Watch | None = None) -> Added:
        """Bring in what is new from every known source. What was removed by hand stays removed.

        Of the standard places only those of `harness` are read, if one is named.
        """
        added = Added()
        self.records.tidy(self.scope)
        for ended in self.ended.waiting():
            # A transcript that a hook queued. It may have gone since, or be of an agent whose reader is gone.
            path = path_of(ended.path)
            reader = next((one for one in self.readers if one.name == ended.reader), None)
            if reader is not None and path.is_file():
                self._run(user=self.owner, reader=None, bring_back=False, added=added).file(path, reader)
            else:
                gone = "this queued transcript is not there any more"
                why = gone if reader else f"there is no reader {ended.reader!r}"
                added.flaws.append(SkippedFile(ended.path, WHOLE_FILE, why))
            self.ended.done(ended)
        sources = self.sources()
        remembered = [path_of(source.path) for source in sources if not source.standard]
        for source in sources:
            path, chosen = path_of(source.path), reader_named(source.reader, self.readers) if source.reader else None
            how: dict[str, Any] = {"user": source.user, "bring_back": False, "watch": watch, "added": added}
            if source.standard:
                if chosen is not None and harness in ("", chosen.name):  # whatever else lies there is not looked into
                    self._run(reader=None, readers=(chosen,), **how).folder(path, without=remembered)
            elif path.exists():
                self._run(reader=chosen, **how).folder(path)
            else:
                added.flaws.append(SkippedFile(source.path, WHOLE_FILE, "this remembered source is not there any more"))
        return added

    def _run(
        self, *, user: str | None, reader: Reader | None, readers: tuple[Reader, ...] | None = None, **how: Any
    ) -> Adding:
        # A source of the owner's may hold sessions of other people: those keep their own user.
        person = None if user == self.owner else user
        kept = (self.records, self.kept_sources, readers or self.readers)
        intake = partial(Intake, self.owner, self.redact, person, self.root_of)
        return Adding(self.scope, self.owner, *kept, intake, self.quarantine, self.limits, person, reader, **how)

    def find(self, *, user: str | None = None, wanted: SessionQuery | None = None) -> Iterator[Stored]:
        return self.records.find(self._narrowed(user), wanted or SessionQuery())

    def get(
        self, session_id: str, *, user: str | None = None, revision: int | None = None, most: int | None = None
    ) -> Session:
        """`most`: no more of its beginning than so many characters."""
        return self.records.read(self._narrowed(user), session_id, revision, most)

    def turns(
        self, session_id: str, numbers: Iterable[int], *, user: str | None = None
    ) -> tuple[Stored | None, dict[int, Turn]]:
        """A session and some of its turns by their numbers; None and nothing if it is not there, or not any more. Where
        no user is named it is the owner's, or else that of the one person who has it."""
        wanted = list(numbers)
        found = self.records.exchange(self.scope.of(self.owner if user is None else user), session_id, wanted)
        return found if found[0] or user is not None else self.records.exchange(self.scope, session_id, wanted)

    def exchanges(self, wanted: Mapping[str, Collection[int]]) -> dict[str, tuple[Stored | None, dict[int, Turn]]]:
        """`turns` of several sessions at once."""
        own = self.records.exchanges(self.scope.of(self.owner), wanted)
        return {name: own.get(name) or self.turns(name, numbers) for name, numbers in wanted.items()}

    def remove(self, session_id: str, *, user: str | None = None) -> None:
        self.records.remove(self._narrowed(user), session_id)

    def sources(self) -> list[Source]:
        """The paths that were added, then the standard places that were not."""
        remembered = self.kept_sources.remembered(self.scope)
        added = {source.path for source in remembered}
        return [*remembered, *(source for source in self.standard() if source.path not in added)]

    def quarantined(self) -> list[Quarantined]:
        """The files that could not be read, and why. They are tried again when they change."""
        return [one for one in self.quarantine.held(self.scope) if path_of(one.path).exists()]

    def forget(self, path: str | os.PathLike[str]) -> None:
        """Stop reading a source. What it brought stays."""
        wanted = kept_name(Path(path).expanduser().absolute())
        found = [source for source in self.sources() if source.path == wanted]
        if any(source.standard for source in found):
            raise BadInput(
                f"{wanted} was not added: it is where {found[0].reader} keeps its transcripts.",
                next_step='`sources = "added"` in reverie.toml reads only what was added.',
            )
        users = [source.user for source in found]
        if not users:
            raise BadInput(f"{wanted} is not a remembered source.", next_step="See `reverie sessions sources`.")
        for user in users:
            self.kept_sources.forget(self.scope.of(user), wanted)

    def _narrowed(self, user: str | None) -> Scope:
        return self.scope if user is None else self.scope.of(user)


def _existing(source: str | os.PathLike[str]) -> Path:
    path = Path(source).expanduser().absolute()
    try:
        path.stat()
    except FileNotFoundError as error:
        raise BadInput(
            f"{path} does not exist.",
            expected="a transcript file or a folder of them",
            next_step="`reverie sessions add --all` finds the folders of the harnesses you use.",
        ) from error
    except OSError as error:
        raise NotPermitted(f"{path} cannot be looked at: {os_reason(error)}.") from error
    return path


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
    same = cast(Any, _Unchanged(library.kept_sources, library.quarantine, library.ended))
    made = replace(library, records=cast(Records, records), kept_sources=same, quarantine=same, ended=same)
    made.refresh(harness=harness)
    return Refreshed(made, frozenset(records.fresh))


@dataclass(frozen=True, slots=True)
class _Unchanged:
    """The sources, the quarantine and the queue of the hooks: read, and this time nothing is noted in them."""

    sources: Sources
    quarantine: Quarantine
    ended: EndedSessions

    def remembered(self, scope: Scope) -> list[Source]:
        return self.sources.remembered(scope)

    def fingerprint(self, scope: Scope, path: str) -> str | None:
        return self.sources.fingerprint(scope, path)

    def held(self, scope: Scope) -> list[Quarantined]:
        return self.quarantine.held(scope)

    def waiting(self) -> list[Ended]:
        return self.ended.waiting()

    def _not_this_time(self, *_: object) -> None:
        """It would note that something was read, put away, released or done."""

    keep_fingerprint = put = release = done = _not_this_time


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
