"""A Night: what one run of `home.dream` did, target by target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reverie.dreams.dream import Consulted, Dream, Fate, Judged, Read, Status

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
