"""What erasure needs of a database, of the documents agents read, and of what is derived: small ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.core.scope import Scope
from reverie.erasure.tombstones import Tombstones
from reverie.erasure.wanted import Erasure, ErasurePlace, ErasureRequest, Left, SessionName, Sought
from reverie.erasure.words import Phrase, Scrubber

Backups = Iterable[tuple[str, datetime]]


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The result of a look at the rows, without changing one. `met` are the texts as they stand there, word for word;
    `alone` are those of the sources that hold nothing but what is sought."""

    sought: Sought
    places: tuple[ErasurePlace, ...] = ()
    met: frozenset[Phrase] = frozenset()
    sources: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnfinishedErasure:
    """An erasure that is not over. Without `sought` the words are gone, and only the database is to be compacted."""

    erasure: Erasure
    scope: Scope
    sought: Sought | None = None


class Plans(Protocol):
    def begin(self, scope: Scope, erasure: Erasure, found: FoundPlaces) -> None:
        """Commit the plan and the tombstones at once: from here on nothing of it can be imported."""
        ...

    def step(self, scope: Scope, erasure: Erasure) -> None:
        """Commit how far it got. At `compact` and behind it the row has no words any more."""
        ...

    def open(self) -> list[UnfinishedErasure]:
        """Erasures that were begun and are not over, oldest first, of every workspace."""
        ...


class Rows(Protocol):
    def sought(self, scope: Scope, wanted: ErasureRequest) -> Sought:
        """Which sessions are meant. Raises NotFound where nothing is."""
        ...

    def look(self, scope: Scope, sought: Sought) -> FoundPlaces: ...

    def rows(self, scope: Scope, erasure: str, sought: Sought) -> list[ErasurePlace]:
        """Take it out of every row, in one transaction."""
        ...

    def residue(self, scope: Scope, sought: Sought) -> list[ErasurePlace]: ...

    def compact(self) -> list[Left]:
        """Leave nothing in free pages, logs and copies of the database that are ours to clear."""
        ...


class Staying(Protocol):
    def tombstones(self, scope: Scope) -> Tombstones: ...

    def met_again(self, scope: Scope, stones: Tombstones) -> list[ErasureRequest]:
        """Find here what those tombstones are of."""
        ...

    def take_over(self, scope: Scope, stones: Tombstones) -> None: ...

    def backups(self, scope: Scope) -> list[tuple[str, datetime]]: ...


class Ageing(Protocol):
    def workspaces(self) -> list[str]: ...

    def expired(self, scope: Scope, before: datetime) -> list[SessionName]:
        """Sessions that ended before."""
        ...


class ErasureRecords(Plans, Rows, Staying, Ageing, Protocol):
    """All of it. One adapter implements them."""


class Documents(Protocol):
    """The documents agents read now: memory and skills on this machine."""

    def holding(self, scrub: Scrubber) -> Iterator[ErasurePlace]: ...

    def without(self, scrub: Scrubber) -> tuple[list[ErasurePlace], list[Left]]:
        """Land each of them without it."""
        ...

    def ask_about(self, texts: Iterable[str]) -> int:
        """Propose to remove these rules; how many proposals wait now."""
        ...


class Made(Protocol):
    """The files made from the rows, on this machine: views, git, the index, and other files of the Home."""

    def alone(self) -> AbstractContextManager[None]:
        """One erasure at a time in a Home."""
        ...

    def holding(self, scope: Scope, sought: Sought) -> Iterator[ErasurePlace]: ...

    def views(self, scope: Scope, sought: Sought) -> list[ErasurePlace]: ...

    def before_rows_go(self, scope: Scope) -> None:
        """Find what could not be found any more when all rows of a person or a workspace are gone."""
        ...

    def git(self, scope: Scope) -> list[Left]: ...

    def index(self, scope: Scope) -> None: ...


class BackupCopies(Protocol):
    """Backups, and the tombstones that lie beside them."""

    def backups(self, scope: Scope, sought: Sought, known: Backups) -> Iterable[Left]: ...

    def beside_backups(self, scope: Scope, stones: Tombstones, known: Backups) -> None: ...

    def restored(self) -> list[tuple[str, Tombstones]]:
        """Tombstones that a restore found, by workspace, and that were not applied yet."""
        ...

    def restored_done(self) -> None: ...


class DerivedFiles(Made, BackupCopies, Protocol):
    """Both, of one Home."""
