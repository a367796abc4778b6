"""What a proposal changes, word by word: for people, on a screen or in a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from reverie.changes.history.change import Edit
from reverie.changes.proposal import Proposal, drawn_diff
from reverie.memory.operation import Remove

Kind = Literal["same", "gone", "new"]
_WORD = re.compile(r"\s+|\w+(?:[-.:/@]+\w+)*|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PAIRS = 4_000_000  # words of one side times words of the other; beyond that whole lines are compared
LINES_AROUND = 2
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


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
    before, after = _words(old), _words(new)
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


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


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
