"""How a document's bytes are split into Entries and joined again without loss.

A format cuts a document into pieces that lie side by side: entries, and opaque stretches between them. Joining the
pieces gives the same bytes, always; an edit changes only the pieces it names. Bytes that are not UTF-8 travel
through as they are.

Entries that come from elsewhere: an export of ours, a Hermes document, any Markdown list, and a page as agents and
people write notes. On a page each statement is an entry wherever it stands: the sentences of paragraphs and of list
items at any depth, and lines that are statements by themselves ("Editor: vim"). Headings, code, tables, quotations,
comments and front matter are opaque, and so is a label ("Hosts:").
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from reverie.core.errors import BadInput

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
FormatName = Literal["hermes", "list", "page", "whole"]
_DELIMITER = re.compile(r"\r?\n§\r?\n")
_LIST_ITEM = re.compile(r"(?P<indent> {0,3})(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?=\S)")
_PAGE_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
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


@dataclass(frozen=True, slots=True)
class Document:
    pieces: tuple[Piece, ...]

    def to_bytes(self) -> bytes:
        return "".join(piece.raw for piece in self.pieces).encode("utf-8", "surrogateescape")

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(piece.entry for piece in self.pieces if piece.entry is not None)

    def places(self) -> list[int]:
        return [place for place, piece in enumerate(self.pieces) if piece.entry is not None]


class Format(ABC):
    """`cut` splits; `added`, `replaced` and `removed` edit a list of pieces at a place."""

    @abstractmethod
    def cut(self, text: str) -> list[Piece]: ...

    @abstractmethod
    def added(self, pieces: list[Piece], text: str) -> list[Piece]: ...

    def replaced(self, pieces: list[Piece], place: int, text: str) -> list[Piece]:
        """The piece with its statement exchanged, what is around it kept."""
        old = pieces[place]
        return [*pieces[:place], Piece(old.lead + text + old.trail, text), *pieces[place + 1 :]]

    def removed(self, pieces: list[Piece], place: int) -> list[Piece]:
        return pieces[:place] + pieces[place + 1 :]

    def read(self, content: bytes) -> Document:
        return Document(tuple(self.cut(content.decode("utf-8", "surrogateescape"))))


def fence_after(line: str, fence: str) -> str:
    """The fence that is open behind this line, or nothing."""
    marker = _FENCE.match(line)
    if marker is None:
        return fence
    if not fence:
        return marker.group(1)
    return "" if line.strip().startswith(fence) else fence


def _at_the_end(pieces: list[Piece], new: Piece, line: str) -> list[Piece]:
    """A paragraph more, parted by a blank line from what stands there."""
    whole = "".join(piece.raw for piece in pieces)
    gap = "" if not whole else line if whole.endswith("\n") else line * 2
    return [*pieces, *([Piece(gap)] if gap else []), new]


class HermesFormat(Format):
    """Statements between lines that hold only a section sign."""

    def cut(self, text: str) -> list[Piece]:
        pieces, place = [], 0
        for delimiter in [*_DELIMITER.finditer(text), None]:
            end = delimiter.start() if delimiter else len(text)
            raw = text[place:end]
            if raw:
                pieces.append(Piece(raw, raw.strip() or None))
            if delimiter:
                pieces.append(Piece(delimiter.group()))
                place = delimiter.end()
        return pieces

    def added(self, pieces: list[Piece], text: str) -> list[Piece]:
        if not any(piece.entry for piece in pieces):
            return [*pieces, Piece(text, text)]
        ended = pieces[-1].entry is None and _DELIMITER.fullmatch(pieces[-1].raw)
        return [*pieces, *([] if ended else [Piece("\n§\n")]), Piece(text, text)]

    def removed(self, pieces: list[Piece], place: int) -> list[Piece]:
        """One delimiter goes with the entry: the one behind it, or before it at the end."""
        before, after = pieces[:place], pieces[place + 1 :]
        if after and _DELIMITER.fullmatch(after[0].raw):
            return before + after[1:]
        if before and _DELIMITER.fullmatch(before[-1].raw):
            return before[:-1] + after
        return before + after


class ListFormat(Format):
    """Markdown items; everything else is opaque."""

    def cut(self, text: str) -> list[Piece]:
        """Top-level items with what is indented below them. Fenced code outside an item is not searched for items."""
        matter = FRONT_MATTER.match(text)
        opaque = matter.group() if matter else ""  # what a harness says about the document is not a statement in it
        stretches: list[tuple[bool, list[str]]] = [(False, [opaque])] if opaque else []
        fence = ""
        for line in text[len(opaque) :].splitlines(keepends=True):
            if stretches and stretches[-1][0] and line[:1] in " \t" and line.strip():
                stretches[-1][1].append(line)  # indented under an item: it belongs to it
                continue
            was_fenced, fence = bool(fence), fence_after(line, fence)
            is_item = not was_fenced and not fence and _LIST_ITEM.match(line) is not None
            if is_item or not stretches or stretches[-1][0]:
                stretches.append((is_item, [line]))
            else:
                stretches[-1][1].append(line)
        pieces = list[Piece]()
        for is_item, raw in ((is_item, "".join(lines)) for is_item, lines in stretches):
            mark = _LIST_ITEM.match(raw) if is_item else None
            pieces.append(Piece(raw, (raw[mark.end() :] if mark else raw).rstrip() or None) if is_item else Piece(raw))
        return pieces

    def added(self, pieces: list[Piece], text: str) -> list[Piece]:
        """At the end of the last list, with its marker and the document's own line ends."""
        line = "\r\n" if any("\r\n" in piece.raw for piece in pieces) else "\n"
        places = [place for place, piece in enumerate(pieces) if piece.entry is not None]
        if not places:
            return _at_the_end(pieces, Piece(f"- {_indented(text, 2)}{line}", text), line)
        last = places[-1]
        mark = _LIST_ITEM.match(pieces[last].raw)
        lead = mark.group() if mark and not mark["mark"][0].isdigit() else "- "
        ending = "" if pieces[last].raw.endswith("\n") else line
        new = [Piece(ending)] if ending else []
        new.append(Piece(f"{lead}{_indented(text, len(lead))}{'' if ending else line}", text))
        return pieces[: last + 1] + new + pieces[last + 1 :]

    def replaced(self, pieces: list[Piece], place: int, text: str) -> list[Piece]:
        mark = _LIST_ITEM.match(pieces[place].raw)
        width = len(mark.group()) if mark else 2
        old = pieces[place]
        return [*pieces[:place], Piece(old.lead + _indented(text, width) + old.trail, text), *pieces[place + 1 :]]


