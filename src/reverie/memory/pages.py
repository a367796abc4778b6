"""The page format: a Markdown page as agents and people write notes, and the pieces every format cuts a document into.

On a page each statement is an entry wherever it stands: the sentences of paragraphs and of list items at any depth, and
lines that are statements by themselves ("Editor: vim"). Headings, code, tables, quotations, comments and front matter
are opaque, and so is a label ("Hosts:").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document. `entry` is the statement in it, or None for what is nobody's statement."""

    raw: str
    entry: str | None = None

    @property
    def lead(self) -> str:
        """The characters before the statement: white space, the marker of a list."""
        return self.raw[: self.raw.find(self.entry or "")]

    @property
    def trail(self) -> str:
        return self.raw[len(self.lead) + len(self.entry or "") :]


def swapped(piece: Piece, text: str) -> Piece:
    """The piece with its statement exchanged, what is around it kept."""
    return Piece(piece.lead + text + piece.trail, text)


def fence_after(line: str, fence: str) -> str:
    """The fence that is open behind this line, or nothing."""
    marker = _FENCE.match(line)
    if marker is None:
        return fence
    if not fence:
        return marker.group(1)
    return "" if line.strip().startswith(fence) else fence


_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_OPAQUE = re.compile(
    r"\s*\Z|[ ]{0,3}(?:#{1,6}(?:[ \t]|$)|[|>]|<[!/a-zA-Z]|(?:[-*_][ \t]*){3,}\s*\Z|=+\s*\Z)|\[[^\]]+\]:\s"
)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)
_PAIR = re.compile(r"[^\s:][^:.!?\n]{0,40}:[ \t]+\S")
_OPENS = re.compile(r"[\"'(\[*_`]*[A-ZÀ-ÞА-Я\d]")
_SHORT = ("e.g", "i.e", "etc", "vs", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "z", "d")
_INITIAL, _NUMBER = r"(?<![ (][A-Z]\.)(?<!^[A-Z]\.)", r"(?!(?<=\b[Nn]o\.)\s+\d)"
_ABBREVIATED = _INITIAL + _NUMBER + "".join(rf"(?<!\b{re.escape(one)}\.)" for one in _SHORT)
_SENTENCE = re.compile(
    rf"(?<=[.!?]){_ABBREVIATED}[\"')\]*_]*\s+(?!\d+[.)](?:\s|\Z))(?=[\"'(\[*_`]*[A-ZÀ-ÞА-Я\d])|(?<=[。！？])\s*"
)
_WORD = re.compile(r"\w{3,}")
_LONGEST_LINE = 120


def cut_page(text: str) -> list[Piece]:
    if _is_data(text):
        return [Piece(text)] if text else []
    pieces: list[Piece] = []
    for piece in _cut(text):
        if piece.entry is None and pieces and pieces[-1].entry is None:
            pieces[-1] = Piece(pieces[-1].raw + piece.raw)
        else:
            pieces.append(piece)
    return pieces


