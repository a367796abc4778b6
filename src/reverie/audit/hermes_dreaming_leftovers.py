"""What hermes-dreaming 0.3.x left in a Hermes home, as far as it can be told from Reverie's own files there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from reverie.audit.checks.hermes_dreaming_damage import LOCK
from reverie.audit.filesystem import Machine
from reverie.audit.inventory import Traces
from reverie.memory.formats import FORMATS

ASIDE = "before-reverie"  # where Reverie keeps another tool's files when it moves in
_DOCUMENTS = ("MEMORY.md", "USER.md")
_MOST_COPIES = 50


def read_traces(folder: Path, home: str, target: str, machine: Machine) -> Traces | None:
    """None where it never was. Its lock, or the way it writes down what it promoted, tells it from others."""
    for place in (folder, folder / ASIDE):
        if not machine.exists(place):
            continue
        wrote = _wrote(machine.read(place / "promotions.jsonl") or "")
        files = sorted(name for name in machine.below(place) if "/" not in name and name != ASIDE)
        if LOCK in files or wrote is not None:
            copies = {one: tuple(_entries(place / "backups", one, machine)) for one in _DOCUMENTS}
            return Traces(home, target, tuple(files), frozenset(wrote or ()), copies)
    return None


def _wrote(promotions: str) -> set[str] | None:
    """The lines it says it wrote, or None where the file is not one of its."""
    rows = [row for line in promotions.splitlines() if (row := _row(line)) and "promoted_at" in row and "hash" in row]
    if not rows:
        return None
    return {str(row["new_text"]).strip().removeprefix("- ") for row in rows if row.get("new_text")}


def _row(line: str) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _entries(folder: Path, document: str, machine: Machine) -> Iterator[str]:
    names = sorted(name for name in machine.below(folder) if name.endswith(f"/{document}"))[-_MOST_COPIES:]
    for name in names:
        content = (machine.read(folder / name) or "").encode("utf-8", "surrogateescape")
        yield from FORMATS["hermes"].read(content).entries
