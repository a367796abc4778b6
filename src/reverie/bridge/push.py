"""What was approved here, as documents in a managed memory store, so that a managed agent is told it, too.

Documents stand at paths that stay the same, below `/reverie/`, and nothing outside of that is touched. What stands
there already is not written again: after a push, a push does nothing, and a pull brings nothing that is new here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from reverie.bridge.source import RemoteVersion
from reverie.core.errors import BadInput
from reverie.core.hashes import sha256
from reverie.safety.redact import redact
from reverie.safety.scan import scan

ROOT = "/reverie/"
LARGEST = 102_400  # bytes of one memory, by the protocol


class StoreWriter(Protocol):
    """A memory store that can be written. Each write names what it expects to find, so nothing is written over."""

    def standing(self, store: str, below: str, /) -> list[RemoteVersion]: ...

    def put(self, store: str, path: str, content: str, was: RemoteVersion | None, /) -> None: ...

    def remove(self, store: str, was: RemoteVersion, /) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Pushed:
    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    kept_back: tuple[tuple[str, str], ...]  # path, and why it is not sent


def push(writer: StoreWriter, store: str, documents: Mapping[str, str]) -> Pushed:
    """Make what stands below `/reverie/` the same as these documents, by their paths below it."""
    if not documents:
        raise BadInput("There is nothing to push.", expected="a skill or an entry of memory")
    wanted = {f"{ROOT}{path}": text for path, text in documents.items()}
    kept_back = {path: why for path, text in wanted.items() if (why := _why_not(text))}
    there = {one.path or "": one for one in writer.standing(store, ROOT)}
    hashes = {path: sha256(text.encode("utf-8", "surrogateescape")) for path, text in wanted.items()}
    written = [
        path
        for path, hashed in hashes.items()
        if path not in kept_back and (path not in there or there[path].sha256 != hashed)
    ]
    removed = [path for path in there if path not in wanted]
    for path in written:
        writer.put(store, path, wanted[path], there.get(path))
    for path in removed:
        writer.remove(store, there[path])
    unchanged = len(wanted) - len(written) - len(kept_back)
    return Pushed(tuple(written), tuple(removed), unchanged, tuple(kept_back.items()))


def _why_not(text: str) -> str:
    if redact(text).found:
        return "it holds a secret"
    if len(text.encode("utf-8", "surrogateescape")) > LARGEST:
        return f"it is longer than {LARGEST:,} bytes"
    return "the safety scan would keep it out" if scan(text, "skill").blocked else ""
