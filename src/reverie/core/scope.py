"""Whose rows a call may touch, and where words came from.

There is no port method without a Scope. An Origin is set by the code that reads a transcript, never by a model. What is
built on several quotations has the weakest Origin among them; repetition never raises it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Scope:
    """`user` None means every user of the workspace; `''` is what they share."""

    workspace: str
    user: str | None
    actor: str

    def of(self, user: str) -> Scope:
        """The same workspace and actor, narrowed to one person."""
        return replace(self, user=user)


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
