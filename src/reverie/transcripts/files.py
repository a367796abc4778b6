"""Files of strangers: how large one may be, how long reading it may take, and its name as it can be kept and shown; and
their SQLite databases, opened to be read, left exactly as they were.

The limits hold for the file that is read now (`limited`); what walks through it calls `check_time` as it goes on. On
Unix a name is bytes, and not every one of them is text.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from reverie.core.errors import BadInput
from reverie.core.ids import sha256

MEGABYTE = 1_000_000
MEGABYTES = 2_000
SECONDS = 600


class FileRefused(BadInput):
    """A file that is too large, takes too long, or is of a kind that is not read from where it came."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """`databases`: whether SQLite files are read at all. Those that someone sent are not: a database can hold a query
    that never ends."""

    megabytes: int = MEGABYTES
    seconds: int = SECONDS
    databases: bool = True


@dataclass(frozen=True, slots=True)
class _Running:
    limits: FileLimits
    until: float


_running: ContextVar[_Running | None] = ContextVar("reverie_file_limits", default=None)


@contextmanager
def limited(limits: FileLimits) -> Iterator[None]:
    token = _running.set(_Running(limits, time.monotonic() + limits.seconds))
    try:
        yield
    finally:
        _running.reset(token)


def check_time() -> None:
    running = _running.get()
    if running and time.monotonic() > running.until:
        raise FileRefused(f"Reading took longer than {running.limits.seconds:,} seconds and was given up.")


def seconds_left() -> float:
    running = _running.get()
    return running.until - time.monotonic() if running else SECONDS


def check_size(size: int, limits: FileLimits) -> None:
    if size > limits.megabytes * MEGABYTE:
        raise FileRefused(
            f"It has {size / MEGABYTE:,.0f} MB; the most that is read is {limits.megabytes:,} MB.",
            next_step="`transcript_megabytes` in reverie.toml sets the limit.",
        )


def check_databases() -> None:
    running = _running.get()
    if running and not running.limits.databases:
        raise FileRefused(
            "A SQLite database was sent; those are read on the machine of their harness only.",
            next_step="Add it there with `reverie sessions add`, or send the sessions as JSON.",
        )


def decoded(raw: bytes) -> tuple[str, bool]:
    """Text of UTF-8 bytes, and whether some of them were not UTF-8."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


LONGEST_NAME = 1_000  # of what a transcript says about itself
_AS_ADDRESS = "file://"


def kept_name(path: Path) -> str:
    """The path as text; one that is no text as its address, `file:///logs/%FF.jsonl`. Every path has its own."""
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        return path.absolute().as_uri()
    return name


def path_of(name: str) -> Path:
    if name.startswith(_AS_ADDRESS):
        return Path(os.fsdecode(unquote_to_bytes(name.removeprefix(_AS_ADDRESS))))
    return Path(name)


def kept_id(text: str) -> str:
    """A name that a database can hold and a person can read, and no other name's. Ids are made of file names, too."""
    text = text.replace("\0", "␀").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 30]}~{sha256(text)[:24]}"


# ---- other people's SQLite databases ---------------------------------------------------------------------------------


# Four things go wrong with a plain read-only connection. A WAL database that nobody has open gets a `-wal` and a
# `-shm` file from its first reader, which may not remove them again (and they may belong to the wrong person). On
# read-only media those files cannot be made at all. And a database in use may be locked. So one that is at rest is
# opened as immutable, one in use with `mode=ro`, and a lock is waited for only briefly. And a database holds code: a
# view that never ends fills a disk or hangs whoever asks. So nothing but the rows of plain tables is read, without
# any function or recursion, with no row larger than a turn may be, and for no longer than the file's limit. What a
# sort may put into a temporary file is then no more than the table it sorts.

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
