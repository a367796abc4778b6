"""Versions as people write them: `1.10`, `v2`, `1.2.0-beta`. They are text and are counted up part by part.

Wording is a patch, a new rule is minor, a changed meaning is major.
"""

from __future__ import annotations

import re
from typing import Literal

Bump = Literal["patch", "minor", "major"]
FIRST = "1.0.0"
_VERSION = re.compile(
    r"(?P<v>[vV]?)(?P<major>\d{1,9})(?:\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9})(?P<label>-[0-9A-Za-z.-]+)?)?)?"
    r"(?:\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)
_PLACE: dict[Bump, int] = {"major": 0, "minor": 1, "patch": 2}


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def bumped(text: str, bump: Bump) -> str:
    """The next version, written as this one was. No version counts as 1.0.0, and what is no version stays as it is.

    `1.10` becomes 1.10.1, 1.11 or 2.0; `v2` becomes v2.0.1, v2.1 or v3. A label such as `-beta` stays: a refinement
    is no release. What stands behind a `+` names one build and goes.
    """
    known = _VERSION.fullmatch(text or FIRST)
    if known is None:
        return text
    written = [part for part in known.group("major", "minor", "patch") if part is not None]
    place = _PLACE[bump]
    counted = [int(part) for part in written] + [0] * (place + 1 - len(written))
    counted[place] += 1
    counted[place + 1 :] = [0] * len(counted[place + 1 :])
    return f"{known['v']}{'.'.join(map(str, counted))}{known['label'] or ''}"
