"""A proposal, and a change, as one sentence that can be read without opening it, and word by word; and what
`home.inbox` tells of it: a line of a list, a page, and what came of a decision.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Literal

from reverie.changes.history import rules_in
from reverie.changes.ledger import Change, Edit, Via
from reverie.changes.proposal import Proposal, drawn_diff
from reverie.memory.formats import FORMATS
from reverie.memory.operation import Remove
from reverie.skills.edits import AddRule, RemoveRule, ReplaceRule, ReplaceSection
from reverie.skills.skill import Merge, Patch
from reverie.transcripts.records import Stored
from reverie.transcripts.session import Evidence, Turn

Kind = Literal["same", "gone", "new"]
_WORD = re.compile(r"\s+|\w+(?:[-.:/@]+\w+)*|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PAIRS = 4_000_000  # words of one side times words of the other; beyond that whole lines are compared
LINES_AROUND = 2
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
LONGEST = 110  # characters of a statement in a sentence that is to be short
WHOLE = 10**9
_WORDS_BEFORE, _MOST_PLACES = 4, 2
_VERBS = {
    "create": "Make the skill",
    "patch": "Amend the skill",
    "merge": "Merge into the skill",
    "retire": "Retire the skill",
    "revert": "Take back an amendment of the skill",
}
MANAGED_MEMORY = "memory-store:"  # what the sessions are called that quote a page of a managed memory


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Words that stand on both sides, only in the old text, or only in the new one."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place in a document that changes. `at` is the line it begins at; 0 where that is no use to a reader."""

    document: str
    at: int
    spans: tuple[WordSpan, ...]


def word_diff(old: str, new: str) -> tuple[WordSpan, ...]:
    """Every word of both texts once, in order. What lies between two changes and is only space changes with them."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) * len(after) > _MOST_PAIRS:
        before, after = _LINE.findall(old), _LINE.findall(new)
    spans: list[WordSpan] = []
    gone = added = ""
    for tag, one, end, other, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        was, now = "".join(before[one:end]), "".join(after[other:last])
        if tag != "equal":
            gone, added = gone + was, added + now
        elif (gone or added) and was.isspace() and last < len(after) and end < len(before):
            gone, added = gone + was, added + was
        else:
            spans += [*_changed(gone, added), WordSpan("same", was)]
            gone = added = ""
    return (*spans, *_changed(gone, added))


def _changed(gone: str, added: str) -> Iterator[WordSpan]:
    if gone:
        yield WordSpan("gone", gone)
    if added:
        yield WordSpan("new", added)


def removed_and_added(proposal: Proposal) -> tuple[str, str]:
    """The words a proposal about memory takes away and brings, without the marks of the document's format."""
    gone, added = Counter[str](), Counter[str]()
    for _, _, old, now in _sides(proposal.diff):
        gone.update(line.strip("\n") for line in old)
        added.update(line.strip("\n") for line in now)
    new = [one.text for one in proposal.suggestion.operations if not isinstance(one, Remove)]
    return _bare((gone - added).elements()), "\n".join(new) or _bare((added - gone).elements())


def _bare(lines: Iterable[str]) -> str:
    return "\n".join(_ITEM.sub("", line) for line in lines if line.strip() not in ("", "§"))


def hunks(proposal: Proposal) -> list[Hunk]:
    """The places that change. Memory: the statement. A skill: each part of its files, with the lines around it."""
    if proposal.suggestion.operations:
        return [Hunk(proposal.suggestion.subject, 0, word_diff(*removed_and_added(proposal)))]
    return _hunks(proposal.diff)


def edit_hunks(edits: Iterable[Edit]) -> list[Hunk]:
    """The places that a Change changed, with the lines around them."""
    return _hunks(drawn_diff("", edits, LINES_AROUND))


def _hunks(diff: str) -> list[Hunk]:
    return [Hunk(name, at, word_diff("".join(old), "".join(new))) for name, at, old, new in _sides(diff)]


def _sides(diff: str) -> Iterator[tuple[str, int, Sequence[str], Sequence[str]]]:
    """Each hunk of a unified diff: its document, its line, and what both sides say."""
    name, at, old, new = "", 0, list[str](), list[str]()
    lines = diff.splitlines(keepends=True)
    for place, line in enumerate(lines):
        heads = line.startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")
        if heads or line.startswith("@@ "):
            if old or new:
                yield name, at, old, new
            old, new = [], []
        if heads:
            both = [one[4:].strip() for one in (line, lines[place + 1])]
            name = (both[1] if both[1] != "/dev/null" else both[0]).partition("/")[2]
            at = -1  # the head's second line is not of the text
        elif line.startswith("@@ "):
            at = int(re.findall(r"\d+", line.partition("+")[2])[0])
        elif at >= 0:
            if line[:1] in (" ", "-"):
                old.append(line[1:])
            if line[:1] in (" ", "+"):
                new.append(line[1:])
    if old or new:
        yield name, at, old, new


