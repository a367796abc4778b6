"""Which targets there are, and how a name finds its target.

Targets register under the entry point group `reverie.targets`; ours do the same. An entry point is a function that
offers the targets of one kind, whether they hold anything yet or not. The whole of a stranger's, beside the
Target itself:

    def notebook_targets(where):
        yield NotebookTarget(where.place("${NOTEBOOK_HOME:-~/.notebook}"))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from reverie.core.errors import BadInput, ReverieError
from reverie.memory.target import Held, Place, Target

GROUP = "reverie.targets"


class HomePlaces(Protocol):
    """The places an offer is told: this Home's folder, and where another tool keeps its things. A Config is one."""

    @property
    def home(self) -> Path: ...

    def place(self, pattern: str) -> Path:
        """A tool's folder: `${HERMES_HOME:-~/.hermes}`, with the variable if it is set."""


Offer = Callable[[HomePlaces], Iterable[Target]]
ByPath = Callable[[str], Target | None]


@dataclass(frozen=True, slots=True)
class Targets(Mapping[str, Target]):
    """Names first, then paths; the key of a target, as our own records have it, is as good as a name.

    Nothing is looked for before it is asked for. Iterating gives the names of what stands on this machine.
    """

    where: HomePlaces
    offers: tuple[Offer, ...]
    by_path: ByPath | None = None

    def named(self, name: str) -> Target:
        target = self._find(name)
        if target is None:
            choices = list(self) or [target.name for target in self.offered()]
            if self.by_path:
                choices.append("or a path: ./rules.md, ./a/folder/of/them, agents:./project")
            raise BadInput(f"There is no target {name!r}.", expected=f"one of {', '.join(choices)}")
        return target

    def offered(self) -> Iterator[Target]:
        for offer in self.offers:
            yield from offer(self.where)

    def available(self) -> list[Target]:
        """Every target that holds something or may be written to, each place once."""
        return self._each(lambda target: getattr(target, "ready", False) or _stands(target))

    def standing(self) -> list[Target]:
        """Every target that holds something, each place once."""
        return self._each(_stands)

    def present(self) -> list[Target]:
        """Every target whose folder is there, also where its documents are gone; each place once."""
        return self._each(lambda target: _has_folder(target, "folder") or _stands(target))

    def in_use(self) -> list[Target]:
        """Every target whose agent is used on this machine (its `agent_folder` is there), or that is available; each
        place once."""
        return self._each(lambda one: _has_folder(one, "agent_folder") or getattr(one, "ready", False) or _stands(one))

    def __getitem__(self, name: str) -> Target:
        target = self._find(name)
        if target is None:
            raise KeyError(name)
        return target

    def __iter__(self) -> Iterator[str]:
        return (target.name for target in self.available())

    def __len__(self) -> int:
        return len(self.available())

    def _each(self, wanted: Callable[[Target], bool]) -> list[Target]:
        found: dict[str, Target] = {}
        for target in self.offered():
            if target.key not in found and wanted(target):
                found[target.key] = target
        return list(found.values())

    def _find(self, name: str) -> Target | None:
        """By its name, else by its path or key. Where a known target has all the documents of a path, that one is
        meant: it knows their limits."""
        if named := next((target for target in self.offered() if target.name == name), None):
            return named
        target = self.by_path(name) if self.by_path else None
        key = target.key if target else name
        known = [one for one in self.offered() if one.key == key]
        if name == key and known:
            return _SamePlace((*known, target) if target else tuple(known))
        wanted = _documents(target) if target else set()
        return next((one for one in known if wanted <= _documents(one)), target)


class _SamePlace:
    """All targets of one key as one: a document of any of them is found, with what the first to know it says of it."""

    def __init__(self, targets: tuple[Target, ...]) -> None:
        self.name, self.key, self.reach = targets[0].name, targets[0].key, targets[0].reach
        self.folder: Path | None = getattr(targets[0], "folder", None)
        self._targets = targets

    def places(self) -> list[Place]:
        found: dict[str, Place] = {}
        for target in self._targets:
            for place in target.places():
                found.setdefault(place.document, place)
        return list(found.values())

    def read(self, document: str) -> bytes | None:
        return self._with(document).read(document)

    def held(self, document: str) -> AbstractContextManager[Held]:
        return self._with(document).held(document)

    def has_displaced(self, document: str) -> bool:
        look = getattr(self._with(document), "has_displaced", None)
        return look is not None and bool(look(document))

    def written_at(self, document: str) -> datetime | None:
        return written_at(self._with(document), document)

    def _with(self, document: str) -> Target:
        return next((target for target in self._targets if document in _documents(target)), self._targets[0])


def written_at(target: Target, document: str) -> datetime | None:
    """When a document was last written; None where its target does not know."""
    look = getattr(target, "written_at", None)
    found: datetime | None = look(document) if look is not None else None
    return found


def _documents(target: Target) -> set[str]:
    return {place.document for place in target.places()}


def _has_folder(target: Target, name: str) -> bool:
    folder: Path | None = getattr(target, name, None)
    return folder is not None and folder.is_dir()


def _stands(target: Target) -> bool:
    """A document that cannot be read is there all the same; reading it says why."""
    try:
        return any(target.read(place.document) is not None for place in target.places())
    except ReverieError:
        return True


def targets(where: HomePlaces, by_path: ByPath | None = None) -> Targets:
    """All installed targets, by the name of their entry point. Without `by_path` only names count, never paths."""
    return Targets(where, _installed(tuple(sys.path)), by_path)


@cache
def _installed(folders: tuple[str, ...]) -> tuple[Offer, ...]:
    """Looking through every installed package takes longer than reading a memory: once for what can be imported."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(point.load() for point in points)
