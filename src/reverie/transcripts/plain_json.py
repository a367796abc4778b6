"""The plain form: `{"id", "user", "started_at", "title", "project", "messages": [{"role", "content", …}]}`.

As one JSON object, a JSON list of them, or JSON Lines with one session on each line. It is also what
`home.sessions.add` takes as a dict. Only `messages` is required; a session without an id is named after its
content, so that adding it twice adds it once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.errors import NotATranscript
from reverie.core.hashes import canonical, sha256
from reverie.transcripts.files.json_arrays import events_of
from reverie.transcripts.files.json_streams import JsonList, StreamedObject
from reverie.transcripts.files.json_text import string_or_none
from reverie.transcripts.messages import is_message, read_message
from reverie.transcripts.projects import project_folder, project_name, shown_name
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head

_MESSAGES = re.compile(rb'"messages"\s*:\s*\[\s*(?:\{|\])')  # a list: translations have "messages", too


class PlainReader:
    name = "plain"
    places: tuple[str, ...] = ()

    def recognises(self, path: Path, start: bytes) -> float:
        return 0.5 if start.lstrip()[:1] in (b"{", b"[") and _MESSAGES.search(start) else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        return events_of(path, _session_or_flaw)


def _session_or_flaw(session: Any, where: str) -> Iterator[Event]:
    try:
        yield from events(session, where)
    except NotATranscript as error:
        yield Flaw(where, str(error))


def events(session: Mapping[str, Any], where: str = "the session") -> Iterator[Event]:
    """The stream of one session dict. Raises `NotATranscript` when it is not one."""
    messages = session.get("messages") if isinstance(session, Mapping) else None
    if not isinstance(messages, JsonList):
        raise NotATranscript(
            f"A session without a list of messages was found (it is {_described(session)}).",
            expected='{"id", "user", "started_at", "messages": [{"role", "content"}, …]}',
        )
    yield Opened(_head(session))
    for number, message in enumerate(messages, 1):
        if is_message(message):
            yield read_message(message)
        else:
            yield Flaw(f"{where}, message {number}", f"not a message with a known role: {_described(message)}")


def _head(session: Mapping[str, Any]) -> Head:
    identity = session.get("id")
    user = session.get("user") or session.get("user_id")
    outcome = session.get("outcome", session.get("reward"))
    folder = string_or_none(session.get("cwd"))
    return Head(
        id=str(identity) if identity not in (None, "") else _named_by_content(session),
        user=str(user) if user not in (None, "") else None,
        harness=str(session.get("harness") or "plain"),
        agent=string_or_none(session.get("agent")),
        title=string_or_none(session.get("title")),
        started_at=moment(session.get("started_at") or session.get("created_at")),
        ended_at=moment(session.get("ended_at")),
        parent=string_or_none(session.get("parent")),
        outcome=float(outcome) if isinstance(outcome, int | float) else None,
        project=shown_name(session.get("project")) or project_name(folder),
        project_path=project_folder(folder),
    )


def _named_by_content(session: Mapping[str, Any]) -> str:
    if isinstance(session, StreamedObject):
        return f"plain:{session.sha256()[:24]}"
    try:
        content = canonical(session)
    except (ValueError, TypeError):  # only what was handed in by Python code can be so
        content = json.dumps(session, sort_keys=True, default=str).encode()
    return f"plain:{sha256(content)[:24]}"


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, list(value)[:6])) or 'no keys'}"
    return f"{type(value).__name__} {str(value)[:40]!r}"
