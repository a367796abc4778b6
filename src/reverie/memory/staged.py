"""What a harness that stages writes for approval holds back, until a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class StagedStep:
    """`old` are words that stand in one entry only; `text` is empty for a removal."""

    old: str
    text: str


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """`problem` says why it cannot be read, if it cannot; then it has no steps."""

    id: str
    document: str
    steps: tuple[StagedStep, ...]
    problem: str = ""


@runtime_checkable
class StagingTarget(Protocol):
    """A target whose harness keeps a queue of its own."""

    harness: str

    def staged(self) -> list[StagedWrite]: ...

    def discard(self, staged: str) -> None:
        """Take it out of the harness's queue."""
        ...
