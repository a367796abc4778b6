"""How a skill did: it was followed and the work went well, or failed, or it was read and nothing was done with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcomes:
    succeeded: int = 0
    failed: int = 0
    ignored: int = 0

    @property
    def confidence(self) -> float:
        """The share that went well, with one of each added: one case alone says little."""
        return (self.succeeded + 1) / (self.succeeded + self.failed + 2)

    @property
    def sentence(self) -> str:
        followed = self.succeeded + self.failed
        ignored = f", read and not followed {self.ignored} times" if self.ignored else ""
        return f"it went well {self.succeeded} of {followed} times{ignored}"

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(self.succeeded + other.succeeded, self.failed + other.failed, self.ignored + other.ignored)
