"""A Dream: one night over chosen sessions and one target, as it is kept and told. A Night: what one run of `home.dream`
did, target by target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


_WORST_FIRST = (Status.FAILED, Status.CANCELED, Status.RUNNING, Status.PENDING)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A target that was not dreamt over, and why. `failed`: it was tried, or should have been."""

    target: str
    why: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Night:
    """`dreams` are in the order they were run: for each target one after another until it had nothing left to read.

    `unchanged` are the targets that had nothing new. `notes` are sentences a person should read besides the diaries.
    What a single Dream tells of itself a Night tells of all of them together.
    """

    dreams: tuple[Dream, ...]
    skipped: tuple[Skipped, ...] = ()
    unchanged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """Those that were dreamt over, each once."""
        return tuple(dict.fromkeys(dream.target for dream in self.dreams))

    @property
    def diary(self) -> str:
        """The diaries of all dreams; what was skipped, and the notes, behind them."""
        more = [*(f"{one.target} was skipped: {one.why}" for one in self.skipped), *self.notes]
        return "\n".join([*(dream.diary for dream in self.dreams), *(f"{line}\n" for line in more)])

    @property
    def status(self) -> Status:
        """The worst of them."""
        there = {dream.status for dream in self.dreams}
        return next((status for status in _WORST_FIRST if status in there), Status.COMPLETED)

    @property
    def quiet(self) -> bool:
        """Nothing landed and nothing waits."""
        return all(dream.quiet for dream in self.dreams)

    @property
    def sessions(self) -> tuple[Read, ...]:
        """The sessions that were read; a session once for each target."""
        return tuple(one for dream in self.dreams for one in dream.sessions)

    @property
    def judged(self) -> tuple[Judged, ...]:
        return tuple(one for dream in self.dreams for one in dream.judged)

    def of(self, fate: Fate) -> list[Judged]:
        return [one for one in self.judged if one.fate is fate]

    @property
    def changes(self) -> tuple[str, ...]:
        return tuple(one for dream in self.dreams for one in dream.changes)

    @property
    def proposals(self) -> tuple[str, ...]:
        return tuple(one for dream in self.dreams for one in dream.proposals)

    @property
    def counts(self) -> dict[str, int]:
        return {str(fate): len(self.of(fate)) for fate in Fate}

    @property
    def left(self) -> int:
        """The number of sessions that wait for another night."""
        return sum(dream.left for dream in self._last)

    @property
    def left_out(self) -> int:
        """The number of sessions that were too old for the first night on their target."""
        return sum(dream.left_out for dream in self.dreams)

    @property
    def flaws(self) -> tuple[str, ...]:
        return tuple(one for dream in self.dreams for one in dream.flaws)

    @property
    def noticed(self) -> int:
        return sum(dream.noticed for dream in self.dreams)

    @property
    def carried(self) -> int:
        """The number of candidates staged by earlier nights that were looked at again."""
        first = {dream.target: dream for dream in reversed(self.dreams)}
        return sum(dream.carried for dream in first.values())

    @property
    def themes(self) -> int:
        return sum(dream.themes for dream in self.dreams)

    @property
    def duplicates(self) -> int:
        return sum(dream.duplicates for dream in self.dreams)

    @property
    def consulted(self) -> tuple[Consulted, ...]:
        return tuple(one for dream in self.dreams for one in dream.consulted)

    @property
    def dropped(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for dream in self.dreams:
            for why, times in dream.dropped.items():
                found[why] = found.get(why, 0) + times
        return found

    @property
    def enough(self) -> str:
        """Which cap of a model was reached first, if one was."""
        return next((dream.enough for dream in self.dreams if dream.enough), "")

    @property
    def _last(self) -> Iterator[Dream]:
        """Of each target the dream that came last."""
        return iter({dream.target: dream for dream in self.dreams}.values())
