"""What stands where an agent reads it: documents cut into statements, skills, and what another tool left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from reverie.audit.finding import Spot
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import entry_hash
from reverie.skills.skill import Skill

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
        return tuple(
            AuditedStatement(
                Spot(self.spot.home, self.spot.target, self.spot.document, number), *cut[:2], self.circle, cut[2]
            )
            for number, cut in enumerate(_cut(self.text, self.form), 1)
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
    """Something that is there and could not be read, with why."""

    spot: Spot
    why: str


@dataclass(frozen=True, slots=True)
class Inventory:
    documents: tuple[AuditedDocument, ...] = ()
    context: tuple[
        AuditedDocument, ...
    ] = ()  # what agents are given besides, which is nobody's memory: SOUL.md, .hermes.md
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
            for passage in _passages(piece.raw):
                yield passage, False, section
            section = next((found[1] for found in reversed(_HEADINGS.findall(piece.raw))), section)


def _passages(raw: str) -> Iterator[str]:
    fenced = [found.group().strip() for found in _FENCED.finditer(raw)]
    for passage in (*_PARAGRAPHS.split(_FENCED.sub("\n\n", raw)), *fenced):
        lines = [line for line in passage.strip().splitlines() if not _NO_WORDS.match(line)]
        if lines and not _NO_WORDS.match(passage.strip()):
            yield "\n".join(lines)
