"""A Shelf: a place memory lives, its documents, their formats and budgets; and the small port behind it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from reverie.memory.formats import FormatName


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a target, and what it is for. `budget` is in characters of the whole document; None has no limit.

    `audience` is the project whose sessions read it, by name, with `audience_path` where that is known; "" is read in
    everything this person does. `purpose` is one sentence for whoever decides what to write there. `elsewhere` names
    the projects that have a document of their own with the same harness: their matters do not belong in this one.
    """

    document: str
    form: FormatName
    budget: int | None = None
    audience: str = ""
    audience_path: str = ""
    purpose: str = ""
    elsewhere: frozenset[str] = frozenset()


class Held(Protocol):
    """What is under its owner's lock, until the lock is let go."""

    def read(self, document: str) -> bytes | None: ...

    def write(self, document: str, content: bytes | None) -> None:
        """Replace the file whole and durably; None takes it away. What is written here survives `kill -9`."""
        ...


class Shelf(Protocol):
    """Implemented once for each kind of place. Bytes in and out; nothing else knows where they are.

    `name` is what people type. `key` is the same place under every name: history is kept by it.
    `reach` says in words whose prompts the shelf ends up in. A shelf may have `ready`: True where its harness will
    read a document that is not there yet, so that it counts as standing on this machine.
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
