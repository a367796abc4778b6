"""What a Change can be made to: a document on a shelf, or a skill in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from reverie.kernel.errors import BadInput
from reverie.memory.formats import FormatName
from reverie.memory.shelf import Held, Place, Shelf
from reverie.safety.bundle import scan_skill
from reverie.safety.report import Report, joined
from reverie.safety.scan import scan


class Holder(Protocol):
    """A shelf of memory or a folder of skills, as far as landing needs it."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def reach(self) -> str: ...

    def held(self, subject: str, /) -> AbstractContextManager[Held]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """`form` and `budget` are those of a memory document; a skill has neither."""

    holder: Holder
    subject: str
    documents: Callable[[], Iterable[str]]
    form: FormatName | None = None
    budget: int | None = None

    @property
    def is_memory(self) -> bool:
        return self.form is not None

    def scanned(self, texts: dict[str, bytes]) -> Report:
        """The findings in what would be written: statements of memory, or the files of a skill."""
        if self.is_memory:
            return joined(scan(text, "memory") for text in texts.values())
        return scan_skill(texts)


def memory_target(shelf: Shelf, place: Place) -> Target:
    return Target(shelf, place.document, lambda: [place.document], place.form, place.budget)


def target(shelves: Mapping[str, Shelf], shelf: str, subject: str) -> Target:
    """The document of a shelf that is named, by people, or by its key, in our own records."""
    chosen = shelves.get(shelf) or next((one for one in shelves.values() if one.key == shelf), None)
    if chosen is None:
        raise BadInput(f"There is no shelf {shelf!r} now.", expected=f"one of {', '.join(shelves)}")
    place = next((one for one in chosen.places() if one.document == subject), None)
    if place is None:
        there = ", ".join(one.document for one in chosen.places())
        raise BadInput(f"The shelf {chosen.name!r} has no document {subject!r}.", expected=f"one of {there}")
    return memory_target(chosen, place)
