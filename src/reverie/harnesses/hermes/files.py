"""The transcripts Hermes leaves in `sessions/` beside its database.

`session_<id>.json` (a snapshot, off by default in 0.19), `saved/hermes_conversation_<time>.json` (`/save`),
and the gateway's old `<id>.jsonl`, one message on each line behind a line of `session_meta`. The database has
the same sessions and more of them; a file is only read where no database beside it knows its session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.harnesses.hermes.rows import people_apart
from reverie.harnesses.inline_tool_calls import how_call_failed, json_object, spoken
from reverie.transcripts.files.json_files import first_line, json_lines, whole_json
from reverie.transcripts.files.json_streams import JsonList
from reverie.transcripts.messages import is_message, read_message
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

_NAMED_AS_SESSION = re.compile(r"\d{8}_\d{6}_[0-9a-f]{6,}\.jsonl")
_SNAPSHOT_KEYS = (b'"session_id"', b'"session_start"')


def is_session_file(path: Path, start: bytes) -> float:
    if path.suffix == ".json":
        return 0.95 if start.lstrip()[:1] == b"{" and all(key in start for key in _SNAPSHOT_KEYS) else 0.0
    if path.suffix != ".jsonl":
        return 0.0
    line = first_line(start)
    if isinstance(line, Mapping) and line.get("role") == "session_meta":
        return 0.95
    return 0.9 if _NAMED_AS_SESSION.fullmatch(path.name) and is_message(line) else 0.0


def read_session_file(path: Path, knows: Callable[[Path, str], bool]) -> Iterator[Event]:
    if path.suffix == ".jsonl":
        about: Any = {"session_id": path.stem}
        messages = _lines(path)
    else:
        about = whole_json(path)
        if not isinstance(about, Mapping):
            yield about if isinstance(about, Flaw) else Flaw("the file", "not an object with messages")
            return
        messages = _numbered(about.get("messages"))
    session = str(about.get("session_id") or path.stem)
    database = _home(path) / "state.db"
    if database.exists() and knows(database, session):
        return
    yield Opened(_head(session, about, path))
    for where, message in messages:
        yield from _said(where, message, {"source": str(about.get("platform") or "")})


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    for line in json_lines(path):
        if isinstance(line, Flaw):
            yield line.where, line
        elif not (isinstance(line[1], Mapping) and line[1].get("role") == "session_meta"):
            yield f"line {line[0]}", line[1]


def _numbered(messages: object) -> Iterator[tuple[str, Any]]:
    if not isinstance(messages, JsonList):
        yield "the file", Flaw("the file", "no list of messages")
        return
    for number, message in enumerate(messages, 1):
        yield f"message {number}", message


def _said(where: str, message: Any, about: Mapping[str, Any]) -> Iterator[Said | Flaw]:
    if isinstance(message, Flaw):
        yield message
        return
    if not is_message(message):
        yield Flaw(where, "not a message with a known role")
        return
    words = read_message(message)
    if words.role == "user":
        yield from people_apart(words, message, about)
    elif words.role == "tool":
        yield replace(words, failed=how_call_failed(json_object(words.text)))
    else:
        yield replace(words, text=spoken(words.text)) if words.role == "assistant" else words


def _head(session: str, about: Mapping[str, Any], path: Path) -> Head:
    facts = {"source": about.get("platform"), "model": about.get("model")}
    return Head(
        id=f"hermes:{session}",
        harness="hermes",
        agent=profile_of(path) or "default",
        started_at=moment(about.get("session_start")),
        facts={name: str(value) for name, value in facts.items() if value},
    )


def profile_of(path: Path) -> str | None:
    """The profile whose home a file lies in: `profiles/<name>/` is a whole Hermes home of its own."""
    home = _home(path)
    return home.name if home.parent.name == "profiles" else None


def _home(path: Path) -> Path:
    return next((folder.parent for folder in path.parents[:2] if folder.name == "sessions"), path.parent)
