"""One `engine()` for everything that talks SQL.

SQLite: `pysqlite3` where its wheel is installed (a current SQLite), else the standard library's. Versions below
3.51.3 can lose a checkpoint in WAL mode, so there the journal is `delete`.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Engine, ExceptionContext, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, OperationalError, ProgrammingError

from reverie.core.errors import BadSetting, DatabaseUnusable
from reverie.storage.database.transactions import begun

WAL_IS_SAFE_FROM = (3, 51, 3)
BUSY_MILLISECONDS = 30_000
_NEXT_STEPS = (
    ("locked", "Another process is writing; try again when it is done."),
    ("malformed", "The file is damaged: restore a backup, or move it away and add the sources again."),
    ("not a database", "Another file is in its place: move it away, or point `database` elsewhere."),
    ("is full", "Free some disk space and try again."),
    ("readonly", "{file} or its folder may not be written: check owner and mode."),
    ("unable to open", "Check that the folder exists and {file} may be read and written."),
    ("connect", "Check that the server runs and the URL is right."),
)
THREADS = 40  # of a server, as many as its framework has: none waits for a connection while others are idle
SPARE = 8  # for who holds the lock of a store and writes with another connection
PAGE_BYTES = 8192  # transcripts are long rows: fewer overflow pages, fewer interior ones


def engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise _unusable(url) from error
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise _unusable(url)
    if parsed.get_backend_name() == "sqlite":
        made = _sqlite(parsed)
    else:
        driven = parsed.set(drivername="postgresql+psycopg")
        made = create_engine(driven, pool_pre_ping=True, pool_size=THREADS, max_overflow=SPARE)
        event.listen(made, "begin", begun)
    event.listen(made, "handle_error", _explained)
    return made


def _explained(context: ExceptionContext) -> None:
    """The driver's word for a database that cannot be used, with what to do about it."""
    if isinstance(context.sqlalchemy_exception, OperationalError | DatabaseError) and not isinstance(
        context.sqlalchemy_exception, IntegrityError | ProgrammingError
    ):
        words = str(context.original_exception).strip() or "no answer"
        if "readonly" in words.lower():
            context.is_disconnect = True  # what was opened while it could not be written stays so: open it again
        step = next((step for sign, step in _NEXT_STEPS if sign in words.lower()), "Run `reverie doctor`.")
        step = step.format(file=(context.engine and context.engine.url.database) or "The file")
        raise DatabaseUnusable(
            f"The database said: {words}.", next_step=f"{step} Nothing was changed."
        ) from context.original_exception


def _unusable(url: str) -> BadSetting:
    return BadSetting(
        f"The database URL begins {url.split(':', 1)[0][:20]!r}.",
        expected="sqlite:///path/to/reverie.db or postgresql://user@host/name",
        next_step="Set it with --database, REVERIE_DATABASE or `database` in reverie.toml.",
    )


def _sqlite(url: URL) -> Engine:
    driver = sqlite_driver()
    made = create_engine(url, module=driver)
    event.listen(made, "do_connect", lambda *_: mend_modes(Path(url.database or "")))
    journal = "wal" if driver.sqlite_version_info >= WAL_IS_SAFE_FROM else "delete"

    @event.listens_for(made, "connect")
    def on_connect(connection: Any, _: Any) -> None:
        # The driver must not open transactions by itself: DDL would fall outside them.
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            f"page_size={PAGE_BYTES}",
            f"journal_mode={journal}",
            "synchronous=full",  # what was acknowledged outlives a power cut, too
            "foreign_keys=on",
            "secure_delete=on",
            "cache_size=-16000",
        ):
            connection.execute(f"pragma {pragma}")

    @event.listens_for(made, "begin")
    def on_begin(connection: Any) -> None:
        readonly = connection.get_execution_options().get("reads", False)
        connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")

    return made


def mend_modes(database: Path) -> None:
    """SQLite makes the files beside a database with the mode that has at the time. One made while the database could
    only be read keeps every later write out, so it is given the database's mode again."""
    if not os.access(database, os.W_OK):
        return
    for path in (database.with_name(f"{database.name}{end}") for end in ("-wal", "-shm", "-journal")):
        if path.exists() and not os.access(path, os.W_OK):
            try:
                path.chmod(stat.S_IMODE(database.stat().st_mode))
            except OSError as error:
                raise DatabaseUnusable(
                    f"{path} cannot be written ({error.strerror}), though {database.name} can be.",
                    expected="a file with the owner and mode of the database beside it",
                    next_step=f"`chmod u+w {path}` as its owner. Nothing was changed.",
                ) from error


def sqlite_driver() -> ModuleType:
    try:
        import pysqlite3  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return sqlite3
    return pysqlite3.dbapi2  # type: ignore[no-any-return,unused-ignore]
