"""What a night needs of a database: which sessions were dreamt about, what is staged, and the dreams themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from reverie.deep.material import Noted
from reverie.dreams.dream import Dream, Read
from reverie.kernel.scope import Scope


@dataclass(frozen=True, slots=True)
class Kept:
    """What one night leaves behind: itself, what it noticed and staged, and what needs no second look."""

    dream: Dream
    staged: tuple[Noted, ...]
    settled: tuple[str, ...]


class Dreams(Protocol):
    def read(self, scope: Scope, shelf: str) -> Iterable[Read]:
        """Every session dreamt about for a shelf, as far as it was read."""
        ...

    def staged(self, scope: Scope, shelf: str) -> list[Noted]:
        """What earlier nights noticed and did not use, oldest first."""
        ...

    def keep(self, scope: Scope, kept: Kept) -> None:
        """All of a night, in one transaction, with its row in the ledger."""
        ...

    def find(self, scope: Scope, shelf: str | None = None, limit: int = 10) -> list[Dream]:
        """Newest first."""
        ...
