"""A Shelf: a place memory lives, its documents, their formats and budgets; and the small port behind it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from reverie.memory.formats import FormatName


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a shelf. `budget` is in characters of the whole document; None has no limit."""

    document: str
    form: FormatName
    budget: int | None = None


class Held(Protocol):
    """What is under its owner's lock, until the lock is let go."""

    def read(self, document: str) -> bytes | None: ...

    def write(self, document: str, content: bytes | None) -> None:
        """Replace the file whole and durably; None takes it away. What is written here survives `kill -9`."""
        ...


class Shelf(Protocol):
    """Implemented once for each kind of place. Bytes in and out; nothing else knows where they are.

    `name` is what people type. `key` is the same place under every name: history is kept by it.
    `reach` says in words whose prompts the shelf ends up in.
    """

    name: str
    key: str
    reach: str

    def places(self) -> list[Place]: ...

    def read(self, document: str) -> bytes | None:
        """The bytes of a document, or None when there is none yet."""
        ...

    def held(self, document: str) -> AbstractContextManager[Held]:
        """Take the owner's own lock on a document; waits for whoever has it."""
        ...
