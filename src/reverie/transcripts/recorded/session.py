"""A session recorded over the API, as far as it is more than its words; and what it was made from. Values only.

What is said in it becomes a Session of the harness `managed` in the same moment (`recorded_turns`); the events are
kept beside it as they came, without secrets, because who sent them reads them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from reverie.core.clock import TimeSpan

Kind = Literal["agent", "environment"]
Status = Literal["idle", "running", "rescheduling", "terminated"]
HARNESS = "managed"
DREAMING = "agent_dreaming"  # who works in the session of a dream


@dataclass(frozen=True, slots=True)
class Definition:
    """An agent or an environment. `user` '' is shared: every person of the workspace may use it, none may change it."""

    id: str
    user: str
    told: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    version: int = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """`agent` is the agent as it was when the session began, with `id` and `version`."""

    id: str
    user: str
    agent: Mapping[str, Any]
    environment: str
    created_at: datetime
    updated_at: datetime
    title: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[Mapping[str, Any], ...] = ()
    vaults: tuple[str, ...] = ()
    budget: Mapping[str, Any] | None = None
    status: Status = "idle"
    archived_at: datetime | None = None

    @property
    def is_ours(self) -> bool:
        """A dream's own session: an account of what we did, and no transcript to learn from."""
        return bool(self.agent["id"] == DREAMING)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """`told` is the event as it goes over the wire, without `id`, `type` and `processed_at`. `number` is its place."""

    id: str
    type: str
    at: datetime
    told: Mapping[str, Any]
    number: int = 0


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """Which sessions: all that is set must fit."""

    made: TimeSpan
    agent: str | None = None
    version: int | None = None
    store: str | None = None
    statuses: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """Which page of a listing: at most `limit`, behind the place `after` in this order."""

    limit: int
    after: str | int | None = None
    descending: bool = False
