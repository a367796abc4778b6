"""What a memory store, a path and a memory may be, and how memories are listed. The limits are Anthropic's.

A listing is a subtree, or one folder with what is below it rolled up. Paths come sorted by their bytes; a position is
the last path that was given out, so that a page begins behind it whatever was written meanwhile.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from reverie.core.errors import BadInput
from reverie.memory.stores.store import Outdated, StoredMemory

LONGEST_NAME = 255
LONGEST_DESCRIPTION = 1_024
MOST_METADATA = 16
LONGEST_KEY = 64
LONGEST_VALUE = 512
LONGEST_PATH_BYTES = 1_024
DEEPEST_PATH = 20
LARGEST_MEMORY_BYTES = 102_400
MOST_MEMORIES = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


def checked_store_name(name: str) -> str:
    _text("name", name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadInput(f"name: {len(name)} characters.", expected=f"1 to {LONGEST_NAME} characters")
    if any(unicodedata.category(char) == "Cc" for char in name):
        raise BadInput("name: it holds a control character.", expected="a name on one line")
    return name


def checked_description(description: str) -> str:
    _text("description", description)
    if len(description) > LONGEST_DESCRIPTION:
        raise BadInput(f"description: {len(description)} characters.", expected=f"at most {LONGEST_DESCRIPTION}")
    return description


def merged_metadata(old: Mapping[str, str], patch: Mapping[str, str | None]) -> dict[str, str]:
    """The old pairs with the patch laid over them: None takes a key away."""
    merged = {key: value for key, value in {**old, **patch}.items() if value is not None}
    if len(merged) > MOST_METADATA:
        raise BadInput(f"metadata: {len(merged)} pairs.", expected=f"at most {MOST_METADATA}")
    for key, value in merged.items():
        _text("metadata", key + value)
        if not 1 <= len(key) <= LONGEST_KEY:
            raise BadInput(f"metadata: a key of {len(key)} characters.", expected=f"1 to {LONGEST_KEY} characters")
        if len(value) > LONGEST_VALUE:
            raise BadInput(f"metadata: a value of {len(value)} characters.", expected=f"at most {LONGEST_VALUE}")
    return merged


def checked_path(path: str) -> str:
    """Exactly one way to write a path, so that two never mean the same memory."""
    segments = path.split("/")[1:]
    wrong = ""
    if not path.startswith("/"):
        wrong = "it does not start with '/'"
    elif any(segment in ("", ".", "..") for segment in segments):
        wrong = "a segment is empty, '.' or '..'"
    elif len(segments) > DEEPEST_PATH:
        wrong = f"it has {len(segments)} segments"
    elif any(unicodedata.category(char) in _UNSEEN for char in path):
        wrong = "it holds a control or format character"
    elif not unicodedata.is_normalized("NFC", path):
        wrong = "it is not in Unicode Normalization Form C"
    elif len(path.encode()) > LONGEST_PATH_BYTES:
        wrong = f"it has {len(path.encode())} bytes"
    if wrong:
        raise BadInput(
            f"path: {wrong}.",
            expected=f"/like/this.md, with 1 to {DEEPEST_PATH} segments and at most {LONGEST_PATH_BYTES:,} bytes",
        )
    return path


def checked_content(content: str) -> bytes:
    """The exact bytes: nothing is normalized, so that everyone computes the same hash."""
    raw = _text("content", content)
    if len(raw) > LARGEST_MEMORY_BYTES:
        raise BadInput(f"content: {len(raw):,} bytes.", expected=f"at most {LARGEST_MEMORY_BYTES:,} bytes of UTF-8")
    return raw


def checked_sha256(name: str, value: str) -> str:
    if not _SHA256.fullmatch(value):
        raise BadInput(f"{name}: not a SHA-256.", expected="64 lowercase hexadecimal characters")
    return value


def outdated(memory: StoredMemory, expected: str | None, wanted: tuple[str, str] | None = None) -> Outdated | None:
    """Whether the writer's belief is out of date. Who wants what is there already, path and hash, is never wrong."""
    if expected in (None, memory.sha256) or wanted == (memory.path, memory.sha256):
        return None
    return Outdated(expected or "", memory.sha256)


def above(path: str) -> list[str]:
    """The folders a path stands in: none of them can be a memory."""
    parts = path.split("/")
    return ["/".join(parts[:upto]) for upto in range(2, len(parts))]


def _text(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{name}: it holds half of a surrogate pair.", expected="text that UTF-8 can hold") from error


ROOT = "/"


def checked_prefix(prefix: str | None) -> str:
    if prefix in (None, "", ROOT):
        return ROOT
    if not str(prefix).endswith("/"):
        raise BadInput("path_prefix: it does not end with '/'.", expected="whole segments, such as /notes/")
    return f"{checked_path(str(prefix)[:-1])}/"


def checked_depth(depth: int | None) -> int:
    if depth not in (None, 0, 1):
        raise BadInput(f"depth: {depth}.", expected="0 for everything below the prefix, 1 for its direct children")
    return depth or 0


def end_of_prefix(prefix: str) -> str:
    """The first text that sorts behind everything below a prefix."""
    return prefix[:-1] + chr(ord("/") + 1)


def rolled_up(paths: Iterable[str], prefix: str, limit: int) -> list[str]:
    """The next direct children below a prefix, at most so many: paths of memories, and folders that end with '/'."""
    found: list[str] = []
    for path in paths:
        child, slash, _ = path[len(prefix) :].partition("/")
        shown = f"{prefix}{child}{slash}"
        if found and found[-1] == shown:
            continue
        if len(found) == limit:
            break
        found.append(shown)
    return found
