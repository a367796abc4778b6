"""The project a session was in, from the folder its harness recorded. Pure: nothing here looks at a disk.

A project is named as people name it, by the last part of its folder. Two projects can share a name; their paths tell
them apart, where they are known.
"""

from __future__ import annotations

import re
from pathlib import PureWindowsPath

LONGEST_NAME = 80  # a name is shown to curators and put before entries: one short line
LONGEST_DASHED = 200
_NO_PROJECT = re.compile(
    r"[\\/]*|/(?:root|tmp|private/tmp)|/(?:home|Users)/[^/]+|[A-Za-z]:[\\/]?(?:Users[\\/][^\\/]+)?", re.IGNORECASE
)
_WORKTREE = re.compile(r"(?<=[^\\/])[\\/]\.claude[\\/]worktrees[\\/].*", re.DOTALL)


def project_folder(folder: str | None) -> str | None:
    """The folder of a project, without a slash at its end. A worktree that Claude Code made is the repository's."""
    if not folder or not folder.strip():
        return None
    return _WORKTREE.sub("", folder.strip()).rstrip("/\\") or "/"


def project_name(folder: str | None) -> str | None:
    """The usual name of the project in a folder. None for the folders everyone has: a home folder, `/`, `/tmp`."""
    folder = project_folder(folder)
    if folder is None or _NO_PROJECT.fullmatch(folder):
        return None
    return shown_name(PureWindowsPath(folder).name)  # splits at both kinds of slash


def shown_name(name: object) -> str | None:
    """A name as it may be shown and quoted, or None if nothing is left of it."""
    text = "".join(part if part.isprintable() else " " for part in name) if isinstance(name, str) else ""
    return " ".join(text.split())[:LONGEST_NAME].strip() or None


def dashed(path: str) -> str:
    """The start of a folder's name under Claude Code's `projects/`: a path with dashes for all but letters and digits.

    Of a long path only this beginning stands there, with a hash behind it.
    """
    return re.sub(r"[^a-zA-Z0-9]", "-", path)[:LONGEST_DASHED]


def is_dashed(name: str, path: str) -> bool:
    """Whether a folder under `projects/` is named for this path."""
    return name == dashed(path) if len(path) <= LONGEST_DASHED else name.startswith(f"{dashed(path)}-")
