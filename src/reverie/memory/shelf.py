"""A Shelf: a place memory lives, its documents, their formats and budgets; and the small port behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reverie.memory.formats import FormatName


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a shelf. `budget` is in characters of the whole document; None has no limit."""

    document: str
    form: FormatName
    budget: int | None = None


class Shelf(Protocol):
    """Implemented once for each kind of place. Bytes in and out; nothing else knows where they are."""

    name: str

    def places(self) -> list[Place]: ...

    def read(self, document: str) -> bytes | None:
        """The bytes of a document, or None when there is none yet."""
        ...

    def rewrite(self, document: str, change: Callable[[bytes], bytes | None]) -> bool:
        """Under the owner's own lock: read, ask `change` for the new bytes, replace the file whole and durably.

        `change` answers None to leave it. True if it was replaced; an acknowledged replacement survives `kill -9`.
        """
        ...
