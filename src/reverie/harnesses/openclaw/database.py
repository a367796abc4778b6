"""OpenClaw since 2026.9: `agents/<agent>/agent/openclaw-agent.sqlite`. A row is what a line of its JSONL was.

What the gateway knows about a session stands in two more tables, and is more than the JSONL told: whether others are in
the room, who started it, and whether mail or a webhook speaks in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.transcripts.files import MAGIC, cell_text, columns, reading
from reverie.transcripts.json_streams import parsed
from reverie.transcripts.readers import Flaw

NAME = "openclaw-agent.sqlite"
_NEEDED = {"session_id", "seq", "event_json"}
_WINDOW = ("session_key", "chat_type", "spawned_by", "display_name", "hook_external_content_source")
_NODE = ("label", "display_name", "spawned_by", "created_via")
_CACHE = ("plugin_id", "namespace", "entry_key", "value_json")
_LONGEST_ENTRY = 64 * 2**20  # bytes
_BY_AGENTS = {"spawn", "cron", "internal", "plugin"}  # how a session was begun where no person began it


@dataclass(frozen=True, slots=True)
class Window:
    """A session, and what the gateway knows about it."""

    session: str
    key: str = ""
    title: str | None = None
    parent: str | None = None
    in_a_room: bool = False
    by_agents: bool = False
    foreign: bool = False  # mail or a webhook speaks in the person's place
    forwarded: frozenset[tuple[str, str]] = frozenset()  # chat and number of messages that somebody else wrote


def is_openclaw_database(path: Path, start: bytes) -> float:
    if path.name != NAME or not start.startswith(MAGIC):
        return 0.0
    try:
        with reading(path) as database:
            return 0.95 if set(columns(database, "transcript_events")) >= _NEEDED else 0.0
    except sqlite3.Error:
        return 0.9  # locked or damaged: claimed, so that reading it can say so


def read_sessions(database: sqlite3.Connection) -> list[Window]:
    """Every session, oldest first."""
    names = [cell_text(name) for (name,) in database.execute("SELECT DISTINCT session_id FROM transcript_events")]
    of_window, of_node = columns(database, "session_windows"), columns(database, "session_nodes")
    current = dict[str, str]()
    if {"session_key", "current_session_id"} <= set(of_node):
        rows = database.execute("SELECT session_key, current_session_id FROM session_nodes")
        current = {cell_text(key): cell_text(session) for key, session in rows}
    found = list[Window]()
    for name in names:
        about = _row(database, "session_windows", "session_id", name, [one for one in _WINDOW if one in of_window])
        key = about.get("session_key")
        node = _row(database, "session_nodes", "session_key", key, [one for one in _NODE if one in of_node])
        parent = current.get(about.get("spawned_by") or node.get("spawned_by") or "")
        title = node.get("label") or node.get("display_name") or about.get("display_name")
        in_a_room, by_agents = about.get("chat_type") in ("group", "channel"), node.get("created_via") in _BY_AGENTS
        foreign, parent = bool(about.get("hook_external_content_source")), parent if parent != name else None
        found.append(Window(name, key or "", title, parent, in_a_room, by_agents, foreign))
    return found


def forwarded(path: Path) -> frozenset[tuple[str, str]]:
    """Chat and number of each message in Telegram that a person forwarded. The transcript does not tell one from what
    they typed; the gateway's own cache of messages does."""
    cache = path.parents[3] / "state" / "openclaw.sqlite" if len(path.parents) > 3 else None
    if cache is None or not cache.is_file():
        return frozenset()
    with reading(cache) as database:
        if not set(_CACHE) <= set(columns(database, "plugin_state_entries")):
            return frozenset()
        cached = "plugin_id = 'telegram' AND namespace = 'telegram.message-cache'"
        rows = database.execute(f"SELECT entry_key, value_json FROM plugin_state_entries WHERE {cached}")
        keys = [cell_text(key).split(":") for key, told in rows if '"forward_origin":' in cell_text(told)]
    return frozenset((key[-2], key[-1]) for key in keys if len(key) > 2)


def entries(database: sqlite3.Connection, session: str) -> Iterator[tuple[int, Any] | Flaw]:
    """OpenClaw compresses an entry that takes a kilobyte or more."""
    packed = "event_zstd" if "event_zstd" in columns(database, "transcript_events") else "NULL"
    query = f"SELECT seq, event_json, {packed} FROM transcript_events WHERE session_id = CAST(? AS TEXT) ORDER BY seq"
    for number, text, compressed in database.execute(query, (session.encode("utf-8", "surrogateescape"),)):
        where = f"entry {number} of {session}"
        try:
            whole = cell_text(text) if text is not None else _unpacked(compressed)
            yield number if isinstance(number, int) else 0, parsed(whole)
        except ValueError as error:
            yield Flaw(where, f"not JSON ({error})")


def _unpacked(compressed: object) -> str:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(compressed if isinstance(compressed, bytes) else b"") as stream:
            content = stream.read(_LONGEST_ENTRY + 1)
    except zstandard.ZstdError as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    if len(content) > _LONGEST_ENTRY:
        raise ValueError(f"unpacked, it has more than {_LONGEST_ENTRY:,} bytes")
    return cell_text(content)


def _row(database: sqlite3.Connection, table: str, key: str, value: str | None, wanted: list[str]) -> dict[str, str]:
    if not wanted or value is None:
        return {}
    query = f"SELECT {', '.join(wanted)} FROM {table} WHERE {key} = CAST(? AS TEXT)"
    row = database.execute(query, (value.encode("utf-8", "surrogateescape"),)).fetchone()
    return {name: cell_text(cell) for name, cell in zip(wanted, row or (), strict=False) if cell not in (None, b"")}
