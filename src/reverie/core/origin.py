"""Where words came from, and how much they may decide.

Set by the code that reads a transcript, never by a model. What is built on several quotations has the
weakest Origin among them; repetition never raises it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Origin(StrEnum):
    OPERATOR = "operator"
    OWNER = "owner"
    MEMBER = "member"
    AGENT = "agent"
    TOOL = "tool"

    @property
    def strength(self) -> int:
        return _STRENGTH[self]


_STRENGTH = {origin: len(Origin) - place for place, origin in enumerate(Origin)}


def weakest(origins: Iterable[Origin]) -> Origin:
    """The Origin of what rests on all of these. Nothing to rest on is an error: it would be invented."""
    return min(origins, key=lambda origin: origin.strength)
