"""The statements of a store against each other: word for word all of them, in other words as many as a night can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reverie.audit.pairs import MOST_SENTENCES, Pair, pairs
from reverie.dreams.stores.pages import Stated

_ODD = re.compile(r"\W+")
_FIGURE = re.compile(r"\b(?:\d[\w.:/-]*\w|\d|[A-Z])\b")


@dataclass(slots=True)
class Comparing:
    """What was found last is kept, for as long as the statements are the same."""

    _statements: Sequence[Stated] = ()
    _found: list[Pair[Stated]] = field(default_factory=list)

    def ties(self, statements: Sequence[Stated]) -> list[Pair[Stated]]:
        """What says the same, what contradicts, what is overtaken."""
        if len(statements) != len(self._statements) or any(
            one is not other for one, other in zip(statements, self._statements, strict=True)
        ):
            self._statements, self._found = statements, list(_ties(statements))
        return self._found


def other_figures(one: str, other: str) -> bool:
    """ "Machine 3 stands in hall D." is not "Machine 4 stands in hall E." in other words."""
    here, there = (frozenset(_FIGURE.findall(text)) for text in (one, other))
    return bool(here - there) and bool(there - here)


def uncompared(statements: Sequence[Stated]) -> int:
    """How many are compared word for word only."""
    return max(0, len(statements) - MOST_SENTENCES)


def _ties(statements: Sequence[Stated]) -> Iterable[Pair[Stated]]:
    if not uncompared(statements):
        return pairs(statements, loosely=True)
    near = pairs(statements[:MOST_SENTENCES], loosely=True)
    told = {(id(pair.first), id(pair.second)) for pair in near}
    alike: dict[str, list[Stated]] = {}
    for one in statements:
        alike.setdefault(_ODD.sub(" ", one.text.casefold()).strip(), []).append(one)
    twice = (pair for same in alike.values() if len(same) > 1 for pair in pairs(same))
    return [*near, *(pair for pair in twice if (id(pair.first), id(pair.second)) not in told)]
