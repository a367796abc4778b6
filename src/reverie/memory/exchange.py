"""Entries that come from elsewhere: an export of ours, a Hermes document, any Markdown list."""

from __future__ import annotations

import json

from reverie.core.errors import BadInput
from reverie.memory.formats import FORMATS


def entries_in(content: bytes, name: str, document: str | None = None) -> list[str]:
    """The statements in a file, in order. `document` chooses among those of an export."""
    text = content.decode("utf-8", "surrogateescape")
    found = _exported(text, document) if text.lstrip().startswith("{") else _written(text)
    if not found:
        raise BadInput(
            f"{name} holds no entries.",
            expected="an export of `reverie memory export`, entries between lines with §, or a Markdown list",
        )
    return list(dict.fromkeys(found))


def _exported(text: str, document: str | None) -> list[str]:
    try:
        told = json.loads(text)
        entries = told["entries"]
        return [str(one["text"]) for one in entries if document in (None, one.get("document"))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"It begins like JSON but is not an export of Reverie: {error!r}.") from error


def _written(text: str) -> list[str]:
    form = FORMATS["hermes" if "\n§\n" in text.replace("\r\n", "\n") else "list"]
    return [piece.entry for piece in form.cut(text) if piece.entry is not None]
