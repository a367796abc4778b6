"""JSON from strangers, of any size: made into values that can be kept, of which never more than a piece is held.

Everything that parses JSON of a transcript goes through `parsed`, also the JSON that stands inside its texts: no lone
surrogates, no endless nesting, no absurd numbers.

A value of at most a piece is parsed. A larger object knows where its members stand in the file and reads those that
are asked for; a larger list of messages or sessions reads one after the other; anything else that large is cut.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from reverie.transcripts.files import check_time

MOST_DEPTH = 100
_MOST_DIGITS = 18  # what fits into 64 bits; longer ones are no counts, times or exit codes
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_DEEP = f"nested more than {MOST_DEPTH} deep"


def _decimal(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


# Raw control characters occur in real transcripts. NaN and the infinities are no JSON, and no fact about anything.
_DECODER = json.JSONDecoder(
    strict=False,
    parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else _decimal(digits),
    parse_float=_decimal,
    parse_constant=lambda _: None,
)


def parsed(text: str) -> Any:
    """The one value of a text. Raises ValueError with the reason where there is none that can be kept."""
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    return _checked(value, text)


def parsed_or_none(text: str) -> Any:
    try:
        return parsed(text)
    except ValueError:
        return None


def parsed_beginning(text: str) -> Any:
    """The value a text begins with, whatever stands behind it."""
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    return _checked(value, text[:end])


def _checked(value: Any, text: str) -> Any:
    level = [value] if text.count("[") + text.count("{") > MOST_DEPTH else []
    for _ in range(MOST_DEPTH if level else 0):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
    if level:
        raise ValueError(_TOO_DEEP)
    return storable(value) if _ESCAPED_SURROGATE.search(text) else value


def storable(value: Any, depth: int = 0) -> Any:
    """The same value as a database can hold it. Raises ValueError where it is nested too deeply."""
    if isinstance(value, str):
        # Half a character cannot be written to any file or database; it is shown as the mark for that.
        return value if value.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        try:
            return value if -(10**_MOST_DIGITS) < value < 10**_MOST_DIGITS else float(value)
        except OverflowError:
            return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth >= MOST_DEPTH:
        raise ValueError(_TOO_DEEP)
    if isinstance(value, Mapping):
        return {storable(key, depth + 1): storable(child, depth + 1) for key, child in value.items()}
    return [storable(child, depth + 1) for child in value]


def dumped(value: object) -> str:
    """A value as text. What is too large to be held is only named."""
    return json.dumps(value, ensure_ascii=False, default=str)


def string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


PIECE = 8 * 1024 * 1024
MOST_MEMBERS = 400_000
_CHUNK = 128 * 1024  # the longest step in which no other thread gets its turn
# What formats call the part that grows with the work. Everything else of such a size is somebody's output.
_LISTS = {"messages", "conversations", "traj", "simulations", "history", "trajectory", "attempts", "items", "loglines"}
_OBJECTS = {"mapping"}
_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["\[\]{},:]', re.DOTALL)
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_WHOLE_CHARACTERS = re.compile(rb'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)
_QUOTE, _COMMA, _COLON, _OPEN_LIST, _OPEN_OBJECT = b'",:[{'


class CutOff(ValueError):
    """A container that never ends."""


@dataclass(frozen=True, slots=True)
class FileSpan:
    """Where a value stands in a file, space around it included."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class StreamedList:
    """A list that is too large to hold. It can be gone through any number of times."""

    def __init__(self, path: Path, span: FileSpan, cut_off: bool = False) -> None:
        self.path, self.span, self.cut_off = path, span, cut_off

    def __iter__(self) -> Iterator[Any]:
        with self.path.open("rb") as file:
            try:
                for _, span in _children(file, self.span):
                    if _is_blank(file, span):
                        continue
                    try:
                        value = value_in_span(self.path, file, span)
                    except CutOff:
                        raise
                    except ValueError:
                        value = None  # no reader takes it for a message; each says where it stands
                    yield value
            except CutOff:
                if not self.cut_off:  # else it is known, and said
                    raise

    def __str__(self) -> str:
        return f"[a list of {self.span.size:,} bytes]"


