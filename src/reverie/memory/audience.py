"""Which sessions a target learns from, and which of its documents a project's matter may stand in. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from reverie.memory.target import Place
from reverie.transcripts.projects import is_dashed
from reverie.transcripts.session import Head

Belongs = Literal["here", "elsewhere", "prefix"]


class HasAudience(Protocol):
    """A document as far as its readers go: a Place, or what a Brief tells of one."""

    @property
    def audience(self) -> str: ...

    @property
    def elsewhere(self) -> frozenset[str]: ...


def sees(places: Iterable[Place], head: Head) -> bool:
    """Whether a target with these documents learns from this session.

    One document that is read everywhere, or no document yet: from all. Documents of projects only: from theirs.
    """
    audiences = list(places)
    return not audiences or any(not place.audience or _is_of(place, head) for place in audiences)


def belongs(place: HasAudience, project: str | None) -> Belongs:
    """Whether a statement that is a matter of `project` may stand in a document.

    `here`: as it is. `prefix`: behind the project's name (`in_project`), because everything is read there and the
    harness has no better place. `elsewhere`: not in this document; another one is the project's, or this one another's.
    """
    if not project or _same(place.audience, project):
        return "here"
    if place.audience or any(_same(name, project) for name in place.elsewhere):
        return "elsewhere"
    return "prefix"


def in_project(project: str, text: str) -> str:
    """The statement with the name of its project before it, unless it begins with that name already."""
    prefix = f"In {project}: "
    behind = text.removeprefix(project)
    named = behind != text and not behind[:1].isalnum()
    return text if named or text.startswith(prefix) else prefix + text


def _is_of(place: Place, head: Head) -> bool:
    """By the path where both are known: two projects can have one name. Of a path Claude Code may tell only dashes."""
    if place.audience_path and head.project_path:
        return place.audience_path == head.project_path
    if head.project is not None and _same(place.audience, head.project):
        return True
    return head.project_path is not None and is_dashed(place.audience, head.project_path)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
