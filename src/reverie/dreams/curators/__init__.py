"""Who decides: given the Brief of a night, a curator returns items. Nothing it returns is trusted.

Two exist: a model, and the built-in one, which also gives the second opinion. Replacing who decides touches one file
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reverie.dreams.brief.gather import Material
from reverie.dreams.items import CuratorAnswer


@dataclass(frozen=True, slots=True)
class Curated:
    """An answer; or `failed`, why there is none. `stopped`: no model is asked any more tonight, and `failed` says which
    cap or refusal it was."""

    answer: CuratorAnswer = field(default_factory=lambda: CuratorAnswer(()))
    failed: str = ""
    stopped: bool = False


class Curator(Protocol):
    """`room` is how many tokens of a Brief it reads; None: as many as there are."""

    @property
    def name(self) -> str: ...

    @property
    def room(self) -> int | None: ...

    def curate(self, material: Material) -> Curated: ...

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        """Notes for the curator on each of several long sessions, in their order."""
        ...
