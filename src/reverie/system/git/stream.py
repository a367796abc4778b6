"""Changes as the input of `git fast-import`: one commit each, with their bytes exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from reverie.changes.history.change import Edit
from reverie.changes.history.projection import commit_message, printable_line
from reverie.changes.history.records import Anchored
from reverie.system.git.git import OURS

BRANCH = "refs/heads/main"
OPTIONS = ("--quiet", "--done", "--date-format=raw")  # without a `done` at the end nothing counts: we were killed
_GITS_OWN = re.compile(r"(?:\.git|git~1)[ .]*(?::.*)?", re.IGNORECASE)

Executable = Callable[[str], bool]


def stream(recorded: Iterable[Anchored], onto: str | None, executable: Executable) -> Iterator[bytes]:
    """Commits on top of the commit `onto`, or from the beginning."""
    yield b"feature done\n"
    for one in recorded:
        shown = [edit for edit in one.change.edits if showable(edit.document)]
        yield from committed(one, shown, BRANCH, onto, executable)
        onto = None
    yield b"done\n"


def showable(document: str) -> bool:
    """Whether git takes such a path. What it keeps for itself, or could be taken for that on some disk, it does not."""
    parts = "".join(char for char in document if unicodedata.category(char) != "Cf").replace("\\", "/").split("/")
    return "\0" not in document and not any(part in ("", ".", "..") or _GITS_OWN.fullmatch(part) for part in parts)


def committed(
    recorded: Anchored, edits: Iterable[Edit], branch: str, onto: str | None, executable: Executable
) -> Iterator[bytes]:
    """One commit that tells of a Change and makes these edits."""
    change = recorded.change
    at = max(0, int((change.settled_at or change.intended_at).timestamp()))
    yield f"commit {branch}\nauthor {_person(change.grounds.actor)} {at} +0000\n".encode()
    yield f"committer {OURS} <> {at} +0000\n".encode()
    yield _exactly(commit_message(recorded).encode())
    if onto is not None:
        yield f"from {onto}\n".encode()
    for edit in sorted(edits, key=lambda edit: edit.after is not None):  # a folder can take the place of a file
        yield from _file(edit, executable)
    yield b"\n"


def _file(edit: Edit, executable: Executable) -> Iterator[bytes]:
    if edit.after is None:
        yield b"D " + _quoted(edit.document) + b"\n"
        return
    mode = b"100755" if executable(edit.document) else b"100644"
    yield b"M " + mode + b" inline " + _quoted(edit.document) + b"\n"
    yield _exactly(edit.after)


def _exactly(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _person(actor: str) -> str:
    """No address is made up for anyone."""
    name = re.sub(r"[<>]", "", printable_line(actor)).strip(" .,:;\"'\\")
    return f"{name or 'unknown'} <>"


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    safe = b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' or byte == 127 else bytes([byte]) for byte in raw)
    return b'"' + safe + b'"'
