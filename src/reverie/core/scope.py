"""Whose rows a call may touch. There is no port method without a Scope."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
