"""A copy of a memory store at one time: its memories by path, and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of how a memory came to read as it does: the version, who wrote it, and in which dream."""

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
        """How these words came there: what the memory said since they stand in it."""
        since = takewhile(lambda one: words in one[0], self.told(path))
        return reduce(lambda _, one: one[1], since, Provenance())
