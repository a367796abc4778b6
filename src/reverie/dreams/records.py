"""What a night needs of a database: what earlier nights left, the rows of one under way, and who may write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypedDict

from reverie.changes.proposal import Suggestion
from reverie.core.errors import StillLocked
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Judged, Read, Status
from reverie.dreams.light.candidate import Noted
from reverie.llm.budget import Call, Spent
from reverie.llm.settings import BUILT_IN

LEASE = timedelta(minutes=15)  # longer than any one step takes; each step renews what is used up of it
OVER = (Status.COMPLETED, Status.FAILED, Status.CANCELED)


class Overtaken(StillLocked):
    """Someone else has taken this night over. What was about to be written was not."""


class Stopped(Exception):
    """The night is over already: it was canceled, or someone else has finished it."""


@dataclass(frozen=True, slots=True)
class Used:
    """The changes and proposals of a run so far, as its limits count them."""

    changes: int = 0
    adds: int = 0
    new_chars: int = 0
    proposals: int = 0


class SessionFilter(TypedDict, total=False):
    """Which sessions a night reads: those `since` a time, of one `user`, `everything` there is; at most `limit`."""

    since: datetime | None
    limit: int | None
    user: str | None
    everything: bool


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """Which sessions a dream is to read; of one user, or of all. `queued`: a worker is to do it, and nobody else begins
    it.

    A run over a target is one dream after another, `limit` sessions each, unless `once`. `everything`: also what the
    first run left out. `earlier` are the dreams of the same run whose sessions are not to be read again; `used` is
    what that run has done of what its limits allow. `run` names the run, over one target or all of them: what models
    may take in a night is for all its dreams together. Empty: it is named by this dream.
    """

    names: tuple[str, ...] | None = None
    since: datetime | None = None
    limit: int = 14
    queued: bool = False
    user: str | None = None
    everything: bool = False
    once: bool = False
    earlier: tuple[str, ...] = ()
    used: Used = Used()
    run: str = ""

    @property
    def partial(self) -> bool:
        """Named sessions, a few, or one person's: nothing is decided about the others."""
        return self.once or self.names is not None or self.user is not None


@dataclass(frozen=True, slots=True)
class Queued:
    """A night that waits for a worker. `taken` is the token of who had it before and has not been heard of since."""

    workspace: str
    user: str
    dream: str
    target: str
    taken: int = 0

    @property
    def name(self) -> str:
        """Another one each time it has to be handed out again."""
        return f"{self.dream}:{self.taken}" if self.taken else self.dream


@dataclass(frozen=True, slots=True)
class Lease:
    """Whoever has the newest token of a target may write its night. `attempts`: how often this night was taken up
    since it last got on. `run`: which run it belongs to."""

    scope: Scope
    dream: str
    target: str
    token: int
    attempts: int = 1
    run: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """One matter as it was thought over. With a suggestion: it is to be put to review, unless `done`."""

    judged: Judged
    suggestion: Suggestion | None = None
    asks: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A model's part in a step: what was dropped, by reason; the cap that was reached."""

    dropped: Mapping[str, int] = field(default_factory=dict)
    enough: str = ""


@dataclass(frozen=True, slots=True)
class Thought:
    """The result of thinking: the plan, and which candidates stay staged or need no second look. `extra` is what a
    curator saw and Light did not; `reduced` tells what the Brief left out; `curator` is who decided."""

    noticed: int = 0
    carried: int = 0
    themes: int = 0
    planned: tuple[Planned, ...] = ()
    staged: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    told: ModelReport = field(default_factory=ModelReport)
    duplicates: int = 0
    extra: tuple[Noted, ...] = ()
    reduced: tuple[str, ...] = ()
    curator: str = BUILT_IN


