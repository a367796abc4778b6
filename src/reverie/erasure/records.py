"""What is to go, where it was found, and what came of it; and small ports to what holds it: a database, the documents
agents read, and what is derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Literal, Protocol

from reverie.core.errors import BadInput
from reverie.core.scope import Scope
from reverie.erasure.traces import Tombstones
from reverie.erasure.words import Phrase, Scrubber, phrase

SHORTEST_TEXT = 4
WORDS_THAT_TELL = 5
Rules = Literal["remove", "ask", "keep"]
Backups = Iterable[tuple[str, datetime]]


class ErasureKind(StrEnum):
    TEXT = "text"
    SESSION = "session"
    PERSON = "person"
    PROJECT = "project"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """`values` are texts, session ids, or one name. `user` narrows sessions to one person's. `rules` is what becomes of
    rules that rest on nothing else. `reason` is one of ours, never free text: the ledger keeps it."""

    kind: ErasureKind
    values: tuple[str, ...]
    user: str | None = None
    rules: Rules = "remove"
    reason: Literal["asked", "age", "restored"] = "asked"

    def checked(self) -> ErasureRequest:
        if not self.values or not all(self.values):
            raise BadInput(f"No {self.kind} is named.", expected=f"the {self.kind} that is to go")
        for text in self.values if self.kind is ErasureKind.TEXT else ():
            if len("".join(phrase(text))) < SHORTEST_TEXT:
                raise BadInput(
                    f"{text!r} is too short to be erased: it would stand in many places by chance.",
                    expected=f"a text of at least {SHORTEST_TEXT} letters or digits",
                )
        return self


@dataclass(frozen=True, slots=True)
class SessionName:
    user: str
    id: str


def ids_by_user(names: Iterable[SessionName]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name in names:
        grouped.setdefault(name.user, []).append(name.id)
    return grouped


@dataclass(frozen=True)
class Sought:
    """The request, worked out against what there is. `rules` are statements that go from memory, skills and stores;
    `phrases` are quotations that go from what was derived; `exact` are names that go where they stand alone."""

    wanted: ErasureRequest
    sessions: tuple[SessionName, ...] = ()
    rules: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return self.wanted.values if self.wanted.kind is ErasureKind.TEXT else ()

    @property
    def user(self) -> str | None:
        return self.wanted.values[0] if self.wanted.kind is ErasureKind.PERSON else None

    @property
    def everything(self) -> bool:
        return self.wanted.kind is ErasureKind.WORKSPACE

    @property
    def _whole_below(self) -> int:
        """“Use tabs.” is one rule, and not every rule that has these words in it."""
        return 0 if self.texts else WORDS_THAT_TELL

    @cached_property
    def of_documents(self) -> Scrubber:
        """For what memory, skills and stores say and said: rules go, a quotation in one's own hand stays."""
        return Scrubber((*self.texts, *self.rules), partial=bool(self.texts), whole_below=self._whole_below)

    @cached_property
    def of_records(self) -> Scrubber:
        """For everything that was derived."""
        texts = (*self.texts, *self.rules, *self.phrases)
        return Scrubber(texts, frozenset(self.exact), bool(self.texts), self._whole_below)

    @cached_property
    def of_transcripts(self) -> Scrubber:
        """For transcripts of others: only a text that is to go as such."""
        return Scrubber(self.texts, partial=True)

    def joined(self, other: Sought) -> Sought:
        """The results of two looks together."""
        names = ("sessions", "rules", "asked", "phrases", "exact", "sources")
        both = (tuple(dict.fromkeys((*getattr(self, name), *getattr(other, name)))) for name in names)
        return Sought(self.wanted, *both)


