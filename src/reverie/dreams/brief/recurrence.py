"""In how many other sessions a person touched on something: many questions to the search at once, as a night asks them.
What it reads for one it does not read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reverie.core.scope import Scope
from reverie.dreams import words
from reverie.search.finder import Finder
from reverie.transcripts.records import Records, Stored
from reverie.transcripts.session import Turn

_MOST_LOOKED_FOR = 20  # a night asks about ten at most
_ENOUGH_SHARED = 2
Exchange = tuple[Stored | None, dict[int, Turn]]


@dataclass(frozen=True, slots=True)
class _Remembering:
    records: Records
    known: dict[Any, Exchange] = field(default_factory=dict)

    def exchange(self, scope: Scope, session_id: str, numbers: Iterable[int]) -> Exchange:
        key = (scope, session_id, frozenset(numbers))
        if key not in self.known:
            self.known[key] = self.records.exchange(scope, session_id, key[2])
        return self.known[key]


def once_read(search: Finder) -> Finder:
    """The same search, brought up to the records now and not again; it reads each turn once."""
    search.follow()
    remembering = cast(Records, _Remembering(search.records))  # all that a search asks of them
    return replace(search, records=remembering, follow=lambda: None)


@dataclass(slots=True)
class Mentions:
    """In how many other sessions a person touched on a text. The dearest part of a night, so only for a few."""

    search: Finder | None
    looked: int = 0

    def __call__(self, text: str, sessions: frozenset[str]) -> int:
        if self.search is None or not text or self.looked >= _MOST_LOOKED_FOR:
            return 0
        if not self.looked:
            self.search = once_read(self.search)
        self.looked += 1
        wanted = words.stems(text)
        hits = self.search(text, role="user", limit=20, around=0)
        near = {hit.session_id for hit in hits if len(words.stems(hit.text) & wanted) >= _ENOUGH_SHARED}
        return len(near - sessions)
