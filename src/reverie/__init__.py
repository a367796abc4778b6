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
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.dreams.light.notice import notice
    from reverie.safety.scan import scan
    from reverie.text.relation import relate

__version__ = "0.1.0"
__all__ = ["__version__", "notice", "open", "relate", "scan"]

_LOADED_WHEN_USED = {
    "notice": "reverie.dreams.light.notice",
    "relate": "reverie.text.relation",
    "scan": "reverie.safety.scan",
}


def __getattr__(name: str) -> Any:
    """Importing `reverie` is cheap: what needs weights and word lists is imported by whoever names it first."""
    if name not in _LOADED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LOADED_WHEN_USED[name]), name)


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    now: datetime | None = None,
    settings: Mapping[str, str | None] | None = None,
) -> Home:
    """Open a Home: SQLite and files, no service, no key. Without a path, `REVERIE_HOME` or `~/.reverie`."""
    from reverie.app import open_home

    return open_home(path, now=now, settings=settings)
