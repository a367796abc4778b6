"""Whether the machine has what Reverie needs. Looks; changes nothing, makes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from reverie.core.errors import ReverieError
from reverie.core.scope import LOCAL
from reverie.dreams.light.tagger import state
from reverie.storage.backup.files import is_half_restored
from reverie.storage.database import WAL_IS_SAFE_FROM, bypassed, engine, sqlite_driver, unbound
from reverie.storage.migrations import CURRENT, schema_version
from reverie.storage.search_index import refuse_unusable
from reverie.storage.sessions import quarantined

_SHOWN = 5
ENOUGH_BYTES = 200 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    said: str


def checks(home: Path, database: str) -> list[Check]:
    found = [_permissions(home), _database(database), _index(home), _transcripts(database)]
    why = state()
    instead = f"the trained tagger cannot be loaded ({why}); a short list of English cues reads instead"
    folder = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    git = Check("git", False, "not found; install git (history is kept without it, but not shown as commits)")
    if (program := shutil.which("git")) is not None:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
        git = Check("git", said.returncode == 0, said.stdout.strip() or said.stderr.strip())
    return [
        *found,
        Check("reader", not why, instead if why else "the trained tagger reads what people say"),
        git,
        Check("disk", free >= ENOUGH_BYTES, f"{free / 1e9:.1f} GB free at {folder}"),
    ]


def _index(home: Path) -> Check:
    """Of every workspace: each has a folder of its own."""
    folder = home / "index"
    try:
        refuse_unusable(folder)
        workspaces = sorted(folder.iterdir()) if folder.is_dir() else []
        for workspace in workspaces:
            refuse_unusable(folder, workspace)
    except ReverieError as error:
        return Check("index", False, str(error))
    return Check("index", True, "can be read and written" if workspaces else "not made yet; the first search makes it")


def _permissions(home: Path) -> Check:
    if not home.exists():
        parent = next(folder for folder in home.parents if folder.exists())
        ok = os.access(parent, os.W_OK)
        return Check("home", ok, "not made yet; `reverie init` makes it" if ok else f"{parent} may not be written")
    if not home.is_dir():
        return Check("home", False, f"{home} is not a folder")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Check("home", False, f"{home} may not be read and written")
    if is_half_restored(home):
        return Check("home", False, "a restore into it was interrupted; run the same `reverie restore` again")
    mode = home.stat().st_mode & 0o777
    if mode & 0o077:
        return Check("home", False, f"others may look into it (mode {mode:o}); `chmod 700 {home}`")
    return Check("home", True, f"readable and writable by you alone (mode {mode:o})")


def _database(url: str) -> Check:
    try:
        with _looking(url) as connection:
            if connection is None:
                return Check("database", True, "not made yet; the first command that needs it makes it")
            found = schema_version(connection)
            if connection.dialect.name == "postgresql":
                kind = f"PostgreSQL {connection.execute(text('show server_version')).scalar()}"
            else:
                driver, journal = sqlite_driver(), connection.execute(text("pragma journal_mode")).scalar()
                unsafe = driver.sqlite_version_info < WAL_IS_SAFE_FROM
                kind = f"SQLite {driver.sqlite_version}, journal {journal}"
                kind += " (WAL is unsafe in this version)" if unsafe else ""
            said = f"schema {found or 'none yet'}, {kind}"
            if found is not None and found.isdigit() and int(found) > int(CURRENT):
                return Check("database", False, f"{said}; newer than this Reverie knows ({CURRENT}): upgrade Reverie")
            if connection.dialect.name == "sqlite":
                verdict = connection.execute(text("pragma quick_check(1)")).scalar()
                return Check("database", verdict == "ok", f"{said}, quick check {verdict}")
            role = bypassed(connection)
            return Check("database", True, f"{said}; {unbound(role)}" if role else said)
    except ReverieError as error:
        return Check("database", False, str(error))


@contextmanager
def _looking(url: str) -> Iterator[Connection | None]:
    """A connection, or None where there is no database yet."""
    made = engine(url)
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists():
            yield None
            return
        with made.execution_options(workspace=LOCAL).connect() as connection:
            yield connection
    finally:
        made.dispose()


def _transcripts(url: str) -> Check:
    """Files that could not be read are no fault of this machine's: they are named, and the check is passed."""
    try:
        with _looking(url) as connection:
            held = quarantined(connection, LOCAL) if connection is not None else []
    except ReverieError:
        return Check("transcripts", True, "not looked at: the database cannot be used")
    if not held:
        return Check("transcripts", True, "every file could be read")
    shown = "; ".join(f"{one.path}: {one.why}" for one in held[:_SHOWN])
    more = f"; and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
    return Check("transcripts", True, f"could not be read, tried again when they change: {shown}{more}")
