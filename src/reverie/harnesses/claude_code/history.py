"""Which words of a prompt were pasted, as Claude Code's own `history.jsonl` tells.

The transcript holds a prompt with its pastes filled in and does not mark them. The history of what was typed, in the
folder above `projects`, has them apart: `[Pasted text #1 +4 lines] Is this right?`, and what #1 was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reverie.harnesses.injected import Form, MessagePart
from reverie.transcripts.json_files import json_lines
from reverie.transcripts.readers import Flaw

_PLACE = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d+)(?: \+\d+ lines)?\.*\]")
_CACHE_NAME = re.compile(r"[0-9a-f]{8,64}")
_MOST_CHARACTERS = 1_000_000  # of one paste; what is longer is cut in the transcript too
PASTED = Form("pasted text", _PLACE)


@dataclass(slots=True)
class Pastes:
    """Where the pastes of one session stand in its prompts. Of the texts only the hashes are kept."""

    places: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, transcript: Path, session: str) -> Pastes:
        folder = next((here.parent for here in transcript.parents if here.name == "projects"), None)
        history = folder / "history.jsonl" if folder else None
        pastes = cls()
        if folder and history and history.is_file():
            for line in json_lines(history):
                if not isinstance(line, Flaw):
                    pastes._note(line[1], session, folder / "paste-cache")
        return pastes

    def _note(self, line: Any, session: str, cache: Path) -> None:
        if not isinstance(line, Mapping) or line.get("sessionId") != session or not line.get("pastedContents"):
            return
        shown, contents = line.get("display"), line["pastedContents"]
        if not isinstance(shown, str) or not isinstance(contents, Mapping):
            return
        text, places, last = "", list[tuple[int, int]](), 0
        for place in _PLACE.finditer(shown):
            if (pasted := _content(contents.get(place[1]), cache)) is None:
                continue
            text += shown[last : place.start()]
            places.append((len(text), len(text) + len(pasted)))
            text, last = text + pasted, place.end()
        if places:
            self.places[hash((text + shown[last:]).strip())] = tuple(places)

    def told_apart(self, text: str) -> list[MessagePart]:
        """The prompt as what was typed and what was pasted, or nothing where the history does not know it."""
        places, last, parts = self.places.get(hash(text.strip()), ()), 0, list[MessagePart]()
        for start, end in places:
            parts += [MessagePart(text[last:start].strip()), MessagePart(text[start:end].strip(), PASTED)]
            last = end
        if places:
            parts.append(MessagePart(text[last:].strip()))
        return [part for part in parts if part.text]


def _content(paste: object, cache: Path) -> str | None:
    """The pasted text: in the line itself, or where it was long in a file named by its hash."""
    if not isinstance(paste, Mapping) or paste.get("type") != "text":
        return None
    if isinstance(content := paste.get("content"), str):
        return content[:_MOST_CHARACTERS]
    name = paste.get("contentHash")
    if not isinstance(name, str) or not _CACHE_NAME.fullmatch(name):
        return None
    try:
        with (cache / f"{name}.txt").open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(_MOST_CHARACTERS)
    except OSError:
        return None
