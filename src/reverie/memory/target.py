"""A Target: a place memory lives, its documents, their formats, budgets and audiences; and the small port behind it.

Beside it: which sessions a target learns from, which of its documents a project's matter may stand in, what its harness
puts into a prompt besides (Reverie reads that and changes none), and what a harness holds back for approval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from reverie.memory.formats import FormatName
from reverie.transcripts.session import Head, is_dashed


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a target, and what it is for. `budget` is in characters of the whole document; None has no limit.

    `audience` is the project whose sessions read it, by name, with `audience_path` where that is known; "" is read in
    everything this person does. `purpose` is one sentence for whoever decides what to write there. `elsewhere` names
    the projects that have a document of their own with the same harness: their matters do not belong in this one.
    """

    document: str
    form: FormatName
    budget: int | None = None
    audience: str = ""
    audience_path: str = ""
    purpose: str = ""
    elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Displaced:
    """A file that was replaced, and that someone wrote to meanwhile or afterwards: they had it open, and no lock.

    `base` is the hash of the bytes it was known to have, `content` what it says now. `recorded` is called when that is
    in the history: the file goes, or is looked at again if someone still has it open.
    """

    base: str
    content: bytes
    recorded: Callable[[], None]


class Held(Protocol):
    """Documents Reverie alone decides on for a while. Others may write there all the same, with a lock or without."""

    def read(self, document: str) -> bytes | None: ...

    def write(self, document: str, content: bytes | None, expected: bytes | None) -> bool:
        """Put these bytes in the place of those that are expected there, whole and durably; None takes the file away.
        False: someone else saved meanwhile, and theirs is there. What is written here survives `kill -9`."""

    def alone(self, document: str) -> AbstractContextManager[None]:
        """Take the owner's own lock: who asks for it waits. `write` does so by itself. Nothing that can take long may
        be done under it, and nothing with the database."""

    def displaced(self, document: str) -> list[Displaced]:
        """Contents written to files after they were replaced, oldest first."""

    def clean_displaced(self, document: str, clean: Callable[[bytes], bytes]) -> int:
        """Take words out of the files that were replaced and are kept; the number of those that had some."""


class Target(Protocol):
    """Implemented once for each kind of place. Bytes in and out; nothing else knows where they are.

    `name` is what people type. `key` is the same place under every name: history is kept by it.
    `reach` says in words whose prompts the target ends up in. A target may have `ready`: True where its harness will
    read a document that is not there yet, so that it counts as standing on this machine. It may have `folder`: where
    its documents lie as files of their names, for people who know them by their paths. It may have
    `has_displaced(document)`: whether there are files to be looked at with `Held.displaced`. It may have
    `written_at(document)`: when its bytes were last written.
    """

    name: str
    key: str
    reach: str

    def places(self) -> list[Place]: ...

    def read(self, document: str) -> bytes | None:
        """The bytes of a document, or None when there is none yet."""

    def held(self, document: str) -> AbstractContextManager[Held]:
        """Keep every other Reverie away from a document; waits for whoever has it. The owner's own lock is taken by
        `Held.write`, for as long as that takes."""


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


SHARED = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md")  # in a project, where a target `agents:PATH` can change them
CONTEXT_FILES: Mapping[str, tuple[str, ...]] = {
    "hermes": ("SOUL.md", ".hermes.md", "HERMES.md"),
    "claude": ("rules/*.md",),
    "codex": ("AGENTS.override.md",),
    "openclaw": ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md"),
    # Hermes, Claude Code, Codex, Gemini, Cursor, Copilot and Windsurf each read some of those in a project.
    "project": (
        *(".hermes.md", "HERMES.md", "SOUL.md", ".claude/CLAUDE.md", ".claude/rules/*.md", "AGENTS.override.md"),
        *("GEMINI.md", ".cursorrules", ".cursor/rules/*.mdc", ".github/copilot-instructions.md", ".windsurfrules"),
    ),
}


def context_of(target: Target) -> tuple[Path, tuple[str, ...]]:
    """The folder a target lies in, and the names of the context files that its harness reads there."""
    kind, _, folder = target.key.partition(":")
    if target.name.startswith("agents:"):
        harness = "project"
    elif kind == "hermes" or target.name.partition("/")[0] == "openclaw":
        harness = "hermes" if kind == "hermes" else "openclaw"
    else:
        harness = target.name
    return Path(folder), CONTEXT_FILES.get(harness, ())


def files_named(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files of a folder with these names, some of which stand for several."""
    for name in names:
        yield from sorted(folder.glob(name)) if "*" in name else (folder / name,)


@dataclass(frozen=True, slots=True)
class StagedStep:
    """`old` are words that stand in one entry only; `text` is empty for a removal."""

    old: str
    text: str


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """`problem` says why it cannot be read, if it cannot; then it has no steps."""

    id: str
    document: str
    steps: tuple[StagedStep, ...]
    problem: str = ""


@runtime_checkable
class StagingTarget(Protocol):
    """A target whose harness keeps a queue of its own."""

    harness: str

    def staged(self) -> list[StagedWrite]: ...

    def discard(self, staged: str) -> None:
        """Take it out of the harness's queue."""
