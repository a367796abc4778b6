"""Hermes: one `state.db` for each profile, and the JSON transcripts it used to leave in `sessions/`.

The database is in use while it is read. Each session is read in one transaction of its own: consistent, and
short enough that Hermes can still clear its write-ahead log. Columns come and go with Hermes's versions, so
only those that are there are asked for. Rows are fetched one by one through the index: where a page is
damaged, the rows around it are still read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reverie.core.clock import moment
from reverie.harnesses.hermes.messages import HermesRows, is_session_file, profile_of, read_session_file
from reverie.transcripts.files import (
    MAGIC,
    at_rest,
    cell_text,
    columns,
    is_interrupted,
    is_locked,
    misses_log,
    reading,
    stamp,
    why_unread,
)
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, project_folder, project_name

_SESSION_COLUMNS = (
    *("id", "source", "user_id", "chat_type", "model", "model_config", "parent_session_id", "started_at"),
    *("ended_at", "end_reason", "cwd", "git_branch", "git_repo_root", "title", "profile_name"),
)
_FACTS = ("source", "model", "cwd", "git_branch", "chat_type", "end_reason")
_HOME_SIGNS = ("memories", "SOUL.md", "config.yaml")
_COPIES = "state-snapshots"  # Hermes's own backups: the same sessions again, only older


class HermesReader:
    name = "hermes"
    places: tuple[str, ...] = ("${HERMES_HOME:-~/.hermes}",)

    def recognises(self, path: Path, start: bytes) -> float:
        if _COPIES in path.parts:
            return 0.0
        if start.startswith(MAGIC):
            try:
                with reading(path) as database:
                    messages, sessions = columns(database, "messages"), columns(database, "sessions")
            except sqlite3.Error:
                return 0.95 if path.name == "state.db" else 0.0  # locked or damaged: reading it can say so
            holds = {"session_id", "role", "content"} <= set(messages) and {"id", "source"} <= set(sessions)
            return 0.95 if holds else 0.0
        if start and path.name == "state.db" and any((path.parent / sign).exists() for sign in _HOME_SIGNS):
            return 0.9  # damaged: claimed, so that reading it can say so
        return is_session_file(path, start)

    def read(self, path: Path) -> Iterator[Event]:
        if path.suffix in (".json", ".jsonl"):
            yield from read_session_file(path, self._knows)
            return
        try:
            with reading(path) as database:
                yield from _database(database, path)
        except sqlite3.Error as error:
            yield Flaw("the file", why_unread(error), passing=is_locked(error))

    def _knows(self, database: Path, session: str) -> bool:
        """Whether a `state.db` has this session: then the database is the one to read it from."""
        try:
            with reading(database) as connection:
                found = connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone()
        except (OSError, sqlite3.Error):
            return False
        return found is not None


def _database(database: sqlite3.Connection, path: Path) -> Iterator[Event]:
    rows = HermesRows(database, columns(database, "messages"))
    wanted = [name for name in _SESSION_COLUMNS if name in columns(database, "sessions")]
    if "id" not in wanted or not rows.usable:
        yield Flaw("the file", "no tables `sessions` and `messages` as Hermes makes them")
        return
    resting = stamp(path) if at_rest(path) else None
    if misses_log(database, path):
        yield Flaw("the file", "its -wal cannot be read in a read-only folder; the newest messages may be missing")
    sessions, flaw = _session_ids(database)
    if flaw:
        yield flaw
    for session in sessions:
        try:
            database.execute("BEGIN")
            about, flaw = _about(database, wanted, session)
            if flaw:
                yield flaw
            opened = False
            for event in rows.said(session, about):
                if not opened and not isinstance(event, Flaw):
                    opened = True  # a session without a message is only a row Hermes made in passing
                    yield Opened(_head(about, path))
                yield event
            database.execute("COMMIT")
        except sqlite3.Error as error:
            yield Flaw(f"session {cell_text(session)}", why_unread(error))
            if is_locked(error) or is_interrupted(error):
                return  # it will be so for the next one too, and each would be waited for
            if database.in_transaction:
                database.execute("ROLLBACK")
    if resting and resting != stamp(path):
        yield Flaw("the file", "Hermes wrote to it while it was read; it is read again next time", passing=True)


def _session_ids(database: sqlite3.Connection) -> tuple[list[bytes], Flaw | None]:
    """Every session, oldest first; if their table is damaged, also those that only messages name."""
    found: list[bytes] = []
    try:
        for (session,) in database.execute("SELECT id FROM sessions ORDER BY rowid"):
            found.append(session)
        return found, None
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise
        flaw = Flaw("table sessions", f"{why_unread(error)}; sessions are named by their messages instead")
    named = database.execute("SELECT DISTINCT session_id FROM messages")
    return list(dict.fromkeys([*found, *(session for (session,) in named)])), flaw


def _about(database: sqlite3.Connection, wanted: list[str], session: bytes) -> tuple[dict[str, Any], Flaw | None]:
    """A session's row by column. Without it (a damaged page) the session is known by its id alone."""
    try:
        # An id may have been stored with bytes that are no UTF-8, so bytes are compared.
        query = f"SELECT {', '.join(wanted)} FROM sessions WHERE id = CAST(? AS TEXT)"
        row = database.execute(query, (session,)).fetchone()
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise
        return {"id": cell_text(session)}, Flaw(f"session {cell_text(session)}", why_unread(error))
    if row is None:
        return {"id": cell_text(session)}, None
    values = (cell_text(value) if isinstance(value, bytes) else value for value in row)
    return dict(zip(wanted, values, strict=True)), None


def _head(about: dict[str, Any], path: Path) -> Head:
    parent = about.get("parent_session_id")
    folder = _known(about.get("git_repo_root")) or _known(about.get("cwd"))
    return Head(
        id=f"hermes:{about['id']}",
        user=_known(about.get("user_id")),
        harness="hermes",
        agent=profile_of(path) or _known(about.get("profile_name")) or "default",
        title=_known(about.get("title")),
        started_at=moment(about.get("started_at")),
        ended_at=moment(about.get("ended_at")),
        parent=f"hermes:{parent}" if parent else None,
        facts={name: str(about[name]) for name in _FACTS if about.get(name)},
        project=project_name(folder),
        project_path=project_folder(folder),
    )


def _known(value: object) -> str | None:
    return str(value) if value not in (None, "") else None
