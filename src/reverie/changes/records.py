"""What review needs of a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.changes.proposal import Proposal, ProposalStatus
from reverie.core.scope import Scope


@dataclass(frozen=True, slots=True)
class OpenProposals:
    """The proposals that wait at a time. `places` (target and subject) None is anywhere; `dream` and `project` "" are
    any; `snoozed` are those a person put off."""

    now: datetime
    places: tuple[tuple[str, str], ...] | None = None
    dream: str = ""
    project: str = ""
    snoozed: bool = False


class Proposals(Protocol):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        """Store it, or what became of it, with the ledger's row at once."""
        ...

    def get(self, scope: Scope, proposal: str) -> Proposal | None: ...

    def find(
        self,
        scope: Scope,
        statuses: Iterable[ProposalStatus],
        since: datetime | None = None,
        place: tuple[str, str] | None = None,
    ) -> list[Proposal]:
        """Oldest first. `since`: only what was decided behind that time; `place`: only what is for that target and
        subject."""
        ...

    def waiting(self, scope: Scope, asked: OpenProposals, limit: int | None = None, first: int = 0) -> list[Proposal]:
        """The proposals that wait and have not expired, the best first."""
        ...

    def marks(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, str]]:
        """Id and hash of each of those, in the order of their ids."""
        ...

    def places(self, scope: Scope, asked: OpenProposals) -> dict[tuple[str, str], Proposal]:
        """Target and subject of all of those, each with one of them."""
        ...

    def dreams(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, datetime, str]]:
        """The dreams that proposed them, the newest first, each with when it did and for which target."""
        ...

    def projects(self, scope: Scope, asked: OpenProposals) -> list[str]:
        """The projects they were said in, in the order of their names."""
        ...

    def expired(self, scope: Scope, now: datetime, limit: int) -> list[Proposal]:
        """The proposals that wait and should not any more."""
        ...

    def newest(self, scope: Scope, statuses: Iterable[ProposalStatus], limit: int) -> list[Proposal]:
        """Those that were decided last, the last one first."""
        ...
