"""Turns of people: the tagger's data, which most scripts of this folder read, one author a letter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
HELD_OUT = "k"  # written for measuring; nothing is learnt from it


def people(but: str = HELD_OUT) -> Iterator[dict[str, Any]]:
    """The turns of all authors but those."""
    for path in sorted(DATA.glob("notice-?.jsonl")):
        if path.stem[-1] not in but:
            yield from map(json.loads, path.read_text("utf-8").splitlines())


def area(wanted: list[bool], scores: list[float]) -> float:
    """Under the curve: how often one that is wanted scores above one that is not."""
    yes, no = (np.array([s for s, w in zip(scores, wanted, strict=True) if w is which]) for which in (True, False))
    above = (yes[:, None] > no[None]).mean() + (yes[:, None] == no[None]).mean() / 2
    return float(above)
