"""How much of a matrix is tried: a sample by `make test`, more in CI, all of it by `make soak`.

REVERIE_SOAK says which: `short` is what CI runs, `long` what `make soak` runs by itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TypeVar

LEVEL = os.environ.get("REVERIE_SOAK", "")
Size = TypeVar("Size")


def sized(sample: Size, short: Size, long: Size | None = None) -> Size:
    """One of three sizes; without a third, a long soak tries what a short one does."""
    if LEVEL == "long" and long is not None:
        return long
    return short if LEVEL in ("short", "long") else sample


def sampled(every: Sequence[Size], sample: Collection[Size]) -> list[Size]:
    """A sample; CI's soak tries the rest of them, as `make test` has tried the sample; a long one tries every one."""
    if LEVEL == "long":
        return list(every)
    return [one for one in every if (one in sample) != (LEVEL == "short")]
