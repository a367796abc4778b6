"""Reverie: change control for what AI agents learn.

>>> import reverie
>>> with reverie.open("~/.reverie") as home:
...     home.sessions.add("~/.claude/projects")
...     home.search("when did we move the staging database?")
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.home import Home

__version__ = "0.1.0"
__all__ = ["__version__", "open"]


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    now: datetime | None = None,
    settings: Mapping[str, str | None] | None = None,
) -> Home:
    """Open a Home: SQLite and files, no service, no key. Without a path, `REVERIE_HOME` or `~/.reverie`."""
    from reverie.home import open_home

    return open_home(path, now=now, settings=settings)