def _indented(text: str, width: int) -> str:
    """A statement of several lines stays one item: its later lines stand under the first."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * width + line.strip() if line.strip() else line for line in rest)])


def _cut(text: str) -> Iterator[Piece]:
    matter = FRONT_MATTER.match(text)
    opaque = matter.group() if matter else ""
    if opaque:
        yield Piece(opaque)
    fence, block = "", list[str]()
    for line in text[len(opaque) :].splitlines(keepends=True):
        was_fenced, fence = bool(fence), fence_after(line, fence)
        # Code is indented, and under no item.
        code = not block and line.startswith(("    ", "\t")) and _PAGE_ITEM.match(line) is None
        shut = was_fenced or bool(fence) or code or _OPAQUE.match(line) is not None
        if block and (shut or _PAGE_ITEM.match(line) or not _goes_on(line, block)):
            yield from _statements(block)
            block = []
        if shut:
            yield Piece(line)
        else:
            block.append(line)
    yield from _statements(block)


def _goes_on(line: str, block: Sequence[str]) -> bool:
    """A line belongs to what stands before it, unless each is a statement by itself."""
    if _PAGE_ITEM.match(block[0]):
        return line[:1] in " \t"
    last = block[-1].rstrip()
    if _PAIR.match(line):
        return False
    by_itself = not last.endswith((".", "!", "?", ",", ";", "-", "–")) and _OPENS.match(line) is not None
    return not (by_itself and max(len(last), len(line)) <= _LONGEST_LINE)


def _statements(block: Sequence[str]) -> Iterator[Piece]:
    raw = "".join(block)
    mark = _PAGE_ITEM.match(raw)
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


def _lists(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """First and last place of every list."""
    first: int | None = None
    for place, piece in enumerate([*pieces, Piece("\n")]):
        if piece.entry is None:
            if first is not None:
                yield first, place - 1
            first = None
        elif first is None and _PAGE_ITEM.match(piece.raw):
            first = place


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


class PageFormat(Format):
    """Every statement of a Markdown page, wherever it stands."""

    def cut(self, text: str) -> list[Piece]:
        if text.lstrip().startswith(("{", "[")):
            with suppress(ValueError):
                json.loads(text)
                return [Piece(text)]  # data, which says nothing
        pieces: list[Piece] = []
        for piece in _cut(text):
            if piece.entry is None and pieces and pieces[-1].entry is None:
                pieces[-1] = Piece(pieces[-1].raw + piece.raw)
            else:
                pieces.append(piece)
        return pieces

    def added(self, pieces: list[Piece], text: str) -> list[Piece]:
        """Behind the list that speaks of the same things, in its manner; a page without lists gets a paragraph more."""
        line = "\r\n" if any("\r\n" in piece.raw for piece in pieces) else "\n"
        runs = list(_lists(pieces))
        if not runs:
            return _at_the_end(pieces, Piece(text + line, text), line)
        words = frozenset(_WORD.findall(text.casefold()))

        def shared(run: tuple[int, int]) -> int:
            """Count the words that a list and the heading above it share with the text."""
            above = _HEADING.findall(pieces[run[0] - 1].raw) if run[0] else []
            told = " ".join([*above[-1:], *(piece.entry or "" for piece in pieces[run[0] : run[1] + 1])])
            return len(words & frozenset(_WORD.findall(told.casefold())))

        first, last = max(runs, key=lambda run: (shared(run), run))
        mark = _PAGE_ITEM.match(pieces[first].raw)
        lead = f"{mark['indent']}{'-' if mark['mark'][0].isdigit() else mark['mark']} " if mark else "- "
        before = pieces[: last + 1]
        if not before[-1].raw.endswith("\n"):
            before[-1] = Piece(before[-1].raw + line, before[-1].entry)
            return [*before, Piece(lead + text, text), *pieces[last + 1 :]]
        return [*before, Piece(lead + text + line, text), *pieces[last + 1 :]]

    def removed(self, pieces: list[Piece], place: int) -> list[Piece]:
        """Without the statement, and with every other: where two would run together, a blank line parts them."""
        left = [piece.entry for at, piece in enumerate(pieces) if at != place and piece.entry is not None]
        tries = [_taken_out(pieces, place)]
        tries += [[*pieces[:place], Piece(gap), *pieces[place + 1 :]] for gap in ("\n", "\n\n", "\n\n<!-- -->\n\n")]
        for one in tries:
            read = self.cut("".join(piece.raw for piece in one))
            if [piece.entry for piece in read if piece.entry is not None] == left:
                return one
        return tries[-1]


def words_left(content: bytes) -> bytes | None:
    """The words of a page; empty, if there are only headings and white space."""
    text = content.decode("utf-8", "surrogateescape")
    return content if _HEADING.sub("", text).strip() else None


class WholeFormat(Format):
    """The document is one statement."""

    def cut(self, text: str) -> list[Piece]:
        return [Piece(text, text)] if text else []

    def added(self, pieces: list[Piece], text: str) -> list[Piece]:
        return [Piece(text, text)]

    def removed(self, pieces: list[Piece], place: int) -> list[Piece]:
        return []


FORMATS: dict[FormatName, Format] = {
    "hermes": HermesFormat(),
    "list": ListFormat(),
    "page": PageFormat(),
    "whole": WholeFormat(),
}


def entries_in(content: bytes, name: str, document: str | None = None) -> list[str]:
    """The statements in a file, in order. `document` chooses among those of an export."""
    text = content.decode("utf-8", "surrogateescape")
    if text.lstrip().startswith("{"):
        try:
            exported = json.loads(text)["entries"]
            found = [str(one["text"]) for one in exported if document in (None, one.get("document"))]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"It begins like JSON but is not an export of Reverie: {error!r}.") from error
    else:
        form = FORMATS["hermes" if "\n§\n" in text.replace("\r\n", "\n") else "list"]
        found = [piece.entry for piece in form.cut(text) if piece.entry is not None]
    if not found:
        raise BadInput(
            f"{name} holds no entries.",
            expected="an export of `reverie memory export`, entries between lines with §, or a Markdown list",
        )
    return list(dict.fromkeys(found))
