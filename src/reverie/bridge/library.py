"""`home.bridge`: what a managed memory learned, as differences in behaviour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reverie.bridge.diff import StoreDiff, store_diff
from reverie.bridge.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Bridge:
    """`snapshot` finds the copy of a store that is meant by a name: a folder, a file, a store, a store at a time."""

    snapshot: Callable[[str], Snapshot]

    def diff(self, old: str, new: str) -> StoreDiff:
        return store_diff(self.snapshot(old), self.snapshot(new))
