"""What `home.inbox` tells: a proposal as a line of a list and as a page, and what came of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from reverie.changes.history.change import Edit
from reverie.changes.inbox.headline import Hunk
from reverie.changes.proposal import Proposal
from reverie.transcripts.records import Stored
from reverie.transcripts.session import Evidence, Turn

MANAGED_MEMORY = "memory-store:"  # what the sessions are called that quote a page of a managed memory


@dataclass(frozen=True, slots=True)
class Voice:
    """The speaker and the time, as far as the transcript tells."""

    evidence: Evidence
    who: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A proposal as a line of a list. `where` is how people call what it changes; `standing` is what became of it."""

    proposal: Proposal
    where: str
    sentence: str
    standing: str
    can_undo: bool = False
    voices: tuple[Voice, ...] = ()

    @property
    def first(self) -> Voice | None:
        return self.voices[0] if self.voices else None

    @property
    def project(self) -> str:
        """The project in whose sessions all of it was said; "" where that is several, or in the name already."""
        project = self.proposal.project
        return "" if self.where.startswith(f"{project}'s ") else project

    @property
    def page(self) -> str:
        """The page of a managed memory that it comes from, where it does."""
        named = next((one.session_id for one in self.proposal.suggestion.evidence), "")
        return PurePosixPath(named).stem if named.startswith(MANAGED_MEMORY) else ""

    @property
    def theme(self) -> str:
        """The key of what is decided together: changes of one thing, of one page where a managed memory says it."""
        return f"{self.where} · {self.page}" if self.page else self.where


@dataclass(frozen=True, slots=True)
class Group:
    """The proposals of one night for one document out of one project's sessions, or of one page of a managed memory.
    `dream` is None for what a person proposed."""

    dream: str | None
    made_at: datetime
    where: str
    project: str
    items: tuple[InboxItem, ...]

    @property
    def page(self) -> str:
        return self.items[0].page

    @property
    def open(self) -> list[InboxItem]:
        """Those that can be approved together: nothing of them is blocked."""
        return [one for one in self.items if not one.proposal.blocked]


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which part of what waits is listed: of one night, of what people call `where`, of one project; with `every` also
    what waits behind today's limit; `snoozed`: what was put off, instead."""

    where: str = ""
    night: str = ""
    project: str = ""
    every: bool = False
    snoozed: bool = False
    page: int = 1

    @property
    def narrows(self) -> bool:
        return bool(self.where or self.night or self.project)


@dataclass(frozen=True, slots=True)
class InboxChoices:
    """The values a list can be narrowed to: nights with when they proposed something and for which target, documents
    and skills, projects."""

    nights: tuple[tuple[str, datetime, str], ...]
    places: tuple[str, ...]
    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InboxList:
    """One page. By night, the newest first; within a night by document, the best first. `count` are asked today, on
    all pages; `behind` wait behind those; `snoozed` were put off; `mark` changes whenever what waits does."""

    groups: tuple[Group, ...]
    count: int
    behind: int
    mark: str
    page: int = 1
    pages: int = 1
    snoozed: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """Quotations where they were said: those that are close together in one session. `session` is None, and there are
    no turns, where the session is gone."""

    quotes: tuple[Evidence, ...]
    session: Stored | None
    turns: tuple[Turn, ...]

    @property
    def first(self) -> Evidence:
        return self.quotes[0]

    def quoted(self, turn: int) -> list[str]:
        """The quoted part of a turn."""
        return [one.quote for one in self.quotes if one.turn == turn]


@dataclass(frozen=True, slots=True)
class Preview:
    """The files as they would read. `budget`, in characters, is that of a memory document."""

    edits: tuple[Edit, ...]
    budget: int | None

    @property
    def characters(self) -> int:
        return sum(len(one.after.decode("utf-8", "replace")) for one in self.edits if one.after is not None)


@dataclass(frozen=True, slots=True)
class Detail:
    """All that a person needs to decide. `text` is what may be edited, "" where there is nothing to write; `problem`
    says why it could not land as things are; `elsewhere` are the documents and skills it could be moved to."""

    item: InboxItem
    hunks: tuple[Hunk, ...]
    passages: tuple[Passage, ...]
    checks: tuple[tuple[str, str], ...]
    preview: Preview | None
    problem: str
    text: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictResult:
    """The outcome of a person's verdict. `done` is False where nothing was changed by it; `unsafe` where only a person
    who has read the findings may let it pass; `again` is the proposal as which what was taken back waits now;
    `checks` are those of the night, run again on what a person made of it."""

    proposal: Proposal
    done: bool
    said: str
    unsafe: bool = False
    again: str = ""
    checks: tuple[tuple[str, str], ...] = ()
