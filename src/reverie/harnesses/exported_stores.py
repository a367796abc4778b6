"""A memory store as files: a folder of Markdown, text and JSON, or one JSON file of memories with their paths.

Nothing is written there. The memories of somebody else's JSON are found by its shape, if that is known, or by a mapping
file. A mapping is `reverie-mapping.toml` beside the files:

    list = "memoryRecordSummaries"             # where the list of memories is
    text = "content.text"                      # what a memory says
    path = ["namespaces.0", "memoryRecordId"]  # where it stands; several are joined by "/"
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reverie.bridge.source import HeardSession, RemoteDream, RemoteStore, RemoteVersion, Snapshot
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import sha256, slug
from reverie.system.files import read_file

ENDINGS = (".md", ".markdown", ".mdx", ".txt", ".json", ".jsonl")
MOST_FILES, LARGEST = 20_000, 20_000_000
_WHERE = ("path", "key", "name", "title", "id")
_WHAT = ("content", "text", "memory", "fact", "value")
_LISTS = ("data", "memories", "items", "results")
_MORE = frozenset({"nexttoken", "nextpagetoken", "nextpage", "nextcursor", "nextlink", "next", "hasmore"})


def read_folder(path: Path) -> Snapshot:
    """The texts below a folder, or in one file. Hidden files and links are left out."""
    if not path.exists():
        raise NotFound(f"There is no folder or file {path}.", next_step="Name an exported folder, or a memory store.")
    folder, files = (path, list(_below(path))) if path.is_dir() else (path.parent, [path])
    if not files:
        raise BadInput(f"There is no memory in {path}.", expected=f"files that end in {', '.join(ENDINGS)}")
    texts, mapping, pages = dict[str, str](), mapping_beside(folder), ExportPages()
    for file in files:
        for where, text in _memories(f"/{file.relative_to(folder).as_posix()}", file, mapping, pages).items():
            _put(texts, where, text)
    pages.check()
    return Snapshot(str(path), texts)


@dataclass
class ExportPages:
    """Answers of an API that gives its list in pages: each but the last says that more follow. Lists that have the same
    names in them are taken for pages of one list."""

    more: dict[frozenset[str], tuple[Path, str]] = field(default_factory=dict)
    ended: set[frozenset[str]] = field(default_factory=set)

    def add(self, file: Path, document: Any) -> None:
        if isinstance(document, Mapping):
            marks = {
                str(name): value
                for name, value in document.items()
                if str(name).casefold().rpartition(".")[2].replace("_", "") in _MORE
            }
            rest = frozenset(map(str, document)) - set(marks)
            follows = next((name for name, value in marks.items() if value), "")
            if follows:
                self.more[rest] = file, follows
            else:
                self.ended.add(rest)

    def check(self) -> None:
        for names, (file, mark) in self.more.items():
            if names not in self.ended:
                raise BadInput(
                    f"{file} is one page of several: its `{mark}` says that more follow.",
                    expected="every page, or what the others hold would look as if it had been removed",
                    next_step="Ask the service for the others, put each page into a file of its own in one folder, and "
                    "name the folder.",
                )


def _below(folder: Path) -> Iterator[Path]:
    number = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(root) / name
            if name.startswith(".") or file.suffix.lower() not in ENDINGS or file.is_symlink():
                continue
            number += 1
            if number > MOST_FILES:
                raise BadInput(f"{folder} holds more than {MOST_FILES:,} files.", expected="the export of one store")
            yield file


def _memories(where: str, file: Path, mapping: Mapped | None, pages: ExportPages) -> dict[str, str]:
    if file.stat().st_size > LARGEST:
        raise BadInput(f"{file} is larger than {LARGEST // 1_000_000} MB.", expected="the export of a memory store")
    text = (read_file(file) or b"").decode("utf-8-sig", "replace")
    if file.suffix.lower() == ".jsonl":
        lines = enumerate(text.split("\n"), 1)
        rows = [_parsed(line, f"Line {number} of {file}") for number, line in lines if line.strip()]
        return (mapping and mapping.memories(rows)) or _listed(rows) or {where: text}
    if file.suffix.lower() == ".json":
        document = _parsed(text, str(file))
        shapes = [mapping] if mapping else KNOWN.values()
        found = (memories for one in shapes if (memories := one.memories(document)))
        held = next(found, None) or _memories_in(document)
        if held:
            pages.add(file, document)
        return held or {where: text}
    return {where: text}


def _parsed(text: str, where: str) -> Any:
    """A file that was cut off is refused: what is missing in it would look as if it had been removed."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{where} is no JSON: {error}.", expected="a whole export", next_step="Export it again."
        ) from error


