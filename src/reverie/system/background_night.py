"""A night in the background, begun by an agent's hook: no cron is needed, and a machine that slept makes up for it.

The hook waits for nothing. At most once an hour it has a process of its own look whether a night is due; that holds the
lock until it ends, so there is one at a time for a home.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from reverie.core.clock import moment
from reverie.system.files import make_folder

AGAIN = timedelta(hours=1)
_NICE = 10  # the agent goes on meanwhile


@dataclass(frozen=True, slots=True)
class BackgroundNight:
    """`folder` has a file that says when to look next, and one with what the last night said."""

    folder: Path

    def begin(self, command: Sequence[str], now: datetime) -> bool:
        """Start the command, which knows itself whether a night is due; not while one runs, nor within the hour."""
        make_folder(self.folder)
        with os.fdopen(os.open(self.folder / "next-look", os.O_RDWR | os.O_CREAT, 0o600), "r+") as look:
            try:
                fcntl.flock(look, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            after = moment(look.read().strip())
            if after and now < after <= now + AGAIN:  # later than that is no time this ever wrote
                return False
            look.seek(0)
            look.truncate()
            look.write(f"{(now + AGAIN).isoformat()}\n")
            look.flush()
            self._start(command, look.fileno())
        return True

    def _start(self, command: Sequence[str], lock: int) -> None:
        """It inherits the lock, which is free when both have closed it."""
        with os.fdopen(os.open(self.folder / "night.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as said:
            night = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=self.folder,
                start_new_session=True,
                pass_fds=(lock,),
            )
        os.setpriority(os.PRIO_PROCESS, night.pid, _NICE)
