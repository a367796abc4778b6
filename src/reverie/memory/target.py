"""A Target: a place memory lives, its documents, their formats and budgets; and the small port behind it."""

from __future__ import annotations

from collections.abc import Callable
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


@dataclass(frozen=True, slots=True)
class Displaced:
    """A file that was replaced, and that someone wrote to meanwhile or afterwards: they had it open, and no lock.

    `base` is the hash of the bytes it was known to have, `content` what it says now. `recorded` is called when that is
    in the history: the file goes, or is looked at again if someone still has it open.
    """

    base: str
    content: bytes
    recorded: Callable[[], None]


class Held(Protocol):
    """Documents Reverie alone decides on for a while. Others may write there all the same, with a lock or without."""

    def read(self, document: str) -> bytes | None: ...

    def write(self, document: str, content: bytes | None, expected: bytes | None) -> bool:
        """Put these bytes in the place of those that are expected there, whole and durably; None takes the file away.
        False: someone else saved meanwhile, and theirs is there. What is written here survives `kill -9`."""
        ...

    def alone(self, document: str) -> AbstractContextManager[None]:
        """Take the owner's own lock: who asks for it waits. `write` does so by itself. Nothing that can take long may
        be done under it, and nothing with the database."""
        ...

    def displaced(self, document: str) -> list[Displaced]:
        """Contents written to files after they were replaced, oldest first."""
        ...

    def clean_displaced(self, document: str, clean: Callable[[bytes], bytes]) -> int:
        """Take words out of the files that were replaced and are kept; the number of those that had some."""
        ...


class Target(Protocol):
    """Implemented once for each kind of place. Bytes in and out; nothing else knows where they are.

    `name` is what people type. `key` is the same place under every name: history is kept by it.
    `reach` says in words whose prompts the target ends up in. A target may have `ready`: True where its harness will
    read a document that is not there yet, so that it counts as standing on this machine. It may have `folder`: where
    its documents lie as files of their names, for people who know them by their paths. It may have
    `has_displaced(document)`: whether there are files to be looked at with `Held.displaced`. It may have
    `written_at(document)`: when its bytes were last written.
    """

    name: str
    key: str
    reach: str

    def places(self) -> list[Place]: ...

    def read(self, document: str) -> bytes | None:
        """The bytes of a document, or None when there is none yet."""
        ...

    def held(self, document: str) -> AbstractContextManager[Held]:
        """Keep every other Reverie away from a document; waits for whoever has it. The owner's own lock is taken by
        `Held.write`, for as long as that takes."""
        ...
