"""How the memories of a store are listed: a subtree, or one folder with what is below it rolled up.

Paths come sorted by their bytes. A position is the last path that was given out, so that a page begins behind it
whatever was written meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

from reverie.core.errors import BadInput
from reverie.memory.stores.rules import checked_path

ROOT = "/"


def checked_prefix(prefix: str | None) -> str:
    if prefix in (None, "", ROOT):
        return ROOT
    if not str(prefix).endswith("/"):
        raise BadInput("path_prefix: it does not end with '/'.", expected="whole segments, such as /notes/")
    return f"{checked_path(str(prefix)[:-1])}/"


def checked_depth(depth: int | None) -> int:
    if depth not in (None, 0, 1):
        raise BadInput(f"depth: {depth}.", expected="0 for everything below the prefix, 1 for its direct children")
    return depth or 0


def end_of_prefix(prefix: str) -> str:
    """The first text that sorts behind everything below a prefix."""
    return prefix[:-1] + chr(ord("/") + 1)


def rolled_up(paths: Iterable[str], prefix: str, limit: int) -> list[str]:
    """The next direct children below a prefix, at most so many: paths of memories, and folders that end with '/'."""
    found: list[str] = []
    for path in paths:
        child, slash, _ = path[len(prefix) :].partition("/")
        shown = f"{prefix}{child}{slash}"
        if found and found[-1] == shown:
            continue
        if len(found) == limit:
            break
        found.append(shown)
    return found
