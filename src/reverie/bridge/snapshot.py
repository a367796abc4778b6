"""A copy of a memory store at one time: its memories by path, and where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of how a memory came to read as it does: the version, who wrote it, and in which dream."""

    store: str = ""
    version: str = ""
    author: str = ""
    dream: str = ""
    sessions: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`name` is what people call it: a folder, or a store with the server it is on."""

    name: str
    texts: Mapping[str, str]
    provenance: Mapping[str, Provenance] = field(default_factory=dict)

    def origin_of(self, path: str) -> Provenance:
        return self.provenance.get(path, Provenance())