JsonList = list | StreamedList  # type: ignore[type-arg]  # for isinstance


class StreamedObject(Mapping[str, Any]):
    """An object that is too large to hold. Each member is read when it is asked for."""

    def __init__(self, path: Path, span: FileSpan) -> None:
        self.path, self.span = path, span
        self.cut_off = False
        self._members: dict[str, FileSpan] = {}
        self._streamed: dict[str, Any] = {}
        with path.open("rb") as file:
            children = _children(file, span)
            try:
                while True:
                    name, inside = next(children)
                    if name is not None:
                        self._members[str(parsed(_text_of_span(file, name)))] = inside
                    if len(self._members) > MOST_MEMBERS:
                        raise ValueError(f"an object of more than {MOST_MEMBERS:,} members")
            except StopIteration as ended:
                self.span = FileSpan(span.start, ended.value)
            except CutOff:
                self.cut_off = True

    def __getitem__(self, name: str) -> Any:
        """None stands for what is no JSON, as for what is not known."""
        span = self._members[name]
        if name not in self._streamed:
            with self.path.open("rb") as file:
                cut_off = self.cut_off and span.end == self.span.end
                try:
                    first = _first_byte(file, span) if span.size > PIECE or cut_off else 0
                    if name in _LISTS and first == _OPEN_LIST:
                        self._streamed[name] = StreamedList(self.path, span, cut_off)
                    elif name in _OBJECTS and first == _OPEN_OBJECT:
                        self._streamed[name] = StreamedObject(self.path, span)
                    else:
                        return _shortened(file, span, _Room())
                except ValueError:
                    return None
        return self._streamed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def sha256(self) -> str:
        """Of its bytes as they stand in the file."""
        digest, place = hashlib.sha256(), self.span.start
        with self.path.open("rb") as file:
            while place < self.span.end and (chunk := _read(file, place, min(_CHUNK, self.span.end - place))):
                digest.update(chunk)
                place += len(chunk)
        return digest.hexdigest()

    def __str__(self) -> str:
        return f"{{an object of {self.span.size:,} bytes}}"

    __repr__ = __str__


def value_in_span(path: Path, file: BinaryIO, span: FileSpan) -> Any:
    """The value that stands there. Raises ValueError where it is none."""
    if span.size <= PIECE:
        return parsed(_text_of_span(file, span))
    match _first_byte(file, span):
        case 0x7B:
            return StreamedObject(path, span)
        case 0x5B:
            return StreamedList(path, span)
    return _shortened(file, span, _Room())


@dataclass(slots=True)
class _Room:
    left: int = field(default_factory=lambda: PIECE)


def _shortened(file: BinaryIO, span: FileSpan, room: _Room, depth: int = 0) -> Any:
    """As much of a value as there is room for."""
    if span.size <= room.left:
        room.left -= span.size
        return parsed(_text_of_span(file, span))
    if depth > MOST_DEPTH:
        raise ValueError(f"nested more than {MOST_DEPTH} deep")
    first = _first_byte(file, span)
    if first == _QUOTE:
        size, room.left = max(room.left, 64), 0
        raw = _read(file, span.start, size).lstrip()
        inside = _WHOLE_CHARACTERS.match(raw, 1)
        whole = inside.group(0).decode("utf-8", "ignore") if inside else ""
        quoted = f'"{whole}"'
        return f"{parsed(quoted)}\n[cut here: {span.size - size:,} bytes left out]"
    if first == _OPEN_LIST:
        return [_shortened(file, child, room, depth + 1) for _, child in _while_there_is(room, _children(file, span))]
    if first != _OPEN_OBJECT:
        raise ValueError("not JSON")
    return {
        str(parsed(_text_of_span(file, name))): _shortened(file, child, room, depth + 1)
        for name, child in _while_there_is(room, _children(file, span))
        if name is not None
    }