def _is_data(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _cut(text: str) -> Iterator[Piece]:
    matter = FRONT_MATTER.match(text)
    opaque = matter.group() if matter else ""
    if opaque:
        yield Piece(opaque)
    fence, block = "", list[str]()
    for line in text[len(opaque) :].splitlines(keepends=True):
        was_fenced, fence = bool(fence), fence_after(line, fence)
        code = (
            not block and line.startswith(("    ", "\t")) and _ITEM.match(line) is None
        )  # indented, and under no item
        shut = was_fenced or bool(fence) or code or _OPAQUE.match(line) is not None
        if block and (shut or _ITEM.match(line) or not _goes_on(line, block)):
            yield from _statements(block)
            block = []
        if shut:
            yield Piece(line)
        else:
            block.append(line)
    yield from _statements(block)


def _goes_on(line: str, block: Sequence[str]) -> bool:
    """A line belongs to what stands before it, unless each is a statement by itself."""
    if _ITEM.match(block[0]):
        return line[:1] in " \t"
    last = block[-1].rstrip()
    if _PAIR.match(line):
        return False
    by_itself = not last.endswith((".", "!", "?", ",", ";", "-", "–")) and _OPENS.match(line) is not None
    return not (by_itself and max(len(last), len(line)) <= _LONGEST_LINE)


def _statements(block: Sequence[str]) -> Iterator[Piece]:
    raw = "".join(block)
    mark = _ITEM.match(raw)
    start = mark.end() if mark else len(raw) - len(raw.lstrip())
    body = raw[start:].rstrip()
    if not body or body.rstrip("*_ ").endswith(":"):
        if raw:
            yield Piece(raw)
        return
    cuts = [start, *(start + found.end() for found in _SENTENCE.finditer(body) if found.end() < len(body)), len(raw)]
    cuts[0] = 0
    for begin, end in pairwise(cuts):
        part = raw[begin:end]
        lead = start if begin == 0 else 0
        yield Piece(part, part[lead:].rstrip() or None)


# ---- editing ---------------------------------------------------------------------------------------------------------


def add_to_page(pieces: list[Piece], text: str) -> list[Piece]:
    """Behind the list that speaks of the same things, in its manner; a page without lists gets a paragraph more."""
    line = "\r\n" if any("\r\n" in piece.raw for piece in pieces) else "\n"
    runs = list(_lists(pieces))
    if not runs:
        whole = "".join(piece.raw for piece in pieces)
        gap = "" if not whole else line if whole.endswith("\n") else line * 2
        return [*pieces, *([Piece(gap)] if gap else []), Piece(text + line, text)]
    words = frozenset(_WORD.findall(text.casefold()))
    first, last = max(runs, key=lambda run: (_shared(pieces, run, words), run))
    mark = _ITEM.match(pieces[first].raw)
    lead = f"{mark['indent']}{'-' if mark['mark'][0].isdigit() else mark['mark']} " if mark else "- "
    before = pieces[: last + 1]
    if not before[-1].raw.endswith("\n"):
        before[-1] = Piece(before[-1].raw + line, before[-1].entry)
        return [*before, Piece(lead + text, text), *pieces[last + 1 :]]
    return [*before, Piece(lead + text + line, text), *pieces[last + 1 :]]


def _lists(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """First and last place of every list."""
    first: int | None = None
    for place, piece in enumerate([*pieces, Piece("\n")]):
        if piece.entry is None:
            if first is not None:
                yield first, place - 1
            first = None
        elif first is None and _ITEM.match(piece.raw):
            first = place


def _shared(pieces: Sequence[Piece], run: tuple[int, int], words: frozenset[str]) -> int:
    """Count the words that a list and the heading above it share with a text."""
    above = _HEADING.findall(pieces[run[0] - 1].raw) if run[0] else []
    told = " ".join([*above[-1:], *(piece.entry or "" for piece in pieces[run[0] : run[1] + 1])])
    return len(words & frozenset(_WORD.findall(told.casefold())))


def remove_from_page(pieces: list[Piece], place: int) -> list[Piece]:
    """Without the statement, and with every other: where two would run into one another, a blank line parts them."""
    left = [piece.entry for at, piece in enumerate(pieces) if at != place and piece.entry is not None]
    tries = [_taken_out(pieces, place)]
    tries += [[*pieces[:place], Piece(gap), *pieces[place + 1 :]] for gap in ("\n", "\n\n", "\n\n<!-- -->\n\n")]
    for one in tries:
        read = cut_page("".join(piece.raw for piece in one))
        if [piece.entry for piece in read if piece.entry is not None] == left:
            return one
    return tries[-1]


def _taken_out(pieces: list[Piece], place: int) -> list[Piece]:
    """The statement with its line, or its part of the line. A marker stays for what follows on the same line."""
    before, gone, after = pieces[:place], pieces[place], pieces[place + 1 :]
    if "\n" not in gone.trail and after and after[0].entry is not None:
        after[0] = Piece(gone.lead + after[0].raw, after[0].entry)
        return before + after
    if before and before[-1].entry is not None and not before[-1].raw.endswith("\n"):
        before[-1] = Piece(before[-1].raw.rstrip() + gone.trail, before[-1].entry)
        return before + after
    alone = not before or before[-1].raw.endswith(("\n\n", "\r\n\r\n"))
    if alone and after and after[0].entry is None and after[0].raw.startswith(("\n", "\r\n")):
        rest = after[0].raw.removeprefix("\r\n").removeprefix("\n")
        after = [*([Piece(rest)] if rest else []), *after[1:]]
    return before + after


def words_left(content: bytes) -> bytes | None:
    """The words of a page; empty, if there are only headings and white space."""
    text = content.decode("utf-8", "surrogateescape")
    return content if _HEADING.sub("", text).strip() else None
