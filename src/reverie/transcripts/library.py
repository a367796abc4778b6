"""`home.sessions`: bring transcripts in, list them, show them, take them out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reverie.core.errors import BadInput, NotATranscript, NotPermitted
from reverie.core.scope import Scope
from reverie.transcripts import plain_json as plain
from reverie.transcripts.add import Added, Adding, SkippedFile, Watch, os_reason
from reverie.transcripts.files.json_text import storable
from reverie.transcripts.files.limits import FileLimits
from reverie.transcripts.files.names import kept_name, path_of
from reverie.transcripts.intake import Intake, Redact, RootOf
from reverie.transcripts.readers import WHOLE_FILE, Reader, reader_named, required_reader
from reverie.transcripts.records import (
    Ended,
    EndedSessions,
    NoneEnded,
    Quarantine,
    Quarantined,
    Records,
    SessionQuery,
    Source,
    Sources,
    Stored,
)
from reverie.transcripts.session import Session, Turn


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
        run = self._run(
            user=user, reader=reader_named(reader, self.readers) if reader else None, again=again, watch=watch
        )
        if isinstance(source, Mapping):
            run.events(plain.events(_kept(source)))
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
            self._take_in(ended, added)
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

    def _take_in(self, ended: Ended, added: Added) -> None:
        """A transcript that a hook queued. It may have gone since, or be of an agent whose reader is gone."""
        path = path_of(ended.path)
        reader = next((one for one in self.readers if one.name == ended.reader), None)
        if reader is None or not path.is_file():
            why = "this queued transcript is not there any more" if reader else f"there is no reader {ended.reader!r}"
            added.flaws.append(SkippedFile(ended.path, WHOLE_FILE, why))
            return
        self._run(user=self.owner, reader=None, bring_back=False, added=added).file(path, reader)

    def _run(
        self, *, user: str | None, reader: Reader | None, readers: tuple[Reader, ...] | None = None, **how: Any
    ) -> Adding:
        # A source of the owner's may hold sessions of other people: those keep their own user.
        person = None if user == self.owner else user
        return Adding(
            self.scope,
            self.owner,
            self.records,
            self.kept_sources,
            readers or self.readers,
            lambda: Intake(self.owner, self.redact, person, self.root_of),
            self.quarantine,
            self.limits,
            person,
            reader,
            **how,
        )

    def find(self, *, user: str | None = None, wanted: SessionQuery | None = None) -> Iterator[Stored]:
        """The sessions there are, newest first."""
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


def _kept(session: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        kept: Mapping[str, Any] = storable(session)
    except ValueError as error:
        raise NotATranscript(f"The session is {error}.") from error
    return kept


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
