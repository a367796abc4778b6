"""What stands where an agent reads it, what this machine can be asked, and a Finding: what is wrong with what stands.

Documents are cut into statements; beside them are skills, and what another tool left behind.

Which statements meet in one prompt: a circle is named like a target (`hermes`, `claude/<project>`, `agents:…`). What
meets must not be said twice nor contradict itself. What never meets may: two projects have rules of their own, and each
tool has to be told a preference once.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal, Protocol

from reverie.changes.proposal import Suggestion
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import entry_hash
from reverie.skills.skill import Skill

Severity = Literal["high", "medium", "low", "note"]
ORDER: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2, "note": 3}
LOOK = "A person has to look."


@cache
def _words() -> dict[str, str]:
    return tomllib.loads((files("reverie.audit") / "words.toml").read_text("utf-8"))


def alternatives(name: str) -> str:
    """The words of one group in `words.toml`, for a regular expression."""
    return "|".join(_words()[name].strip("\n").splitlines())


def word_set(name: str) -> frozenset[str]:
    return frozenset(_words()[name].split())


class FindingKind(StrEnum):
    """The worst first: of several things wrong with one statement, the first names it in pictures."""

    UNSAFE = "unsafe"
    SECRET = "secret"
    DAMAGED = "damaged"
    CONTRADICTORY = "contradictory"
    SUPERSEDED = "superseded"
    STALE = "stale"
    JUNK = "junk"
    DUPLICATED = "duplicated"
    SENSITIVE = "sensitive"
    BROKEN = "broken"
    UNREADABLE = "unreadable"
    OVER_BUDGET = "over budget"
    UNUSED = "never used"
    AUTHORITY = "authority"
    VERBOSE = "verbose"
    CUT = "cut short"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something stands. `number` counts the statements of a document from 1; 0 is the document, or a skill."""

    home: str
    target: str
    document: str
    number: int = 0

    def __str__(self) -> str:
        place = f"{self.target}/{self.document}" if self.document else self.target
        return f"{place} #{self.number}" if self.number else place


@dataclass(frozen=True, slots=True)
class Finding:
    """`words` are fit to be shown: secrets taken out, everything invisible spelt out. `other` is what they stand
    against. Without a `suggestion` there is nothing a machine should propose: `advice` says what a person can do."""

    kind: FindingKind
    severity: Severity
    spot: Spot
    words: str
    why: str
    advice: str = LOOK
    suggestion: Suggestion | None = None
    other: Spot | None = None
    other_words: str = ""


LARGEST = 4 * 1024 * 1024
MOST_FILES = 50_000
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "target", ".tox", ".mypy_cache"})


class Machine(Protocol):
    @property
    def home(self) -> Path:
        """The folder of the person whose agents these are."""

    def exists(self, path: Path) -> bool: ...

    def read(self, path: Path) -> str | None:
        """The text of a regular file, or None when there is none that may be read."""

    def has_program(self, name: str) -> bool:
        """Whether a command of this name can be run."""

    def below(self, folder: Path) -> Iterator[str]:
        """Files and folders below a folder by their relative paths; what tools make there is left out."""


class ThisMachine:
    def __init__(self, home: Path, programs: str = "") -> None:
        """`programs` are the folders commands lie in, as PATH has them."""
        self.home, self._programs = home, programs

    def exists(self, path: Path) -> bool:
        try:
            return os.path.lexists(path)
        except ValueError:  # a NUL in it
            return False

    def read(self, path: Path) -> str | None:
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                return None
            return path.read_text("utf-8", "replace")
        except OSError:
            return None

    def has_program(self, name: str) -> bool:
        return shutil.which(name, path=self._programs) is not None

    def below(self, folder: Path) -> Iterator[str]:
        seen = 0
        for at, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            for name in (*folders, *sorted(names)):
                seen += 1
                if seen > MOST_FILES:
                    return
                yield (Path(at) / name).relative_to(folder).as_posix()


SKILL = "skill:"
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


_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_FENCED = re.compile(r"^ {0,3}(?:```|~~~).*?(?:^ {0,3}(?:```|~~~)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADINGS = re.compile(r"^(#{1,6})[ \t]+(.+)$", re.MULTILINE)
_NO_WORDS = re.compile(r"(?:#{1,6}[ \t][^\n]*|[-=*_\s|:]+)\Z")


@dataclass(frozen=True, slots=True)
class AuditedStatement:
    """An entry, or a passage of a document that is in no entry and that no operation can touch."""

    spot: Spot
    text: str
    is_entry: bool
    circle: str  # which prompt it ends up in; see `circles`
    section: str = ""  # the heading it stands under

    @property
    def sha256(self) -> str:
        return entry_hash(self.text)

    @property
    def is_rule(self) -> bool:
        """A rule of a skill, which is held against memory."""
        return self.circle.startswith(SKILL)

    @property
    def place(self) -> tuple[str, str]:
        return self.spot.target, self.spot.document


@dataclass(frozen=True)
class AuditedDocument:
    """A document as it was read. `circle` names the prompt it ends up in; `project` the folder it speaks of."""

    spot: Spot
    form: FormatName
    budget: int | None
    text: str
    circle: str
    project: str | None = None

    @cached_property
    def statements(self) -> tuple[AuditedStatement, ...]:
        cuts = enumerate(_cut(self.text, self.form), 1)
        return tuple(
            AuditedStatement(replace(self.spot, number=number), text, is_entry, self.circle, section)
            for number, (text, is_entry, section) in cuts
        )


@dataclass(frozen=True, slots=True)
class Use:
    """The counts Hermes keeps of a skill. `days` is how long it has known it, if it said so."""

    count: int
    days: float | None
    pinned: bool


@dataclass(frozen=True, slots=True)
class KeptSkill:
    """A skill in a folder. Only what the Home itself reads can be amended through it."""

    spot: Spot
    skill: Skill
    files: Mapping[str, bytes]
    amendable: bool
    hermes: bool
    use: Use | None = None


@dataclass(frozen=True, slots=True)
class Traces:
    """Remains of hermes-dreaming in a Hermes home: its files, what it says it wrote, and the copies it made before."""

    home: str
    target: str
    files: tuple[str, ...]
    wrote: frozenset[str] = frozenset()
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # document -> entries of all copies


@dataclass(frozen=True, slots=True)
class Unread:
    spot: Spot
    why: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """`context` is what agents are given besides, which is nobody's memory: SOUL.md, .hermes.md."""

    documents: tuple[AuditedDocument, ...] = ()
    context: tuple[AuditedDocument, ...] = ()
    skills: tuple[KeptSkill, ...] = ()
    traces: tuple[Traces, ...] = ()
    unread: tuple[Unread, ...] = ()

    def statements(self) -> Iterator[AuditedStatement]:
        for document in self.documents:
            yield from document.statements


def _cut(text: str, form: FormatName) -> Iterator[tuple[str, bool, str]]:
    """Entries; between them the paragraphs that say something, each with its heading. Rules and headings do not."""
    section = ""
    for piece in FORMATS[form].cut(text):
        if piece.entry is not None:
            yield piece.entry, True, section
        elif form == "list":
            fenced = [found.group().strip() for found in _FENCED.finditer(piece.raw)]
            for passage in (*_PARAGRAPHS.split(_FENCED.sub("\n\n", piece.raw)), *fenced):
                lines = [line for line in passage.strip().splitlines() if not _NO_WORDS.match(line)]
                if lines and not _NO_WORDS.match(passage.strip()):
                    yield "\n".join(lines), False, section
            section = next((found[1] for found in reversed(_HEADINGS.findall(piece.raw))), section)
