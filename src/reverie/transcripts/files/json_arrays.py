"""JSON files that hold many sessions, or one enormous one, without holding the whole file.

Small files are parsed at once: that is faster and forgives more. Large ones, and those that turn out to be cut off,
are streamed, so that everything before the break is still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reverie.transcripts.files.json_files import is_large, json_lines, whole_json
from reverie.transcripts.files.json_streams import (
    CutOff,
    FileSpan,
    JsonList,
    StreamedList,
    StreamedObject,
    top_values,
    value_in_span,
)
from reverie.transcripts.readers import WHOLE_FILE, Event, Flaw

LINED = (".jsonl", ".ndjson")


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
    """The events `read` makes of each value of a file; it is told where the value stands."""
    for found in json_values(path):
        yield from [found] if isinstance(found, Flaw) else read(found[1], found[0])


def json_array(path: Path, inside: str | None = None) -> Iterator[Any | Flaw]:
    """The elements of a top-level array, or the one top-level value. `inside` names a member to look in."""
    if not is_large(path):
        value = whole_json(path)
        if not isinstance(value, Flaw):
            yield from _elements(value, inside)
            return
    read = 0
    try:
        for value in _streamed(path, inside):
            read += 1
            yield value
    except ValueError as error:
        behind = f"behind value {read}" if read else WHOLE_FILE
        yield Flaw(behind, f"not JSON from here on, or cut off ({error})")


def _streamed(path: Path, inside: str | None) -> Iterator[Any]:
    """Values that merely follow each other in a file count, too."""
    with path.open("rb") as file:
        end = file.seek(0, 2)
        first = file.seek(0) or file.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if first == b"[" and inside is None:
            yield from StreamedList(path, FileSpan(0, end))
            return
        if inside is not None:
            value = StreamedObject(path, FileSpan(0, end))
            yield from _elements(value, inside)
            if value.cut_off:
                raise CutOff("cut off")
            return
        spans, found = top_values(file), False
        for span in spans:
            found = True
            yield value_in_span(path, file, span)
        if not found:
            raise CutOff("no value")


def _elements(value: Any, inside: str | None) -> Iterator[Any]:
    if inside:
        value = value.get(inside) if isinstance(value, dict | StreamedObject) else None
        value = value if isinstance(value, JsonList) else []
    yield from value if isinstance(value, JsonList) else [value]
