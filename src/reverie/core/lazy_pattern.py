"""Regular expressions that are compiled when they are first needed: some take milliseconds, most commands need none."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial


def lazy_pattern(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    return cache(partial(re.compile, pattern, flags))
