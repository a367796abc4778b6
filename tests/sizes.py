"""How much of a matrix is tried: a sample by `make test`, more in CI, all of it by `make soak`.

REVERIE_SOAK says which: `short` is what CI runs, `long` what `make soak` runs by itself.
"""

from __future__ import annotations

import os
from typing import TypeVar

LEVEL = os.environ.get("REVERIE_SOAK", "")
Size = TypeVar("Size")


def sized(sample: Size, short: Size, long: Size | None = None) -> Size:
    """One of three sizes; without a third, a long soak tries what a short one does."""
    if LEVEL == "long" and long is not None:
        return long
    return short if LEVEL in ("short", "long") else sample
