"""Other people's SQLite databases: opened to be read, left exactly as they were.

Four things go wrong with a plain read-only connection. A WAL database that nobody has open gets a `-wal`
and a `-shm` file from its first reader, which may not remove them again (and they may belong to the wrong
person). On read-only media those files cannot be made at all. And a database in use may be locked. So one
that is at rest is opened as immutable, one in use with `mode=ro`, and a lock is waited for only briefly. And a database
holds code: a view that never ends fills a disk or hangs whoever asks. So nothing but the rows of plain tables is read,
without any function or recursion, with no row larger than a turn may be, and for no longer than the file's limit. What
a sort may put into a temporary file is then no more than the table it sorts.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from reverie.transcripts.files import check_databases, seconds_left
from reverie.transcripts.json_files import decoded

MAGIC = b"SQLite format 3\x00"
_WAIT_SECONDS = 2.0
_LARGEST_ROW = 16 * 1024 * 1024
_STEPS_BETWEEN_LOOKS = 10_000
_PRAGMAS = {"table_info", "journal_mode"}
_WAL_VERSION_AT = 18  # offset of the "file format write version" in the header: 2 means WAL


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. Text comes as bytes: transcripts hold bytes that are not UTF-8."""
    check_databases()
    try:
        with closing(_opened(path)) as connection:
            connection.text_factory = bytes
            yield connection
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema, and Python fails at the message
        raise sqlite3.DatabaseError("its schema is damaged") from error


def _allowed(action: int, first: str | None, second: str | None, _: str | None, view: str | None) -> int:
    match action:
        case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_READ | sqlite3.SQLITE_TRANSACTION:
            plain = view is None
        case sqlite3.SQLITE_PRAGMA:
            plain = first in _PRAGMAS
        case _:  # how SQLite tells itself the columns of a pragma; nothing is written
            plain = action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"
    return sqlite3.SQLITE_OK if plain else sqlite3.SQLITE_DENY


def _opened(path: Path) -> sqlite3.Connection:
    if at_rest(path):
        return _connected(path, "immutable=1")
    connection = _connected(path, "mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").close()
    except sqlite3.OperationalError as error:
        connection.close()
        if _code(error) != sqlite3.SQLITE_CANTOPEN:
            raise
        return _connected(path, "immutable=1")  # a read-only folder: no `-shm` can be made there
    return connection


def _connected(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
    until = time.monotonic() + seconds_left()
    connection.execute("PRAGMA trusted_schema=OFF").close()
    connection.execute("PRAGMA cache_size=-8000").close()
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_ROW)
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_BETWEEN_LOOKS)
    connection.set_authorizer(_allowed)
    return connection


def at_rest(path: Path) -> bool:
    """Whether this is a WAL database that nobody has open: whoever has it open keeps a `-wal` beside it."""
    return _keeps_log(path) and not _log(path).exists()


def misses_log(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a log lies beside the database that this connection cannot see: its newest rows are in there."""
    if not (_keeps_log(path) and _log(path).exists() and _log(path).stat().st_size):
        return False
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return bool(mode != b"wal")


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _keeps_log(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_WAL_VERSION_AT + 1)[_WAL_VERSION_AT:] == b"\x02"


def stamp(path: Path) -> tuple[int, int]:
    """Two numbers that change when the file is written to."""
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def columns(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """The names of a table's columns; none if there is no such table."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return tuple(name.decode() if isinstance(name, bytes) else name for (name,) in rows)


def cell_text(value: object) -> str:
    return decoded(value)[0] if isinstance(value, bytes) else str(value)


def is_interrupted(error: sqlite3.Error) -> bool:
    """Whether the file's time was up."""
    return _code(error) == sqlite3.SQLITE_INTERRUPT


def is_locked(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def why_unread(error: sqlite3.Error) -> str:
    if is_locked(error):
        return "locked by another program; it is read again next time"
    return "reading it took too long and was given up" if is_interrupted(error) else f"cannot be read ({error})"


def _code(error: sqlite3.Error) -> int:
    # The low byte is the kind of error, the rest refines it. Errors of the Python module itself have no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
