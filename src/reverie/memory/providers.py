"""Broader memories that people run beside the files their agents read: Mem0, Hindsight, a database of our own.

A night reads them so that premium memory does not repeat what they have; an entry can be demoted to one. They are no
targets: nothing of a night lands there. Providers register under the entry point group `reverie.providers`, ours
do the same. An entry point is called with the address in the settings, where things are, and whose memory it is:

    def notebook(address, where, owner):
        return Notebook(address or where.home / "notebook.db", owner)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from typing import Protocol

from reverie.core.errors import BadSetting, NotFound, ReverieError
from reverie.memory.targets import HomePlaces

GROUP = "reverie.providers"
HITS = 5


@dataclass(frozen=True, slots=True)
class Remembered:
    provider: str
    id: str
    text: str


class MemoryProvider(Protocol):
    """Raises `NotReached` where it does not answer."""

    def search(self, question: str, limit: int) -> list[tuple[str, str]]:
        """The ids and texts nearest to a question, best first."""

    def add(self, text: str) -> str:
        """Keep a text as it is, and return its id."""


@dataclass
class Providers:
    """Those of the settings, by their names. One that does not answer is said so in `failed`, and does not keep a night
    from going on."""

    addresses: Mapping[str, str]
    where: HomePlaces
    owner: str
    failed: dict[str, str] = field(default_factory=dict)

    @cached_property
    def opened(self) -> Mapping[str, MemoryProvider]:
        known = {point.name: point for point in entry_points(group=GROUP)}
        for name in self.addresses:
            if name not in known:
                raise BadSetting(f"There is no provider {name!r}.", expected=f"one of {', '.join(sorted(known))}")
        return {name: known[name].load()(at, self.where, self.owner) for name, at in self.addresses.items()}

    def search(self, question: str, limit: int = HITS) -> list[Remembered]:
        found = list[Remembered]()
        for name, provider in self.opened.items():
            try:
                found += [Remembered(name, key, text) for key, text in provider.search(question, limit)]
            except ReverieError as error:
                self.failed[name] = str(error)
        return found

    def beside(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Entries about any of these: where, and the text, each once."""
        seen = dict[tuple[str, str], None]()
        for text in texts if self.addresses else ():
            seen |= {(one.provider, one.text): None for one in self.search(text)}
        return iter(seen)

    def add(self, text: str, name: str = "") -> Remembered:
        """Give a text to a provider: the one named, or the only one there is."""
        chosen = name or (next(iter(self.opened)) if len(self.opened) == 1 else "")
        if chosen not in self.opened:
            there = ", ".join(self.opened) or "none is set; `providers` in reverie.toml names them"
            raise NotFound(f"There is no provider {chosen!r}." if chosen else "No provider is named.", expected=there)
        return Remembered(chosen, self.opened[chosen].add(text), text)
