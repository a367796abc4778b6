"""The pieces a document is cut into, and what every Markdown format has to know: front matter and fences."""

from __future__ import annotations

import re
from dataclasses import dataclass

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document. `entry` is the statement in it, or None for what is nobody's statement."""

    raw: str
    entry: str | None = None

    @property
    def lead(self) -> str:
        """The characters before the statement: white space, the marker of a list."""
        return self.raw[: self.raw.find(self.entry or "")]

    @property
    def trail(self) -> str:
        return self.raw[len(self.lead) + len(self.entry or "") :]


def swapped(piece: Piece, text: str) -> Piece:
    """The piece with its statement exchanged, what is around it kept."""
    return Piece(piece.lead + text + piece.trail, text)


def fence_after(line: str, fence: str) -> str:
    """The fence that is open behind this line, or nothing."""
    marker = _FENCE.match(line)
    if marker is None:
        return fence
    if not fence:
        return marker.group(1)
    return "" if line.strip().startswith(fence) else fence
