"""A Dream: one night over chosen sessions and one target, as it is kept and told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from reverie.changes.proposal import Score
from reverie.core.scope import Origin
from reverie.transcripts.session import Evidence

Mode = Literal["land", "propose"]


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


class Fate(StrEnum):
    """The outcome of a matter."""

    LANDED = "landed"
    WAITING = "waiting"
    STILL_WAITING = "still waiting"  # a proposal of an earlier night has it, and nobody has decided yet
    HELD_BACK = "held back"  # not good enough yet, or one night's limits were reached: it stays staged
    NOT_KEPT = "not kept"
    NOT_DONE = "not done"  # review or the file refused it
    WITHHELD = "withheld"  # a person would have to decide, and none is asked


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a dream ended. `type` is what the wire calls it."""

    type: str
    message: str


class DreamEnded(Exception):
    """The dream cannot go on, and nobody has to look into it: it says why."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(kind, message)


@dataclass(frozen=True, slots=True)
class Read:
    """A session that was read, as far as it went then."""

    user: str
    session_id: str
    revision: int
    turns: int


@dataclass(frozen=True, slots=True)
class Judged:
    """One matter with what was decided and what became of it. `ref` is the change or proposal it became.

    `reasons` are names of `verify.reasons.Reason`; `checks` says for each check what it found. `unsure`: it would have
    asked, and is included and marked where nobody is asked. `confirms` is the entry that says the same, if a person
    said it again since that stands there."""

    candidates: tuple[str, ...]
    verb: str
    fate: Fate
    reason: str
    why: str
    text: str
    document: str
    old: str
    sessions: int
    origin: Origin
    evidence: tuple[Evidence, ...]
    score: Score | None = None
    ref: str = ""
    reasons: tuple[str, ...] = ()
    checks: tuple[tuple[str, str], ...] = ()
    unsure: bool = False
    confirms: str = ""


@dataclass(frozen=True, slots=True)
class Consulted:
    """The requests of one phase to models, added up. `dollars` is None where a price is not known; `prompts` are the
    hashes of what was said to the model, by name. `share` is how much it saw of the transcripts it was shown anything
    of: `sent` characters of `whole`; a passage sent twice counts twice."""

    phase: str
    models: tuple[str, ...]
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cached: int
    dollars: float | None
    seconds: float
    share: float
    prompts: Mapping[str, str]
    sent: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Dream:
    """`left` sessions wait for another dream. `left_out` are older than the newest that the first run on a target
    takes; no later run reads them by itself. `partial`: it was to read named sessions only, a few, or one person's.

    `noticed` is what was found, `carried` what earlier nights staged; `duplicates` of what was found say what was said
    before or is known already.

    `dropped` counts what models said that was not taken, by reason; `enough` says which cap left them no more room.
    """

    id: str
    target: str
    mode: Mode
    status: Status
    started_at: datetime
    ended_at: datetime | None = None
    sessions: tuple[Read, ...] = ()
    left: int = 0
    noticed: int = 0
    carried: int = 0
    themes: int = 0
    judged: tuple[Judged, ...] = ()
    diary: str = ""
    flaws: tuple[str, ...] = ()
    consulted: tuple[Consulted, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    enough: str = ""
    duplicates: int = 0
    reduced: tuple[str, ...] = ()
    left_out: int = 0
    partial: bool = False

    def of(self, fate: Fate) -> list[Judged]:
        return [one for one in self.judged if one.fate is fate]

    @property
    def about(self) -> list[Judged]:
        """Its themes: what was said in more than one session, as far as it may be told."""
        return [one for one in self.judged if one.sessions > 1 and one.text]

    @property
    def landed(self) -> int:
        return len(self.of(Fate.LANDED))

    @property
    def changes(self) -> tuple[str, ...]:
        return tuple(one.ref for one in self.of(Fate.LANDED))

    @property
    def proposals(self) -> tuple[str, ...]:
        return tuple(one.ref for one in self.of(Fate.WAITING))

    @property
    def counts(self) -> dict[str, int]:
        """The number of matters that met each fate."""
        return {str(fate): len(self.of(fate)) for fate in Fate}

    @property
    def quiet(self) -> bool:
        return not self.of(Fate.LANDED) and not self.of(Fate.WAITING)
