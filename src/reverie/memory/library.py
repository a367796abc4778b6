"""`home.memory`: what stands on the shelves now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.memory.shelf import Place, Shelf
from reverie.memory.shelves import Shelves

_LOOK = "`reverie memory list` shows them."


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

    shelves: Shelves
    touch: Callable[[Shelf], list[Entry]]

    def entries(self, shelf: str) -> Iterator[Entry]:
        """Every statement on a shelf, in order."""
        yield from self.touch(self.shelf(shelf))

    def present(self) -> list[str]:
        """The shelves that something stands on."""
        return [shelf.name for shelf in self.shelves.standing()]

    def default(self) -> str:
        """The shelf that is meant when none is named: Hermes' where there is one, else the home's own."""
        present = self.present()
        return "hermes" if "hermes" in present else "home"

    def touch_all(self) -> list[ReverieError]:
        """Look at every shelf. One that cannot be read does not keep the others from being looked at."""
        failed = []
        for shelf in self.shelves.standing():
            try:
                self.touch(shelf)
            except ReverieError as error:
                failed.append(error)
        return failed

    def entry(self, shelf: str, wanted: str) -> Entry:
        """The one entry meant by its id or by words that stand in no other."""
        entries = list(self.entries(shelf))
        found = [entry for entry in entries if entry.id == wanted] or [e for e in entries if wanted in e.text]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFound(f"No entry on {shelf!r} has the id or the words {wanted[:80]!r}.", next_step=_LOOK)
        shown = "; ".join(f"{entry.id} {entry.text[:40]!r}" for entry in found[:5])
        raise BadInput(f"{len(found)} entries hold {wanted[:80]!r}: {shown}.", expected="words of one only, or its id")

    def usage(self, shelf: str) -> list[Usage]:
        chosen = self.shelf(shelf)
        return [_usage(place, chosen.read(place.document) or b"") for place in chosen.places()]

    def shelf(self, name: str) -> Shelf:
        return self.shelves.named(name)


def _usage(place: Place, content: bytes) -> Usage:
    return Usage(place.document, len(content.decode("utf-8", "replace")), place.budget)
