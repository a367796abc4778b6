"""A Dream over a memory store, as whoever asked for it sees it. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from reverie.core.errors import ReverieError
from reverie.dreams.dream import Dream, Failure, Status
from reverie.llm.settings import BUILT_IN

Decided = Literal["accepted", "discarded"]
MODEL_UNAVAILABLE = "model_unavailable"  # the type of a Failure: the settings name a model that cannot be asked


@dataclass(frozen=True, slots=True)
class StoreDreamUsage:
    """Tokens of a model. The built-in reader takes none."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


def usage_of(dream: Dream) -> StoreDreamUsage:
    calls = dream.consulted
    return StoreDreamUsage(
        sum(one.tokens_in - one.cached for one in calls),
        sum(one.tokens_out for one in calls),
        sum(one.cached for one in calls),
    )


@dataclass(frozen=True, slots=True)
class Withheld:
    """A memory of the input that looks unsafe: so many of its statements; with none, all of it."""

    path: str
    found: str
    statements: int = 0


@dataclass(frozen=True, slots=True)
class StoreDream:
    """`output` is the store that is written: the input itself if `in_place`. It is there once it is `cloned`.

    `session` is the dream's own; `sessions` are those it reads. `written` counts the versions of the input when it was
    cloned, so that it can be told whether it moved on since. `reader` is who read the sessions beside the built-in one.
    `withheld` is what of the input was not cloned.
    """

    id: str
    user: str
    store: str
    output: str
    session: str
    sessions: tuple[str, ...]
    model: str
    created_at: datetime
    speed: str | None = None
    instructions: str | None = None
    in_place: bool = False
    status: Status = Status.PENDING
    ended_at: datetime | None = None
    archived_at: datetime | None = None
    cloned: bool = False
    written: int = 0
    usage: StoreDreamUsage = field(default_factory=StoreDreamUsage)
    reader: str = BUILT_IN
    error: Failure | None = None
    decided: Decided | None = None
    change: str | None = None
    withheld: tuple[Withheld, ...] = ()

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.CANCELED)


@dataclass(frozen=True, slots=True)
class StoreWish:
    """The request for a dream, as it came."""

    store: str
    sessions: tuple[str, ...]
    model: str
    speed: str | None = None
    instructions: str | None = None
    in_place: bool = False


class AlreadyDreamt(ReverieError):
    """Another dream rewrites this store and has not come to its end."""

    http_status = 409


class MovedOn(ReverieError):
    """Someone has written to the input since, so it cannot simply get the output's content."""

    http_status = 409
