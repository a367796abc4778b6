"""The Brief: all that a curator sees of one night, as values and as the text that models get.

Deterministic: the same night gives the same bytes, so that an answer can be recorded and a prompt cached. Whatever
people, agents and tools wrote is indented; only lines that begin in the first column are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property

from reverie.dreams.items import Citation

INDENT = "    "


@dataclass(frozen=True, slots=True)
class BriefDocument:
    """A document of the target. `audience` is the project it is read in; empty: everything this person does. The
    projects in `elsewhere` have a document of their own. `for_new`: what fits no other page goes there."""

    name: str
    purpose: str = ""
    audience: str = ""
    characters: int = 0
    budget: int | None = None
    elsewhere: frozenset[str] = frozenset()
    for_new: bool = False


@dataclass(frozen=True, slots=True)
class BriefEntry:
    """An entry with its short id. `since` is when it was first seen; `exact` says that it came in just then.
    One of a document that this night may not change has no `sha256`. `under` is what it belongs to and does not say
    itself: the heading or the item it stands below. `confirmed`: in how many later sessions the same was said."""

    id: str
    document: str
    text: str
    since: datetime | None = None
    exact: bool = False
    critical: bool = False
    sha256: str = ""
    under: str = ""
    confirmed: int = 0

    @property
    def whole(self) -> str:
        """The text with what it belongs to."""
        return f"{self.under}: {self.text}" if self.under else self.text

    @property
    def page(self) -> str:
        """The document, where it is a part of what is said: "Port: 5432" says something else on another page."""
        return self.document if self.under or ": " in self.text else ""

    @property
    def changeable(self) -> bool:
        return bool(self.sha256)


@dataclass(frozen=True, slots=True)
class BriefRule:
    """One rule of a skill, by an id such as k1.3."""

    id: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class BriefSkill:
    id: str
    path: str
    description: str
    rules: tuple[BriefRule, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefTurn:
    """`speaker` is one of owner, member, agent, tool, operator, with a name where there is one. `text` is what is
    shown: identifiers replaced, the agent's words shortened."""

    number: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class BriefSession:
    """`noted` says that only what was noted of it is shown."""

    id: str
    session_id: str
    day: date | None
    project: str = ""
    user: str = ""
    turns: tuple[BriefTurn, ...] = ()
    noted: bool = False


@dataclass(frozen=True, slots=True)
class BriefCandidate:
    """Something the built-in reader noticed: a pointer, not a verdict."""

    id: str
    kind: str
    citation: Citation


@dataclass(frozen=True)
class Brief:
    """`reduced` tells what was left out to make it fit, for the diary."""

    now: datetime
    owner: str
    documents: tuple[BriefDocument, ...]
    entries: tuple[BriefEntry, ...] = ()
    skills: tuple[BriefSkill, ...] = ()
    sessions: tuple[BriefSession, ...] = ()
    candidates: tuple[BriefCandidate, ...] = ()
    instructions: str = ""
    reduced: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def entry(self) -> Mapping[str, BriefEntry]:
        return {one.id: one for one in self.entries}

    @cached_property
    def session(self) -> Mapping[str, BriefSession]:
        """By the short id, and by the session's own."""
        return {one.session_id: one for one in self.sessions} | {one.id: one for one in self.sessions}

    @cached_property
    def document(self) -> Mapping[str, BriefDocument]:
        return {one.name: one for one in self.documents}

    @property
    def new_page(self) -> str | None:
        """The document for what fits no other, where there is one."""
        return next((one.name for one in self.documents if one.for_new), None)

    def render(self) -> str:
        """The text a model gets."""
        return "\n".join(self._lines()).rstrip() + "\n"

    def _lines(self) -> Iterator[str]:
        yield from (f"# The night of {self.now:%A, %Y-%m-%d}", "", f"The owner is {self.owner or 'not named'}.", "")
        if self.instructions:
            yield from ("## What was asked of this dream", "", *_indented(self.instructions), "")
        yield from ("## Documents", "", *map(_document_line, self.documents), "")
        yield from ("## Entries", "")
        for entry in self.entries:
            yield f"{entry.id} in {entry.document}{_marks(entry)}:"
            if entry.under:
                yield from _indented(f"[stands below: {entry.under}]")
            yield from _indented(entry.text)
        if not self.entries:
            yield "none"
        yield ""
        if self.skills:
            yield from ("## Skills", "")
            for skill in self.skills:
                yield f"{skill.id} {skill.path}:"
                yield from _indented(skill.description)
                for rule in skill.rules:
                    yield f"{rule.id} under {rule.section or 'no heading'}:"
                    yield from _indented(rule.text)
            yield ""
        yield from ("## Sessions", "")
        for session in self.sessions:
            day = f"{session.day:%A, %Y-%m-%d}" if session.day else "no date"
            project = f", project {session.project}" if session.project else ""
            noted = ", only what was noted of it" if session.noted else ""
            yield _one_line(f"### {session.id}, {day}{project}{noted}")
            for turn in session.turns:
                yield _one_line(f"{turn.number} {turn.speaker}:")
                yield from _indented(turn.text)
            yield ""
        if self.candidates:
            yield from ("## Noticed by the built-in reader (it misses much, and is often wrong)", "")
            for one in self.candidates:
                yield f"{one.id} {one.kind}, {one.citation.session} turn {one.citation.turn}:"
                yield from _indented(one.citation.words)
            yield ""


def _document_line(one: BriefDocument) -> str:
    purpose = f": {one.purpose}" if one.purpose else ""
    audience = f" Read in the project {one.audience} only." if one.audience else ""
    room = f" {one.characters:,} of {one.budget:,} characters are used." if one.budget is not None else ""
    return f"{one.name}{purpose}{audience}{room}"


def _marks(entry: BriefEntry) -> str:
    since = f", since {entry.since:%Y-%m-%d}" if entry.since else ""
    since = since.replace("since", "at least since") if entry.since and not entry.exact else since
    often = f", confirmed {entry.confirmed:,} time{'s' * (entry.confirmed != 1)}" if entry.confirmed else ""
    fixed = "" if entry.changeable else ", cannot be changed here"
    return f"{since}{often}{', critical' if entry.critical else ''}{fixed}"


def _one_line(text: str) -> str:
    """Names of people, tools and projects are not ours: none begins a line."""
    return " ".join(text.split())


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        yield f"{INDENT}{line}"
