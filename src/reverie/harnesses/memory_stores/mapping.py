"""Where the memories are in somebody else's JSON: known shapes, and a mapping file for any other.

A mapping is `reverie-mapping.toml` beside the files:

    list = "memoryRecordSummaries"             # where the list of memories is
    text = "content.text"                      # what a memory says
    path = ["namespaces.0", "memoryRecordId"]  # where it stands; several are joined by "/"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.core.errors import BadInput
from reverie.system.files import read_file

FILE = "reverie-mapping.toml"


@dataclass(frozen=True, slots=True)
class Mapped:
    """Dotted names; a number is a place in a list."""

    list: str
    text: str
    path: tuple[str, ...]

    def memories(self, document: Any) -> dict[str, str]:
        """By path; nothing where the document has no such list."""
        rows = _at(document, self.list) if self.list else document
        found = dict[str, str]()
        for number, row in enumerate(rows if isinstance(rows, Sequence) and not isinstance(rows, str) else (), 1):
            text = _at(row, self.text)
            if isinstance(text, str) and text.strip():
                parts = [str(part).strip("/") for name in self.path if (part := _at(row, name)) not in (None, "")]
                found[f"/{'/'.join(parts) or number}"] = text
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
    content = read_file(folder / FILE)
    if content is None:
        return None
    try:
        row = tomllib.loads(content.decode())
        path = row.get("path", [])
        return Mapped(str(row.get("list", "")), str(row["text"]), (path,) if isinstance(path, str) else tuple(path))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder / FILE} cannot be used: {type(error).__name__} {error}.", expected="list, text and path"
        ) from error


def known_shape(document: Any) -> dict[str, str]:
    """The memories in a document of one of the shapes that are known; nothing in any other."""
    found = (one.memories(document) for one in KNOWN.values())
    return next((memories for memories in found if memories), {})


def _at(value: Any, name: str) -> Any:
    for part in name.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