class EarlierNights(Protocol):
    """The records of earlier nights."""

    def read(self, scope: Scope, target: str, *, left_out: bool = True) -> Iterable[Read]:
        """Every session dreamt about for a target, as far as it was read; with those that its first run left out."""
        ...

    def begun(self, scope: Scope, target: str) -> bool:
        """Whether a run has chosen from all sessions for a target, and not only named ones, a few or one person's."""
        ...

    def staged(self, scope: Scope, target: str) -> list[Noted]:
        """The candidates earlier nights noticed and did not use, oldest first."""
        ...

    def staged_since(self, scope: Scope, target: str) -> Mapping[str, datetime]:
        """When the night began that staged each of them, by its id."""
        ...

    def confirmed(self, scope: Scope, target: str) -> Mapping[str, int]:
        """In how many sessions the last nights heard again what an entry says, by its text."""
        ...

    def find(self, scope: Scope, target: str | None = None, limit: int = 10) -> list[Dream]:
        """Newest first."""
        ...

    def get(self, scope: Scope, dream: str) -> Dream | None: ...

    def targets(self, scope: Scope) -> list[str]:
        """Those of this home that have had a night, each place once, by the name it last had."""
        ...


class Consulting(Protocol):
    """The record of what models were asked."""

    def calls(self, scope: Scope, dream: str) -> list[Call]: ...

    def spent(self, scope: Scope, since: datetime) -> Spent:
        """By every night of the workspace since then, what is under way at its worst."""
        ...

    def told(self, scope: Scope, dream: str) -> list[ModelReport]:
        """Of a night under way, session by session, and of its thinking."""
        ...


class Leasing(Protocol):
    """Two nights over one target never interleave, wherever their processes run."""

    def open(self, scope: Scope, dream: Dream, asked: SessionChoice) -> None:
        """Keep a night that is still to come."""
        ...

    def hold(self, scope: Scope, dream: Dream) -> Lease:
        """Take a night up. Raises StillLocked while another machine has the target."""
        ...

    def release(self, lease: Lease) -> None:
        """Leave a night to whoever comes next."""
        ...

    def unfinished(self, scope: Scope, target: str | None = None) -> list[Dream]:
        """Nights that were begun and are not over, oldest first. What waits for a worker is not among them."""
        ...

    def queued(self, scope: Scope) -> list[Queued]:
        """Nights that wait for a worker, and those whose worker has not been heard of for too long; oldest first."""
        ...

    def stop(self, scope: Scope, dream: Dream, *, even_landing: bool = False) -> Dream:
        """Keep how a night ended that was not completed. Once landing has begun it stays as it is, if not meant."""
        ...


class Working(Protocol):
    """The rows of a night under way. Each write is one transaction that a late writer cannot make."""

    def asked(self, scope: Scope, dream: str) -> SessionChoice: ...

    def chose(self, lease: Lease, dream: Dream, left_out: Sequence[Read] = ()) -> None:
        """Keep which sessions a dream reads. What is left out is not read by later runs either, unless it grows."""
        ...

    def chosen(self, scope: Scope, dream: str) -> list[tuple[Read, int | None]]:
        """Its sessions and how much was noticed in each; None as long as it has not been read."""
        ...

    def note(self, lease: Lease, place: int, notes: Sequence[Noted], told: ModelReport = ModelReport()) -> None: ...

    def noticed(self, scope: Scope, dream: str) -> list[Noted]: ...


class Planning(Protocol):
    """The plan of a night, and what became of it."""

    def plan(self, lease: Lease, thought: Thought) -> None: ...

    def thought(self, scope: Scope, dream: str) -> Thought | None: ...

    def landing(self, lease: Lease) -> None:
        """Something is about to be put: from now on the night cannot be canceled."""
        ...

    def became(self, lease: Lease, became: Mapping[int, Judged]) -> None:
        """The outcomes of suggestions, by their place in the plan."""
        ...

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        """All a night leaves behind in one transaction, with its row in the ledger. Its working rows go.

        A night that only proposed uses nothing up: its sessions are not read, its candidates not staged."""
        ...


class Dreams(EarlierNights, Consulting, Leasing, Working, Planning, Protocol):
    """All of it. One adapter implements them."""
