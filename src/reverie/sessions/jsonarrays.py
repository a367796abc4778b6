"""JSON files that hold many sessions, or one enormous one, without holding the whole file.

Small files are parsed at once: that is faster and forgives more (NaN, raw control characters). Large ones,
and those that turn out to be cut off, are streamed, so that everything before the break is still read.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from reverie.sessions.jsonfiles import json_lines, whole_json
from reverie.sessions.reading import Event, Flaw

LINED = (".jsonl", ".ndjson")
STREAMED_FROM_BYTES = 8 * 1024 * 1024
_PIECE = 1 << 16


def json_values(path: Path) -> Iterator[tuple[str, Any] | Flaw]:
    """Each value of a file and its place: the lines of JSON Lines, or what `json_array` finds."""
    if path.suffix in LINED:
        for line in json_lines(path):
            yield line if isinstance(line, Flaw) else (f"line {line[0]}", line[1])
        return
    number = 0
    for value in json_array(path):
        if isinstance(value, Flaw):
            yield value
        else:
            number += 1
            yield f"session {number}", value


def events_of(path: Path, read: Callable[[Any, str], Iterator[Event]]) -> Iterator[Event]:
    """What `read` makes of each value of a file; it is told where the value stands."""
    for found in json_values(path):
        yield from [found] if isinstance(found, Flaw) else read(found[1], found[0])


def json_array(path: Path, inside: str | None = None) -> Iterator[Any | Flaw]:
    """The elements of a top-level array, or the one top-level value. `inside` names a member to look in."""
    if not is_large(path):
        value = whole_json(path)
        if not isinstance(value, Flaw):
            yield from _elements(value, inside)
            return
    if inside:
        yield from json_at(path, f"{inside}.item")
    else:
        yield from json_at(path, "item" if _first_byte(path) == b"[" else "")


def json_at(path: Path, prefix: str) -> Iterator[Any | Flaw]:
    """Every value at an ijson prefix, streamed. Values that merely follow each other in a file count, too."""
    import ijson  # type: ignore[import-untyped]

    read = 0
    with path.open("rb") as file:
        mended = _Mended(file)
        try:
            for value in ijson.items(mended, prefix, use_float=True, multiple_values=True):
                read += 1
                yield value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            behind = f"behind value {read}" if read else "the file"
            yield Flaw(behind, f"not JSON from here on, or cut off ({_brief(error)})")
        if mended.replaced:
            yield Flaw("the file", "not valid UTF-8; the bad bytes are shown as \N{REPLACEMENT CHARACTER}")


def is_large(path: Path) -> bool:
    return path.stat().st_size > STREAMED_FROM_BYTES


def _elements(value: Any, inside: str | None) -> Iterator[Any]:
    if inside:
        value = value.get(inside) if isinstance(value, dict) else None
        value = value if isinstance(value, list) else []
    yield from value if isinstance(value, list) else [value]


def _first_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_PIECE).removeprefix(codecs.BOM_UTF8).lstrip()[:1]


def _brief(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


class _Mended:
    """A file whose invalid UTF-8 is replaced on the way, because the parser would stop at it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self.replaced = False

    def read(self, size: int = _PIECE) -> bytes:
        text, raw = "", b"more"
        while size and raw and not text:  # a piece may end in the middle of a character
            raw = self._file.read(size)
            text = self._decoder.decode(raw, final=not raw)
            if "\N{REPLACEMENT CHARACTER}" in text and "\N{REPLACEMENT CHARACTER}".encode() not in raw:
                self.replaced = True
        return text.encode()
