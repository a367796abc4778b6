"""JSON and JSON Lines as harnesses really leave them: cut off, half-written, wrongly encoded, enormous.

Small files are parsed at once: that is faster and forgives more. Large ones, and those that turn out to be cut off,
are streamed, so that everything before the break is still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reverie.transcripts.files import check_time, decoded
from reverie.transcripts.json_streams import (
    PIECE,
    CutOff,
    FileSpan,
    JsonList,
    StreamedList,
    StreamedObject,
    parsed,
    top_values,
    value_in_span,
)
from reverie.transcripts.readers import WHOLE_FILE, Event, Flaw

_CUT_LINE = "the last line is cut off; it is read again once it is complete"
BAD_BYTES = "not valid UTF-8; the bad bytes are shown as \N{REPLACEMENT CHARACTER}"


def json_lines(path: Path) -> Iterator[tuple[int, Any] | Flaw]:
    """Each line's number and value; a line that cannot be used is a Flaw and the next one is read."""
    with path.open("rb") as file:
        number = place = 0
        while line := file.readline(PIECE + 1):
            check_time()
            number += 1
            end, rest = place + len(line), line
            while not rest.endswith(b"\n") and (rest := file.readline(1 << 20)):
                check_time()
                end += len(rest)
            if len(line) > PIECE:
                yield _long_line(path, number, FileSpan(place, end))
                file.seek(end)
            elif line.strip():
                text, flawed = decoded(line)
                if flawed:
                    yield Flaw(f"line {number}", BAD_BYTES)
                try:
                    value = parsed(text)
                except ValueError as error:
                    why = f"not JSON ({error})" if line.endswith(b"\n") else _CUT_LINE
                    yield Flaw(f"line {number}", why)
                else:
                    yield number, value
            place = end


def _long_line(path: Path, number: int, span: FileSpan) -> tuple[int, Any] | Flaw:
    """A line that is too long to hold: its beginning may be the whole conversation."""
    try:
        with path.open("rb") as file:
            value = value_in_span(path, file, span)
    except ValueError as error:
        return Flaw(f"line {number}", f"{span.size:,} bytes long, and not JSON ({error})")
    if isinstance(value, StreamedObject) and value.cut_off:
        return Flaw(f"line {number}", _CUT_LINE)
    return number, value


def whole_json(path: Path) -> Any | Flaw:
    """The one value of a JSON file, or why there is none. Of a large one only what is asked for is read."""
    try:
        if is_large(path):
            with path.open("rb") as file:
                return value_in_span(path, file, next(top_values(file), FileSpan(0, 0)))
        return parsed(decoded(path.read_bytes())[0])
    except CutOff:
        return Flaw(WHOLE_FILE, "cut off")
    except ValueError as error:
        return Flaw(WHOLE_FILE, f"not JSON ({error})")


def is_large(path: Path) -> bool:
    return path.stat().st_size > PIECE


def first_line(start: bytes) -> Any:
    """The value of the first non-empty line of a sniffed beginning, or None."""
    for line in start.splitlines():
        if line.strip():
            try:
                return parsed(decoded(line)[0])
            except ValueError:
                return None
    return None


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
