"""How large a document was over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reverie.changes.history.change import Change


def sizes(changes: Sequence[Change]) -> list[tuple[datetime, float]]:
    """Characters after each change of one document or skill, oldest first. `changes` are newest first."""
    held: dict[str, int] = {}
    found = []
    for change in reversed(changes):
        for edit in change.edits:
            held[edit.document] = len((edit.after or b"").decode("utf-8", "replace"))
        if change.settled_at is not None:
            found.append((change.settled_at, float(sum(held.values()))))
    return found
