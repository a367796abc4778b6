"""Many questions to the search at once, as a night asks them: what it reads for one it does not read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reverie.kernel.scope import Scope
from reverie.language.finding import Finder
from reverie.sessions.records import Records, Stored
from reverie.sessions.session import Turn

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