def _put(memories: dict[str, str], path: str, text: str) -> None:
    """What several records say that stand at one path is one memory: none of it is lost."""
    there = memories.get(path, text)
    memories[path] = there if there == text else f"{there}\n\n{text}"


def _memories_in(value: Any) -> dict[str, str]:
    """The memories in a document that lists them; nothing where it is a memory itself."""
    if isinstance(value, list):
        return _listed(value)
    if not isinstance(value, Mapping):
        return {}
    lists = [value[name] for name in _LISTS if isinstance(value.get(name), list)]
    if lists:
        return _listed(lists[0])
    paths = value and all(isinstance(key, str) and key.startswith("/") for key in value)
    return {key: text for key, text in value.items() if isinstance(text, str)} if paths else {}


def _listed(rows: list[Any]) -> dict[str, str]:
    found = dict[str, str]()
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            return {}
        what = next((row[name] for name in _WHAT if isinstance(row.get(name), str)), None)
        if what is None:
            continue
        where = next((str(row[name]) for name in _WHERE if isinstance(row.get(name), str | int)), str(number))
        _put(found, where if where.startswith("/") else f"/{where}", what)
    return found


class FolderSource:
    """A folder as a source that keeps no versions: implements `reverie.bridge.source.StoreSource`."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.address = str(path.resolve())
        self._snapshot = read_folder(path)
        self._now = clock.now()

    def stores(self) -> Iterator[RemoteStore]:
        yield RemoteStore(slug(Path(self.address).name), self.address)

    def memories(self, store: str) -> Iterator[RemoteVersion]:
        for path, text in self._snapshot.texts.items():
            digest = sha256(text.encode("utf-8", "surrogateescape"))
            name = f"{sha256(path.encode())[:12]}-{digest[:24]}"
            yield RemoteVersion(name, path, "modified", self._now, path, digest)

    def versions(self, store: str) -> Iterator[RemoteVersion]:
        return iter(())

    def text(self, store: str, version: RemoteVersion) -> str | None:
        return self._snapshot.texts.get(version.path or "")

    def dreams(self) -> Iterator[RemoteDream]:
        return iter(())

    def heard(self, sessions: Sequence[str]) -> Iterator[HeardSession]:
        return iter(())

    def close(self) -> None:
        """Nothing is held open."""


MAPPING_FILE = "reverie-mapping.toml"


@dataclass(frozen=True, slots=True)
class Mapped:
    """Dotted names; a number is a place in a list."""

    list: str
    text: str
    path: tuple[str, ...]

    def memories(self, document: Any) -> dict[str, str]:
        """By path; nothing where the document has no such list."""
        rows = _value_at(document, self.list) if self.list else document
        found = dict[str, str]()
        for number, row in enumerate(rows if isinstance(rows, Sequence) and not isinstance(rows, str) else (), 1):
            text = _value_at(row, self.text)
            if isinstance(text, str) and text.strip():
                parts = [str(part).strip("/") for name in self.path if (part := _value_at(row, name)) not in (None, "")]
                _put(found, f"/{'/'.join(parts) or number}", text)
        return found


KNOWN = {
    "AWS Bedrock AgentCore Memory": Mapped("memoryRecordSummaries", "content.text", ("namespaces.0", "memoryRecordId")),
    "Vertex AI Memory Bank": Mapped("memories", "fact", ("scope.user_id", "scope.user", "name")),
    "Vertex AI Memory Bank, retrieved": Mapped(
        "retrievedMemories", "memory.fact", ("memory.scope.user_id", "memory.scope.user", "memory.name")
    ),
    "Azure AI Foundry agent service": Mapped(
        "memories", "memory_item.content", ("memory_item.scope", "memory_item.kind", "memory_item.memory_id")
    ),
}


def mapping_beside(folder: Path) -> Mapped | None:
    content = read_file(folder / MAPPING_FILE)
    if content is None:
        return None
    try:
        row = tomllib.loads(content.decode())
        path = row.get("path", [])
        return Mapped(str(row.get("list", "")), str(row["text"]), (path,) if isinstance(path, str) else tuple(path))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder / MAPPING_FILE} cannot be used: {type(error).__name__} {error}.", expected="list, text and path"
        ) from error


def _value_at(value: Any, name: str) -> Any:
    for part in name.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
