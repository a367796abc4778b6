"""What review needs of a database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from reverie.changes.proposal import Proposal, Status
from reverie.core.scope import Scope


class Proposals(Protocol):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        """Store it, or what became of it, with the ledger's row at once."""
        ...

    def get(self, scope: Scope, proposal: str) -> Proposal | None: ...

    def find(self, scope: Scope, statuses: Iterable[Status], since: datetime | None = None) -> list[Proposal]:
        """Oldest first. `since`: only what was decided behind that time."""
        ...

    def count_waiting(self, scope: Scope, now: datetime) -> int:
        """How many wait and have not expired."""
        ...

    def newest(self, scope: Scope, statuses: Iterable[Status], limit: int) -> list[Proposal]:
        """Those that were decided last, the last one first."""
        ...
