"""A copy of a memory store at one time: its memories by path, and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Provenance:
    """The version in which a memory came to read as it does, who wrote it, and in which dream, where that is known."""

    store: str = ""
    version: str = ""
    author: str = ""
    dream: str = ""
    sessions: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`name` is what people call it: a folder, or a store with the server it is on."""

    name: str
    texts: Mapping[str, str]
    told: Callable[[str], Iterator[tuple[str, Provenance]]] = lambda _: iter(())  # of a path, newest first

    def origin_of(self, path: str, words: str) -> Provenance:
        """The version of the memory in which these words came to stand there."""
        since = takewhile(lambda one: words in one[0], self.told(path))
        return reduce(lambda _, one: one[1], since, Provenance())
