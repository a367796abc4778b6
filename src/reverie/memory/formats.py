"""How a document's bytes are split into Entries and joined again without loss.

A format cuts a document into pieces that lie side by side: entries, and opaque stretches between them. Joining the
pieces gives the same bytes, always; an edit changes only the pieces it names. Bytes that are not UTF-8 travel
through as they are.

Entries that come from elsewhere: an export of ours, a Hermes document, any Markdown list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from reverie.core.errors import BadInput
from reverie.memory.pages import FRONT_MATTER, Piece, add_to_page, cut_page, fence_after, remove_from_page, swapped

FormatName = Literal["hermes", "list", "page", "whole"]
_DELIMITER = re.compile(r"\r?\n§\r?\n")
_ITEM = re.compile(r"(?P<indent> {0,3})(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?=\S)")


@dataclass(frozen=True, slots=True)
class Document:
    """A document cut into its pieces."""

    pieces: tuple[Piece, ...]

    def to_bytes(self) -> bytes:
        return "".join(piece.raw for piece in self.pieces).encode("utf-8", "surrogateescape")

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(piece.entry for piece in self.pieces if piece.entry is not None)

    def places(self) -> list[int]:
        return [place for place, piece in enumerate(self.pieces) if piece.entry is not None]


@dataclass(frozen=True, slots=True)
class Format:
    """`cut` splits; `added`, `replaced` and `removed` edit a list of pieces at a place."""

    name: FormatName
    cut: Callable[[str], list[Piece]]
    added: Callable[[list[Piece], str], list[Piece]]
    replaced: Callable[[list[Piece], int, str], list[Piece]]
    removed: Callable[[list[Piece], int], list[Piece]]

    def read(self, content: bytes) -> Document:
        return Document(tuple(self.cut(content.decode("utf-8", "surrogateescape"))))


# ---- hermes: statements between lines that hold only a section sign --------------------------------------------


def _cut_hermes(text: str) -> list[Piece]:
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


def _add_hermes(pieces: list[Piece], text: str) -> list[Piece]:
    if not any(piece.entry for piece in pieces):
        return [*pieces, Piece(text, text)]
    ended = pieces[-1].entry is None and _DELIMITER.fullmatch(pieces[-1].raw)
    return [*pieces, *([] if ended else [Piece("\n§\n")]), Piece(text, text)]


def _replace_at(pieces: list[Piece], place: int, text: str) -> list[Piece]:
    return [*pieces[:place], swapped(pieces[place], text), *pieces[place + 1 :]]


def _remove_hermes(pieces: list[Piece], place: int) -> list[Piece]:
    """One delimiter goes with the entry: the one behind it, or before it at the end."""
    before, after = pieces[:place], pieces[place + 1 :]
    if after and _DELIMITER.fullmatch(after[0].raw):
        return before + after[1:]
    if before and _DELIMITER.fullmatch(before[-1].raw):
        return before[:-1] + after
    return before + after


# ---- list: Markdown items; everything else is opaque ------------------------------------------------------------


def _cut_list(text: str) -> list[Piece]:
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
        is_item = not was_fenced and not fence and _ITEM.match(line) is not None
        if is_item or not stretches or stretches[-1][0]:
            stretches.append((is_item, [line]))
        else:
            stretches[-1][1].append(line)
    return [(_item_piece if is_item else Piece)("".join(lines)) for is_item, lines in stretches]


def _item_piece(raw: str) -> Piece:
    mark = _ITEM.match(raw)
    body = raw[mark.end() :] if mark else raw
    return Piece(raw, body.rstrip() or None)


def _add_list(pieces: list[Piece], text: str) -> list[Piece]:
    """At the end of the last list, with its marker and the document's own line ends."""
    line = "\r\n" if any("\r\n" in piece.raw for piece in pieces) else "\n"
    places = [place for place, piece in enumerate(pieces) if piece.entry is not None]
    if not places:
        whole = "".join(piece.raw for piece in pieces)
        gap = "" if not whole else line if whole.endswith("\n") else line * 2
        return [*pieces, *([Piece(gap)] if gap else []), Piece(f"- {_indented(text, 2)}{line}", text)]
    last = places[-1]
    mark = _ITEM.match(pieces[last].raw)
    lead = mark.group() if mark and not mark["mark"][0].isdigit() else "- "
    ending = "" if pieces[last].raw.endswith("\n") else line
    new = [Piece(ending)] if ending else []
    new.append(Piece(f"{lead}{_indented(text, len(lead))}{'' if ending else line}", text))
    return pieces[: last + 1] + new + pieces[last + 1 :]


def _replace_list(pieces: list[Piece], place: int, text: str) -> list[Piece]:
    mark = _ITEM.match(pieces[place].raw)
    width = len(mark.group()) if mark else 2
    exchanged = swapped(pieces[place], _indented(text, width))
    return [*pieces[:place], Piece(exchanged.raw, text), *pieces[place + 1 :]]


def _indented(text: str, width: int) -> str:
    """A statement of several lines stays one item: its later lines stand under the first."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * width + line.strip() if line.strip() else line for line in rest)])


FORMATS: dict[FormatName, Format] = {
    "hermes": Format("hermes", _cut_hermes, _add_hermes, _replace_at, _remove_hermes),
    "list": Format(
        "list", _cut_list, _add_list, _replace_list, lambda pieces, place: pieces[:place] + pieces[place + 1 :]
    ),
    "page": Format("page", cut_page, add_to_page, _replace_at, remove_from_page),
    "whole": Format(  # the document is one statement
        "whole",
        lambda text: [Piece(text, text)] if text else [],
        lambda _, text: [Piece(text, text)],
        _replace_at,
        lambda *_: [],
    ),
}


def entries_in(content: bytes, name: str, document: str | None = None) -> list[str]:
    """The statements in a file, in order. `document` chooses among those of an export."""
    text = content.decode("utf-8", "surrogateescape")
    if text.lstrip().startswith("{"):
        found = _exported(text, document)
    else:
        form = FORMATS["hermes" if "\n§\n" in text.replace("\r\n", "\n") else "list"]
        found = [piece.entry for piece in form.cut(text) if piece.entry is not None]
    if not found:
        raise BadInput(
            f"{name} holds no entries.",
            expected="an export of `reverie memory export`, entries between lines with §, or a Markdown list",
        )
    return list(dict.fromkeys(found))


def _exported(text: str, document: str | None) -> list[str]:
    try:
        told = json.loads(text)
        entries = told["entries"]
        return [str(one["text"]) for one in entries if document in (None, one.get("document"))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"It begins like JSON but is not an export of Reverie: {error!r}.") from error
