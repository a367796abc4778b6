"""Which shelves there are, and how a name finds its shelf.

Shelves register under the entry point group `reverie.shelves`; ours do the same. An entry point is a function that
offers the shelves of one kind, whether anything stands on them yet or not. The whole of a stranger's, beside the
Shelf itself:

    def notebook_shelves(where):
        yield NotebookShelf(where.place("${NOTEBOOK_HOME:-~/.notebook}"))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from reverie.core.errors import BadInput, ReverieError
from reverie.memory.shelf import Held, Place, Shelf

GROUP = "reverie.shelves"


class Where(Protocol):
    """What an offer is told: this Home's folder, and where another tool keeps its things. A Config is one."""

    @property
    def home(self) -> Path: ...

    def place(self, pattern: str) -> Path:
        """A tool's folder: `${HERMES_HOME:-~/.hermes}`, with the variable if it is set."""
        ...


Offer = Callable[[Where], Iterable[Shelf]]
ByPath = Callable[[str], Shelf | None]


@dataclass(frozen=True, slots=True)
class Shelves(Mapping[str, Shelf]):
    """Names first, then paths; the key of a shelf, as our own records have it, is as good as a name.

    Nothing is looked for before it is asked for. Iterating gives the names of what stands on this machine.
    """

    where: Where
    offers: tuple[Offer, ...]
    by_path: ByPath | None = None

    def named(self, name: str) -> Shelf:
        """The shelf of this name, or a refusal that says which there are."""
        shelf = self._find(name)
        if shelf is None:
            raise BadInput(f"There is no target {name!r}.", expected=f"one of {self._choices()}")
        return shelf

    def offered(self) -> Iterator[Shelf]:
        for offer in self.offers:
            yield from offer(self.where)

    def available(self) -> list[Shelf]:
        """Every shelf something stands on or may be written to, each place once."""
        return self._each(lambda shelf: getattr(shelf, "ready", False) or _stands(shelf))

    def standing(self) -> list[Shelf]:
        """Every shelf something stands on, each place once."""
        return self._each(_stands)

    def in_use(self) -> list[Shelf]:
        """Every shelf whose agent is used on this machine (its `agent_folder` is there), or that is available; each
        place once."""

        def is_used(shelf: Shelf) -> bool:
            folder: Path | None = getattr(shelf, "agent_folder", None)
            return (folder is not None and folder.is_dir()) or getattr(shelf, "ready", False) or _stands(shelf)

        return self._each(is_used)

    def __getitem__(self, name: str) -> Shelf:
        shelf = self._find(name)
        if shelf is None:
            raise KeyError(name)
        return shelf

    def __iter__(self) -> Iterator[str]:
        return (shelf.name for shelf in self.available())

    def __len__(self) -> int:
        return len(self.available())

    def _each(self, wanted: Callable[[Shelf], bool]) -> list[Shelf]:
        found: dict[str, Shelf] = {}
        for shelf in self.offered():
            if shelf.key not in found and wanted(shelf):
                found[shelf.key] = shelf
        return list(found.values())

    def _find(self, name: str) -> Shelf | None:
        return next((shelf for shelf in self.offered() if shelf.name == name), None) or self._at(name)

    def _at(self, name: str) -> Shelf | None:
        """By its path or key. Where a known shelf has all the documents, that one is meant: it knows their limits."""
        shelf = self.by_path(name) if self.by_path else None
        key = shelf.key if shelf else name
        known = [one for one in self.offered() if one.key == key]
        if name == key and known:
            return _SamePlace((*known, shelf) if shelf else tuple(known))
        wanted = _documents(shelf) if shelf else set()
        return next((one for one in known if wanted <= _documents(one)), shelf)

    def _choices(self) -> str:
        names = list(self) or [shelf.name for shelf in self.offered()]
        paths = ["or a path: ./rules.md, ./a/folder/of/them, agents:./project"] if self.by_path else []
        return ", ".join(names + paths)


class _SamePlace:
    """All shelves of one key as one: a document of any of them is found, with what the first to know it says of it."""

    def __init__(self, shelves: tuple[Shelf, ...]) -> None:
        self.name, self.key, self.reach = shelves[0].name, shelves[0].key, shelves[0].reach
        self._shelves = shelves

    def places(self) -> list[Place]:
        found: dict[str, Place] = {}
        for shelf in self._shelves:
            for place in shelf.places():
                found.setdefault(place.document, place)
        return list(found.values())

    def read(self, document: str) -> bytes | None:
        return self._with(document).read(document)

    def held(self, document: str) -> AbstractContextManager[Held]:
        return self._with(document).held(document)

    def has_displaced(self, document: str) -> bool:
        look = getattr(self._with(document), "has_displaced", None)
        return look is not None and bool(look(document))

    def _with(self, document: str) -> Shelf:
        return next((shelf for shelf in self._shelves if document in _documents(shelf)), self._shelves[0])


def _documents(shelf: Shelf) -> set[str]:
    return {place.document for place in shelf.places()}


def _stands(shelf: Shelf) -> bool:
    """What cannot be read is there all the same; who reads it will say why."""
    try:
        return any(shelf.read(place.document) is not None for place in shelf.places())
    except ReverieError:
        return True


def shelves(where: Where, by_path: ByPath | None = None) -> Shelves:
    """All installed shelves, by the name of their entry point. Without `by_path` only names count, never paths."""
    return Shelves(where, _installed(tuple(sys.path)), by_path)


@cache
def _installed(folders: tuple[str, ...]) -> tuple[Offer, ...]:
    """Looking through every installed package takes longer than reading a memory: once for what can be imported."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(point.load() for point in points)
