"""Values that have a shape of their own: addresses, paths, zones, hours, versions. One can stand in another's place."""

from __future__ import annotations

import re

ZONE = re.compile(r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][\w/+-]+")
SHAPES = {
    "url": re.compile(r"https?://[^\s,;)]+[\w/]"),
    "zone": ZONE,
    "path": re.compile(r"(?<![\w/:])~?/[\w.~-]+(?:/[\w.~-]+)*"),
    "host": re.compile(
        r"(?<![\w/@.])(?!\d+[.,]\d+\b)[A-Za-z][\w-]*(?:\.[\w-]+)+(?::\d+)?|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"
    ),
    "clock": re.compile(r"\b\d{1,2}:\d\d\b(?: ?[ap]m)?"),
    "ordinal": re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b"),
    "version": re.compile(r"\bv?\d+\.\d+(?:\.\d+)*\b"),
}  # fmt: skip


def other_value(old: str, new: str) -> tuple[str, str] | None:
    """The value of one shape that both texts have just once, and differently."""
    for shape in SHAPES.values():
        before, after = set(shape.findall(old)), set(shape.findall(new))
        if len(before) == len(after) == 1 and before != after:
            return before.pop(), after.pop()
    return None
