"""What a night asks models for, and what it takes from them: a model widens what is noticed, and decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.dreams.dream import Consulted
from reverie.dreams.records import Told
from reverie.kernel.errors import ReverieError
from reverie.light.candidate import Candidate
from reverie.light.suggestions import taken
from reverie.models.asking import Asker
from reverie.models.budget import CapExceeded
from reverie.models.choice import Role
from reverie.models.ledger import Call, totals
from reverie.models.reading import read
from reverie.models.using import SHARE
from reverie.sessions.session import Session


class SpentMore(ReverieError):
    """A provider reports more than a call could have taken. The night is given up before anything of it lands."""


@dataclass(frozen=True, slots=True)
class Counsel:
    """Who is asked in one night, by role. A role without anyone asks nobody."""

    askers: Mapping[Role, Asker] = field(default_factory=dict)
    share: float = SHARE
    prompts: Mapping[str, str] = field(default_factory=dict)

    def read(self, session: Session, found: Sequence[Candidate]) -> tuple[list[Candidate], Told]:
        """What a model notices in a session besides what the built-in reader found."""
        asker = self.askers.get(Role.LIGHT)
        if asker is None:
            return [], Told()
        noticed = [evidence for candidate in found for evidence in candidate.evidence]
        reading = read(session, noticed, asker, share=self.share, prompts=self.prompts)
        if reading.stopped:
            raise spent_more(reading.stopped)
        more, dropped = taken(session, reading.suggested, found)
        enough = reading.enough.why if reading.enough else ""
        return more, Told(Counter(reading.dropped) + dropped, enough)


NOBODY = Counsel()


def spent_more(exceeded: CapExceeded) -> SpentMore:
    return SpentMore(
        f"The model's provider cannot be believed: {exceeded.why}.",
        next_step="Nothing was changed. Look at the provider's own account; `reverie status` shows what was counted.",
    )


def consulted(calls: Iterable[Call]) -> tuple[Consulted, ...]:
    """Per phase."""
    every = list(calls)
    return tuple(
        Consulted(
            str(role), tuple(sorted({one.model for one in every if one.role == role})), total.calls, total.failed,
            total.usage.tokens_in, total.usage.tokens_out, total.usage.cached,
            None if total.cost is None else float(total.cost), round(total.seconds, 3), round(total.share, 4),
            {one.prompt: one.prompt_sha256 for one in every if one.role == role},
        )
        for role, total in totals(every).items()
    )  # fmt: skip


def together(told: Iterable[Told]) -> Told:
    """What there is to tell of the whole night."""
    every = list(told)
    dropped = sum((Counter(one.dropped) for one in every), Counter[str]())
    return Told(dict(dropped.most_common()), next((one.enough for one in every if one.enough), ""))
