"""`home.memory`: what stands on the shelves now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reverie.kernel.errors import BadInput
from reverie.memory.formats import FORMATS
from reverie.memory.operation import entry_hash
from reverie.memory.shelf import Place, Shelf


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement in a document."""

    shelf: str
    document: str
    text: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a document is, in characters. A document that is not there yet is empty."""

    document: str
    characters: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    shelves: Mapping[str, Shelf]

    def entries(self, shelf: str) -> Iterator[Entry]:
        """Every statement on a shelf, in order."""
        chosen = self._shelf(shelf)
        for place in chosen.places():
            for text in FORMATS[place.form].read(chosen.read(place.document) or b"").entries:
                yield Entry(shelf, place.document, text, entry_hash(text))

    def usage(self, shelf: str) -> list[Usage]:
        chosen = self._shelf(shelf)
        return [_usage(place, chosen.read(place.document) or b"") for place in chosen.places()]

    def _shelf(self, name: str) -> Shelf:
        if name not in self.shelves:
            raise BadInput(f"There is no shelf {name!r}.", expected=f"one of {', '.join(self.shelves)}")
        return self.shelves[name]


def _usage(place: Place, content: bytes) -> Usage:
    return Usage(place.document, len(content.decode("utf-8", "replace")), place.budget)
