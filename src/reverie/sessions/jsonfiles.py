"""JSON and JSON Lines as harnesses really leave them: cut off, half-written, wrongly encoded, enormous."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from reverie.sessions.reading import WHOLE_FILE, Flaw

MAX_LINE_BYTES = 64 * 1024 * 1024
_DECODER = json.JSONDecoder(strict=False)  # raw control characters occur in real transcripts


def json_lines(path: Path) -> Iterator[tuple[int, Any] | Flaw]:
    """Each line's number and value; a line that cannot be used is a Flaw and the next one is read."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                _skip_line(file)
                yield Flaw(f"line {number}", f"longer than {MAX_LINE_BYTES:,} bytes; left out")
            elif line.strip():
                yield from _line_value(number, line)


def _line_value(number: int, line: bytes) -> Iterator[tuple[int, Any] | Flaw]:
    text, flawed = decoded(line)
    if flawed:
        yield Flaw(f"line {number}", "not valid UTF-8; the bad bytes are shown as \N{REPLACEMENT CHARACTER}")
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        yield Flaw(f"line {number}", _why_broken(line, error))
    else:
        yield number, value


def _why_broken(line: bytes, error: Exception) -> str:
    if not line.endswith(b"\n"):
        return "the last line is cut off; it is read again once it is complete"
    return f"not JSON ({error})"


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
        pass


def whole_json(path: Path) -> Any | Flaw:
    """The one value of a JSON file, or why there is none."""
    text, _ = decoded(path.read_bytes())
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return Flaw(WHOLE_FILE, f"not JSON ({error})")


def decoded(raw: bytes) -> tuple[str, bool]:
    """Text of UTF-8 bytes, and whether some of them were not UTF-8."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def first_line(start: bytes) -> Any:
    """The value of the first non-empty line of a sniffed beginning, or None."""
    for line in start.splitlines():
        if line.strip():
            try:
                return _DECODER.decode(decoded(line)[0])
            except (ValueError, RecursionError):
                return None
    return None
