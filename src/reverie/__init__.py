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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.dreams.light.candidate import Candidate
    from reverie.safety.report import Report
    from reverie.text.relation import Relation

__version__ = "0.1.0"
__all__ = ["__version__", "notice", "open", "relate", "scan"]


def notice(session: Mapping[str, Any]) -> list[Candidate]:
    """What in a session may be worth keeping, by the built-in reader. Its user's words count as the owner's."""
    from reverie.dreams.light.public import notice_dict

    return notice_dict(session)


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    now: datetime | None = None,
    settings: Mapping[str, str | None] | None = None,
) -> Home:
    """Open a Home: SQLite and files, no service, no key. Without a path, `REVERIE_HOME` or `~/.reverie`."""
    from reverie.app import open_home

    return open_home(path, now=now, settings=settings)


def relate(old: str, new: str) -> Relation:
    """How a new statement stands to an old one: same, refines, supersedes, contradicts or unrelated."""
    from reverie.text.relation import relate as related

    return related(old, new)


def scan(text: str | bytes, surface: str = "memory") -> Report:
    """What in a text could harm whoever reads it as a prompt. `surface`: memory, skill, script or context."""
    from reverie.safety.scan import scan as scanned

    return scanned(text, surface)