@dataclass(frozen=True, slots=True)
class ErasurePlace:
    """Somewhere it stands. `kind` groups places for people; `count` is rows, statements or files."""

    kind: str
    where: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Left:
    """Something erasure does not touch, and why. `failed`: it was to go, and could not."""

    where: str
    why: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Every place, before anything is done. `rules` are statements that agents obey now and that go; `asked` those a
    person will be asked about."""

    sought: Sought
    places: tuple[ErasurePlace, ...] = ()
    left: tuple[Left, ...] = ()
    scope: Scope | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        return self.sought.rules

    @property
    def empty(self) -> bool:
        return not self.places and not self.sought.sessions and not self.sought.everything


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure: under way while it has no `ended_at`. `counts` is what went, by kind; no words stand in it."""

    id: str
    kind: ErasureKind
    step: str
    begun_at: datetime
    ended_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    left: tuple[Left, ...] = ()

    def with_counts(self, more: Iterable[ErasurePlace]) -> Erasure:
        counts = dict(self.counts)
        for place in more:
            counts[place.kind] = counts.get(place.kind, 0) + place.count
        return replace(self, counts=counts)


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


class ErasureRecords(Protocol):
    """Erasures, all rows, what stays of them, and how old sessions are. One adapter implements it."""

    def begin(self, scope: Scope, erasure: Erasure, found: FoundPlaces) -> None:
        """Commit the plan and the tombstones at once: from here on nothing of it can be imported."""

    def step(self, scope: Scope, erasure: Erasure) -> None:
        """Commit how far it got. At `compact` and behind it the row has no words any more."""

    def open(self) -> list[UnfinishedErasure]:
        """Erasures that were begun and are not over, oldest first, of every workspace."""

    def sought(self, scope: Scope, wanted: ErasureRequest) -> Sought:
        """Which sessions are meant. Raises NotFound where nothing is."""

    def look(self, scope: Scope, sought: Sought) -> FoundPlaces: ...

    def rows(self, scope: Scope, erasure: str, sought: Sought) -> list[ErasurePlace]:
        """Take it out of every row, in one transaction."""

    def residue(self, scope: Scope, sought: Sought) -> list[ErasurePlace]: ...

    def compact(self) -> list[Left]:
        """Leave nothing in free pages, logs and copies of the database that are ours to clear."""

    def tombstones(self, scope: Scope) -> Tombstones: ...

    def met_again(self, scope: Scope, stones: Tombstones) -> list[ErasureRequest]:
        """Find here what those tombstones are of."""

    def take_over(self, scope: Scope, stones: Tombstones) -> None: ...

    def backups(self, scope: Scope) -> list[tuple[str, datetime]]: ...

    def workspaces(self) -> list[str]: ...

    def expired(self, scope: Scope, before: datetime) -> list[SessionName]:
        """Sessions that ended before."""


class Documents(Protocol):
    """The documents agents read now: memory and skills on this machine."""

    def holding(self, scrub: Scrubber) -> Iterator[ErasurePlace]: ...

    def without(self, scrub: Scrubber) -> tuple[list[ErasurePlace], list[Left]]:
        """Land each of them without it."""

    def ask_about(self, texts: Iterable[str]) -> int:
        """Propose to remove these rules; how many proposals wait now."""


class DerivedFiles(Protocol):
    """The files made from the rows, on this machine: views, git, the index, and other files of the Home; backups, and
    the tombstones that lie beside them."""

    def alone(self) -> AbstractContextManager[None]:
        """One erasure at a time in a Home."""

    def holding(self, scope: Scope, sought: Sought) -> Iterator[ErasurePlace]: ...

    def views(self, scope: Scope, sought: Sought) -> list[ErasurePlace]: ...

    def before_rows_go(self, scope: Scope) -> None:
        """Find what could not be found any more when all rows of a person or a workspace are gone."""

    def git(self, scope: Scope) -> list[Left]: ...

    def index(self, scope: Scope) -> None: ...

    def backups(self, scope: Scope, sought: Sought, known: Backups) -> Iterable[Left]: ...

    def beside_backups(self, scope: Scope, stones: Tombstones, known: Backups) -> None: ...

    def restored(self) -> list[tuple[str, Tombstones]]:
        """Tombstones that a restore found, by workspace, and that were not applied yet."""

    def restored_done(self) -> None: ...
