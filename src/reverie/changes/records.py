"""What review needs of a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from reverie.changes.proposal import Proposal, Status
from reverie.core.scope import Scope


class Proposals(Protocol):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        """Store it, or what became of it, with the ledger's row at once."""
        ...

    def get(self, scope: Scope, proposal: str) -> Proposal | None: ...

    def find(self, scope: Scope, statuses: Iterable[Status]) -> list[Proposal]:
        """Oldest first."""
        ...
