"""Names: words with a capital, and the particles between them. One is exchanged whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PART = r"[A-ZÀ-ÞŁŚŻŞİ][\w'’&.-]*[\w]|[A-ZÀ-Þ]"
_LINK = r"(?: (?:van|von|vom|zu|de|der|den|di|da|do|dos|del|della|du|la|le|&|und|y|e|bin|al))*"
_NAME = re.compile(rf"(?:{_PART})(?:{_LINK} (?:{_PART}))*")


def names(text: str) -> list[tuple[int, int]]:
    """Where the names of a text stand."""
    return [found.span() for found in _NAME.finditer(text)]


def whole_name(text: str, start: int, end: int) -> tuple[int, int]:
    """The name that stretch is a part of, or the stretch itself. What begins a sentence may be no name."""
    return next(((first, last) for first, last in names(text) if 0 < first <= start and end <= last), (start, end))


def invents_a_name(text: str, sources: Iterable[str]) -> bool:
    """Whether it has a name of several words that none of the sources has: nobody is called that."""
    known = list(sources)
    found = (text[slice(*span)] for span in names(text) if span[0] > 0)
    return any(" " in name and not any(name in source for source in known) for name in found)
