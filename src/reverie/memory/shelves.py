"""Which shelves there are, and how a name finds its shelf.

A Bookcase offers the shelves of one kind: those that stand on this machine, and one by its name even where nothing
stands yet. Bookcases register under the entry point group `reverie.shelves`; ours do the same. The whole of a
stranger's, beside the Shelf itself:

    class NotebookBookcase:
        def __init__(self, where):
            self._folder = where.place("${NOTEBOOK_HOME:-~/.notebook}")

        def found(self):
            return [NotebookShelf(self._folder)] if self._folder.is_dir() else []

        def named(self, name):
            return NotebookShelf(self._folder) if name == "notebook" else None
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from reverie.kernel.errors import BadInput
from reverie.memory.shelf import Shelf

GROUP = "reverie.shelves"


class Where(Protocol):
    """What a Bookcase is told: this Home's folder, and where another tool keeps its things. A Config is one."""

    @property
    def home(self) -> Path: ...

    def place(self, pattern: str) -> Path:
        """A tool's folder: `${HERMES_HOME:-~/.hermes}`, with the variable if it is set."""
        ...


class Bookcase(Protocol):
    def found(self) -> Iterable[Shelf]:
        """What stands on this machine now. Looks at names and reads nothing: all of them are asked for a listing."""
        ...

    def named(self, name: str) -> Shelf | None:
        """The shelf people mean by this name, there or not yet; None when it is not one of these."""
        ...


ByPath = Callable[[str], Shelf | None]


@dataclass(frozen=True, slots=True)
class Shelves(Mapping[str, Shelf]):
    """Names first, then paths. Nothing is looked for before it is asked for; iterating gives what stands here."""

    bookcases: tuple[Bookcase, ...]
    by_path: ByPath | None = None

    def named(self, name: str) -> Shelf:
        """The shelf of this name, or a refusal that says which there are."""
        shelf = self._find(name)
        if shelf is None:
            raise BadInput(f"There is no shelf {name!r}.", expected=self._choices())
        return shelf

    def available(self) -> list[Shelf]:
        """Every shelf that stands on this machine, once, in the order of the bookcases."""
        found: dict[str, Shelf] = {}
        for bookcase in self.bookcases:
            for shelf in bookcase.found():
                found.setdefault(shelf.key, shelf)
        return list(found.values())

    def __getitem__(self, name: str) -> Shelf:
        shelf = self._find(name)
        if shelf is None:
            raise KeyError(name)
        return shelf

    def __iter__(self) -> Iterator[str]:
        return (shelf.name for shelf in self.available())

    def __len__(self) -> int:
        return len(self.available())

    def _find(self, name: str) -> Shelf | None:
        known = filter(None, (bookcase.named(name) for bookcase in self.bookcases))
        return next(known, None) or (self.by_path(name) if self.by_path else None)

    def _choices(self) -> str:
        names = ", ".join(self) or "no shelf stands on this machine"
        paths = ", or a path: ./rules.md, ./a/folder/of/them, agents:./project" if self.by_path else ""
        return f"one of {names}{paths}"


def shelves(where: Where, by_path: ByPath | None = None) -> Shelves:
    """All installed bookcases, by the name of their entry point. Without `by_path` only names count, never paths."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return Shelves(tuple(point.load()(where) for point in points), by_path)