def headline(proposal: Proposal, where: str, longest: int = LONGEST) -> str:
    """“Replace in ledgerly's memory: staging port 5433 → 6432”. `where` is how people call the document."""
    suggestion = proposal.suggestion
    if not suggestion.operations:
        amendment = suggestion.amendment
        absorbed = f" what {amendment.absorbed} says" if isinstance(amendment, Merge) else ""
        verb = _VERBS.get(suggestion.actions[0], "Change the skill")
        # The rules of a skill that an amendment changes, where it says so rule by rule.
        edits = amendment.change if isinstance(amendment, Patch) and isinstance(amendment.change, tuple) else ()
        told = []
        for edit in edits:
            match edit:
                case AddRule(_, text):
                    told.append(f"add “{shortened(text, longest)}”")
                case ReplaceRule(_, before, text):
                    told.append(_moved(before, text, longest))
                case RemoveRule(_, gone):
                    told.append(f"remove “{shortened(gone, longest)}”")
                case ReplaceSection(section):
                    told.append(f"rewrite “{section}”")
        said = "; ".join(told) or suggestion.reason
        return shortened(f"{verb}{absorbed} {where}" + (f": {said}" if said else ""), 2 * longest)
    old, new = removed_and_added(proposal)
    if old and new:
        return f"Replace in {where}: {_moved(old, new, longest)}"
    return f"{'Add to' if new else 'Remove from'} {where}: {shortened(new or old, longest)}"


def change_headline(change: Change, where: str, longest: int = LONGEST) -> str:
    """“Replaced in ledgerly's memory: staging port 5433 → 6432”: what a Change did, however it came about."""
    grounds = change.grounds
    match grounds.via:
        case Via.FOUND:
            number = len(change_statements(change)[1])
            return f"First seen: {where}, {number:,} {'entry' if number == 1 else 'entries'}"
        case Via.OUTSIDE:
            return f"From outside: {_did(change, where, longest)}"
        case Via.UNDO:
            return f"Took back {grounds.undoes}: {_did(change, where, longest)}"
        case Via.DIRECT | Via.PROPOSAL:
            return _did(change, where, longest)


def _did(change: Change, where: str, longest: int) -> str:
    made = all(edit.before is None for edit in change.edits)
    removed = all(edit.after is None for edit in change.edits)
    if change.form is None and (made or removed):
        return f"{'Made' if made else 'Removed'} the skill {where}"
    gone, new = change_statements(change)
    if len(gone) == len(new) == 1:
        return f"Replaced in {where}: {_moved(gone[0], new[0], longest)}"
    if gone and new:
        went, came = (shortened("; ".join(texts), longest // 2) for texts in (gone, new))
        return f"Replaced in {where}: {went} → {came}"
    if gone or new:
        texts = new or gone
        many = f"{len(texts):,} entries " if len(texts) > 1 else ""
        verb = f"Added {many}to" if new else f"Removed {many}from"
        return f"{verb} {where}: {shortened('; '.join(texts), longest)}"
    files = ", ".join(edit.document.removeprefix(f"{change.subject}/") for edit in change.edits)
    return shortened(f"Changed {where}" + (f" ({files})" if files not in ("", change.subject) else ""), longest)


def change_statements(change: Change) -> tuple[list[str], list[str]]:
    """The statements a Change took away and brought, one by one."""
    gone, new = list[str](), list[str]()
    for edit in change.edits:
        old, now = (Counter(_stated(change, edit.document, side)) for side in (edit.before, edit.after))
        gone += (old - now).elements()
        new += (now - old).elements()
    return gone, new


def _stated(change: Change, document: str, content: bytes | None) -> Sequence[str]:
    text = (content or b"").decode("utf-8", "backslashreplace").encode()
    if change.form is None:
        return rules_in(change.subject, document, text) if content is not None else ()
    return FORMATS[change.form].read(text).entries


def _moved(old: str, new: str, longest: int) -> str:
    """One statement before and after: the words that differ with a few before them, or both of them whole."""
    spans = word_diff(old, new)
    places = [at for at, span in enumerate(spans) if span.kind != "same" and (at == 0 or spans[at - 1].kind == "same")]
    kept = sum(len(span.text) for span in spans if span.kind == "same")
    if len(places) > _MOST_PLACES or kept * 2 < min(len(old), len(new)):
        return f"{shortened(old, longest // 2)} → {shortened(new, longest // 2)}"
    return "; ".join(_place(spans, at, longest // 2) for at in places)


def _place(spans: tuple[WordSpan, ...], at: int, longest: int) -> str:
    before = spans[at - 1].text.split()[-_WORDS_BEFORE:] if at else []
    here = [span for span in spans[at : at + 2] if span.kind != "same"]
    gone = "".join(span.text for span in here if span.kind == "gone")
    new = "".join(span.text for span in here if span.kind == "new")
    moved = f"{shortened(gone, longest) or 'nothing'} → {shortened(new, longest) or 'nothing'}"
    return " ".join([*before, moved])


def shortened(text: str, most: int = LONGEST) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


# ---- what the inbox tells --------------------------------------------------------------------------------------------


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
