"""`home.memory`: what stands on the shelves now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from reverie.kernel.errors import BadInput
from reverie.memory.shelf import Place, Shelf


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement in a document. Its id is ours; the file knows nothing of it.

    `since` is when its present wording came in, None if that was before Reverie first looked; `seen` is when that
    wording was first seen, so it is at least that old. `change` brought it.
    """

    shelf: str
    document: str
    text: str
    sha256: str
    id: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a document is, in characters. A document that is not there yet is empty."""

    document: str
    characters: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """`touch` records what a shelf holds now and says what it found: reading is noticing."""

    shelves: Mapping[str, Shelf]
    touch: Callable[[Shelf], list[Entry]]

    def entries(self, shelf: str) -> Iterator[Entry]:
        """Every statement on a shelf, in order."""
        yield from self.touch(self.shelf(shelf))

    def usage(self, shelf: str) -> list[Usage]:
        chosen = self.shelf(shelf)
        return [_usage(place, chosen.read(place.document) or b"") for place in chosen.places()]

    def shelf(self, name: str) -> Shelf:
        if name not in self.shelves:
            raise BadInput(f"There is no shelf {name!r}.", expected=f"one of {', '.join(self.shelves)}")
        return self.shelves[name]


def _usage(place: Place, content: bytes) -> Usage:
    return Usage(place.document, len(content.decode("utf-8", "replace")), place.budget)