def _while_there_is(
    room: _Room, children: Iterator[tuple[FileSpan | None, FileSpan]]
) -> Iterator[tuple[FileSpan | None, FileSpan]]:
    while room.left > 0:
        child = next(children, None)
        if child is None:
            return
        room.left -= 1
        yield child


# ---- where values begin and end --------------------------------------------------------------------------------------


def top_values(file: BinaryIO) -> Generator[FileSpan, None, None]:
    """The containers of a file, one behind the other. Raises CutOff behind the last one if something is left open."""
    depth = begin = 0
    size = file.seek(0, 2)
    for mark, at in _marks(file, FileSpan(0, size)):
        if mark in b"[{":
            begin = begin if depth else at
            depth += 1
        elif mark in b"]}" and depth:
            depth -= 1
            if depth == 0:
                yield FileSpan(begin, at + 1)
    if depth:
        raise CutOff("cut off")


def _children(file: BinaryIO, span: FileSpan) -> Generator[tuple[FileSpan | None, FileSpan], None, int]:
    """Name and value of each member of an object, or each element of a list. Returns where the container ends."""
    depth, begin, name, named = 0, 0, None, False
    for mark, at in _marks(file, span):
        if mark in b"[{":
            depth += 1
            if depth == 1:
                begin, named = at + 1, mark == _OPEN_OBJECT
        elif mark in b"]}":
            depth -= 1
            if depth == 0:
                if not _is_blank(file, FileSpan(begin, at)):
                    yield name, FileSpan(begin, at)
                return at + 1
        elif depth == 1 and mark == _COMMA:
            yield name, FileSpan(begin, at)
            begin, name = at + 1, None
        elif depth == 1 and mark == _COLON and named and name is None:
            name, begin = FileSpan(begin, at), at + 1
    if name is not None and _first_byte(file, FileSpan(begin, span.end)) in b"[{":
        yield name, FileSpan(begin, span.end)  # what it holds so far
    raise CutOff("cut off")


def _marks(file: BinaryIO, span: FileSpan) -> Iterator[tuple[int, int]]:
    """Every bracket, comma and colon that stands in no string, with its place."""
    place, in_string, escaped = span.start, False, False
    while place < span.end and (chunk := _read(file, place, min(_CHUNK, span.end - place))):
        check_time()
        at = 0
        if in_string:
            at, in_string, escaped = _through_string(chunk, 1 if escaped else 0)
        for found in _MARK.finditer(chunk, at) if not in_string else ():
            mark = chunk[found.start()]
            if mark != _QUOTE:
                yield mark, place + found.start()
            elif found.end() == found.start() + 1:  # it does not end in this chunk
                _, in_string, escaped = _through_string(chunk, found.end())
                break
        place += len(chunk)


def _through_string(chunk: bytes, at: int) -> tuple[int, bool, bool]:
    """Where the string ends that goes on at `at`; whether it goes on behind the chunk, and there with an escape."""
    inside = _IN_STRING.match(chunk, at)
    end = inside.end() if inside else at
    if end >= len(chunk):
        return len(chunk), True, False
    return (end + 1, False, False) if chunk[end] == _QUOTE else (len(chunk), True, True)


def _read(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


def _text_of_span(file: BinaryIO, span: FileSpan) -> str:
    return _read(file, span.start, span.size).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _first_byte(file: BinaryIO, span: FileSpan) -> int:
    start = _read(file, span.start, min(span.size, _CHUNK)).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start[0] if start else 0


def _is_blank(file: BinaryIO, span: FileSpan) -> bool:
    return span.size == 0 or (span.size <= _CHUNK and not _read(file, span.start, span.size).strip())
