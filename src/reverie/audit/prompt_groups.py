"""Which statements meet in one prompt. A circle is named like a target: `hermes`, `claude/<project>`, `agents:…`.

What meets must not be said twice nor contradict itself. What never meets may: two projects have rules of their own,
and each tool has to be told a preference once.
"""

from __future__ import annotations

_PROJECT = ("claude/", "agents:")
_READS_PROJECTS = ("claude", "codex")


def meet(one: str, other: str) -> bool:
    """Whether some session is told both."""
    if one == other:
        return True
    general, project = (one, other) if is_project(other) else (other, one)
    if is_project(general) or not is_project(project):
        return False
    return general == "claude" if project.startswith("claude/") else general in _READS_PROJECTS


def is_project(circle: str) -> bool:
    return circle.startswith(_PROJECT)


def apart(one: str, other: str) -> bool:
    """Whether what they say may differ without anyone being told two things: one of them is about a project only."""
    return not meet(one, other) and (is_project(one) or is_project(other))


def home_of(target: str) -> str:
    """The home a target is part of: all of Claude Code is one, each Hermes profile is its own."""
    if target.startswith("claude/"):
        return "claude"
    return "reverie" if target == "home" else target
