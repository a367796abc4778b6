"""How the skills that Hermes loaded did, each a line in `<Hermes home>/dreaming/outcomes.jsonl` when a session ends.

A skill is followed if tools were called after it was loaded, until another is. It succeeded if the last of them did.
"""

from __future__ import annotations

import time

from .program import append_lines, hermes_home

_LOADS = "skill_view"
_loaded: dict[str, dict[str, str]] = {}  # by session: skills in the order they were loaded, and how each did so far


def tool_done(session: str, tool: str, arguments: object, status: str) -> None:
    skills = _loaded.setdefault(session, {}) if tool == _LOADS else _loaded.get(session)
    if skills is None:
        return
    if tool == _LOADS:
        name = str(arguments.get("name", "")) if isinstance(arguments, dict) else ""
        if name and status == "ok":
            skills[name] = skills.pop(name, "ignored")
    elif skills:
        skills[next(reversed(skills))] = "succeeded" if status == "ok" else "failed"


def session_done(session: str) -> None:
    skills = _loaded.pop(session, {})
    at = int(time.time())
    lines = [{"skill": name, "outcome": how, "session": session, "at": at} for name, how in skills.items()]
    if lines:
        append_lines(hermes_home().dreaming / "outcomes.jsonl", lines)
