"""Hermes' messages: the rows of its database, and the JSON transcripts it used to leave in `sessions/` beside that.

In the table `messages`, `active = 0, compacted = 0` was taken back by the user and is left out. `compacted = 1` was
summarised away, but was said: it stays. Compaction also writes the newest messages a second time behind the summary;
those copies are noise, or everything said shortly before a compaction would count twice.

Files: `session_<id>.json` (a snapshot, off by default in 0.19), `saved/hermes_conversation_<time>.json` (`/save`), and
the gateway's old `<id>.jsonl`, one message on each line behind a line of `session_meta`. The database has the same
sessions and more of them; a file is only read where no database beside it knows its session.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.injected import HERMES, how_call_failed, json_object, said_apart, spoken, written_openings
from reverie.transcripts.files import decoded, is_locked
from reverie.transcripts.json_files import first_line, json_lines, whole_json
from reverie.transcripts.json_streams import JsonList, mapping_or_empty, parsed
from reverie.transcripts.messages import is_message, read_message, role_of
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import MAX_TURNS, Head, Said

_COLUMNS = (
    *("session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "observed"),
    *("active", "compacted"),
)
_STRUCTURED = "\x00json:"
_NOT_MESSAGES = {"session_meta"}  # the gateway's list of tools, stored as if it were a message
_AUTOMATIC = {"subagent", "tool", "cron"}  # sources whose "user" is a parent agent or the scheduler
# Whose "user" is a program somewhere, quoting anyone.
_PROGRAMS = {"webhook", "msgraph_webhook", "homeassistant", "ntfy"}
_NOTICES = tuple(one.rstrip("|") for one in written_openings("hermes"))
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT — for reference only")
_SPEAKER = re.compile(r"\[([^\[\]\n]{1,80})\] ")
# Hermes spaces the rows it writes in one go by a microsecond; rows written one by one are further apart.
_ONE_GO_SECONDS = 5e-6


@dataclass
class HermesRows:
    database: sqlite3.Connection
    columns: Sequence[str]

    @cached_property
    def wanted(self) -> list[str]:
        return [name for name in _COLUMNS if name in self.columns]

    @property
    def usable(self) -> bool:
        return {"session_id", "role"} <= set(self.wanted)

    def said(self, session: bytes, about: Mapping[str, Any]) -> Iterator[Said | Flaw]:
        places, why = self._places(session)
        if why:
            yield Flaw(f"session {about['id']}", f"not all of its messages can be found ({why})")
        copies, lost = _Copies([at for _, at in places]), list[int]()
        for index, (number, _) in enumerate(places):
            try:
                query = f"SELECT {', '.join(self.wanted)} FROM messages WHERE rowid = ?"
                values = self.database.execute(query, (number,)).fetchone()
                if values is None:
                    raise sqlite3.DatabaseError("the index names a row that is not there")
                row = dict(zip(self.wanted, values, strict=True))
            except sqlite3.DatabaseError as error:
                if is_locked(error):
                    raise
                lost.append(number)
                why = str(error)
            else:
                yield from _message(number, row, about, copies.reason(index, row))
        if lost:
            why = f"{len(lost)} messages of session {about['id']} cannot be read ({why})"
            yield Flaw(f"rows {lost[0]} to {lost[-1]}", why)

    def _places(self, session: bytes) -> tuple[list[tuple[int, float | None]], str]:
        """Row number and time of each message, and what went wrong if there may be more.

        Order is by row: clocks step back, row numbers do not. The index alone is tried before the table, because
        a walk through a damaged table ends at the damage.
        """
        at = "timestamp" if "timestamp" in self.wanted else "NULL"
        found, why = list[tuple[int, float | None]](), ""
        for picked, hint in ((at, ""), ("NULL", ""), ("NULL", "NOT INDEXED")):
            found.clear()
            mine = f"{hint} WHERE session_id = CAST(? AS TEXT) ORDER BY rowid LIMIT {MAX_TURNS}"
            query = f"SELECT rowid, {picked} FROM messages {mine}"
            try:
                for number, moment in self.database.execute(query, (session,)):
                    found.append((number, float(moment) if isinstance(moment, int | float) else None))
                return found, ""
            except sqlite3.DatabaseError as error:
                if is_locked(error):
                    raise
                why = str(error)
        return found, why


class _Copies:
    """Tells which rows are copies that a compaction wrote, from nothing that a later write could change."""

    def __init__(self, times: Sequence[float | None]) -> None:
        self._times = times
        self._first: dict[int, float | None] = {}

    def reason(self, index: int, row: Mapping[str, Any]) -> str | None:
        if _undone(row):
            return None
        key = hash(tuple(row.get(name) for name in ("role", "content", "tool_calls", "tool_call_id")))
        at = self._times[index]
        if key not in self._first:
            self._first[key] = at
            return None
        if at is None:
            return None
        beside = [self._times[place] for place in (index - 1, index + 1) if 0 <= place < len(self._times)]
        in_one_go = any(other is not None and abs(other - at) < _ONE_GO_SECONDS for other in beside)
        return "repeated after compaction" if at == self._first[key] or in_one_go else None


def _undone(row: Mapping[str, Any]) -> bool:
    return row.get("active") == 0 and not row.get("compacted")


def _message(number: int, row: Mapping[str, Any], about: Mapping[str, Any], noise: str | None) -> Iterator[Said | Flaw]:
    if _undone(row):
        return
    values = dict(row)
    for name, value in row.items():
        if isinstance(value, bytes):
            values[name], broken = decoded(value)
            if broken:
                why = f"{name} is not valid UTF-8; the bad bytes are shown as \N{REPLACEMENT CHARACTER}"
                yield Flaw(f"row {number}", why)
    for name, marker in (("content", _STRUCTURED), ("tool_calls", "")):
        value = values.get(name)
        if isinstance(value, str) and value and value.startswith(marker):
            try:
                values[name] = parsed(value.removeprefix(marker))
            except ValueError as error:
                yield Flaw(f"row {number}", f"{name} is not JSON ({error}); kept as text")
                values[name] = value.removeprefix(marker)
    if values["role"] in _NOT_MESSAGES:
        return
    if role_of(values["role"]) is None:
        yield Flaw(f"row {number}", f"unknown role {values['role']!r}")
        return
    message = read_message(values)
    text = spoken(message.text) if message.role == "assistant" else message.text
    if message.role == "tool":
        message = replace(message, failed=how_call_failed(json_object(text)))
    if text.lstrip().startswith(_SUMMARIES):
        noise = noise or "compaction"
    message = replace(message, text=text, noise=noise)
    yield from people_apart(message, row, about) if message.role == "user" else [message]


def people_apart(message: Said, row: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Said]:
    """A "user" row as what the person wrote and what Hermes put beside it, each with whose words it is."""
    for part in said_apart(message, HERMES):
        yield heard_from(part, row, about) if part.role == "user" else part


def heard_from(message: Said, row: Mapping[str, Any], about: Mapping[str, Any]) -> Said:
    """Whose words a "user" row really holds. Only the person's own keep the Origin of a user."""
    if message.origin is Origin.TOOL:  # a tool's words stand in it: no sender makes them better
        return message
    if about.get("source") in _PROGRAMS or (message.text.startswith(_NOTICES) and about.get("source") != "cron"):
        return replace(message, origin=Origin.TOOL)
    if about.get("source") in _AUTOMATIC or "_delegate_from" in str(about.get("model_config")):
        return replace(message, origin=Origin.AGENT)
    if message.text.startswith(_SUMMARIES):
        return replace(message, origin=Origin.AGENT)
    speaker = _SPEAKER.match(message.text) if about.get("chat_type") not in (None, "", "dm") else None
    if speaker:  # a room shared by several people: Hermes puts the name in front
        return replace(message, name=speaker.group(1), origin=Origin.MEMBER)
    return replace(message, origin=Origin.MEMBER) if row.get("observed") else message


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
    messages: Iterator[tuple[str, Any] | Flaw]
    if path.suffix == ".jsonl":
        about: Any = {"session_id": path.stem}
        messages = (line if isinstance(line, Flaw) else (f"line {line[0]}", line[1]) for line in json_lines(path))
    else:
        about = whole_json(path)
        if not isinstance(about, Mapping):
            yield about if isinstance(about, Flaw) else Flaw("the file", "not an object with messages")
            return
        listed = about.get("messages")
        messages = iter([Flaw("the file", "no list of messages")])
        if isinstance(listed, JsonList):
            messages = ((f"message {number}", message) for number, message in enumerate(listed, 1))
    session = str(about.get("session_id") or path.stem)
    database = _home(path) / "state.db"
    if database.exists() and knows(database, session):
        return
    facts = {"source": about.get("platform"), "model": about.get("model")}
    yield Opened(
        Head(
            id=f"hermes:{session}",
            harness="hermes",
            agent=profile_of(path) or "default",
            started_at=moment(about.get("session_start")),
            facts={name: str(value) for name, value in facts.items() if value},
        )
    )
    for found in messages:
        if isinstance(found, Flaw):
            yield found
        elif is_message(found[1]):
            yield from _said_in_file(found[1], {"source": str(about.get("platform") or "")})
        elif path.suffix == ".json" or mapping_or_empty(found[1]).get("role") != "session_meta":
            yield Flaw(found[0], "not a message with a known role")


def _said_in_file(message: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Said]:
    words = read_message(message)
    if words.role == "user":
        yield from people_apart(words, message, about)
    elif words.role == "tool":
        yield replace(words, failed=how_call_failed(json_object(words.text)))
    else:
        yield replace(words, text=spoken(words.text)) if words.role == "assistant" else words


def profile_of(path: Path) -> str | None:
    """The profile whose home a file lies in: `profiles/<name>/` is a whole Hermes home of its own."""
    home = _home(path)
    return home.name if home.parent.name == "profiles" else None


def _home(path: Path) -> Path:
    return next((folder.parent for folder in path.parents[:2] if folder.name == "sessions"), path.parent)
