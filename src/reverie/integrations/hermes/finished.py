"""Sessions that ended since the last night, each a line in `<Hermes home>/dreaming/finished.jsonl`.

A night reads Hermes' database anyway. What is written here says that there is something to read, and has the database
read where Reverie is set to read only what was added (`sources = "added"`).
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from .program import (
    append_lines,
    hermes_home,
    launch,
    program_environment,
    reads_only_what_was_added,
    run_reverie,
    settings,
)

_NIGHT = ("-P", "-m", "hermes_cli.main", "dreaming", "run", "--nightly", "--if-missed")
_AGAIN = 3_600  # seconds


def _file() -> Path:
    return hermes_home().dreaming / "finished.jsonl"


def queue(session: str) -> None:
    """Hermes waits for this: one short line at the end of a file."""
    append_lines(_file(), [{"session": session, "at": int(time.time())}])


def begin_night_if_due() -> None:
    """Where `reverie install hermes` was told so: a process of its own looks whether a night is due, at most once an
    hour. Hermes waits for nothing."""
    look, now = hermes_home().dreaming / "next-look", time.time()
    just_looked = look.exists() and now < look.stat().st_mtime <= now + _AGAIN
    if just_looked or not launch().get("nights") or settings().get("enabled") is False:
        return
    look.touch()
    os.utime(look, (now, now + _AGAIN))
    with (look.parent / "night.log").open("wb") as said:
        subprocess.Popen(
            [sys.executable, *_NIGHT],
            env=program_environment(hermes_home(), {"HERMES_HOME": str(hermes_home().path)}),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def waiting() -> list[str]:
    """The sessions, each once, in the order they ended."""
    try:
        lines = _file().read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    found = dict[str, None]()
    for line in lines:
        try:
            found[str(json.loads(line)["session"])] = None
        except (ValueError, KeyError, TypeError):
            continue  # a line that was cut by a crash; the database has the session
    return list(found)


class Taken:
    """The sessions that waited when a night began. They are dropped when it is over; what came meanwhile is kept."""

    def __init__(self) -> None:
        self._path = _file()
        self._bytes = self._path.stat().st_size if self._path.exists() else 0
        self.sessions = waiting()

    def bring_in(self) -> None:
        """Have Hermes' database read, also where Reverie reads only what was added."""
        database = hermes_home().path / "state.db"
        if self.sessions and database.exists() and reads_only_what_was_added():
            run_reverie(["sessions", "add", str(database)], captured=True)

    def drop(self) -> None:
        if self._bytes:
            with self._path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                rest = file.read()[self._bytes :]
                file.seek(0)
                file.write(rest)
                file.truncate()
