"""Git by its command line: its own settings and nobody else's, and what it says when it fails.

No setting of the user or the machine takes part, no hook runs, and no variable that leads git elsewhere is handed on.
Only plumbing is called: porcelain asks settings of the repository that can name programs to run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reverie.core.errors import ReverieError

OURS = "Reverie"  # the committer of every commit that tells of a Change
_SETTINGS = {
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.fsync": "committed,reference,index",
    "core.fsyncMethod": "fsync",
    "core.hooksPath": os.devnull,
    "commit.gpgSign": "false",
    "gc.auto": "0",
}
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_COMMITTER_NAME": OURS,
    "GIT_COMMITTER_EMAIL": "",
}


class GitFailed(ReverieError):
    """Git is not there, or did not do what it was asked. What it said is in the message."""


@dataclass(frozen=True, slots=True)
class Git:
    """`lock` is an open lock file that every git started here holds as well: when it is free, none of them runs."""

    folder: Path
    work: Path
    lock: int

    def __call__(self, *words: str, feed: Iterable[bytes] = ()) -> bytes:
        """Run it to the end and return what it printed. `feed` is written to it while it runs."""
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [*self._command(), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=_ENVIRONMENT,
                pass_fds=(self.lock,),
                cwd=self.work,
            )
            printed = _fed(process, feed)
            if process.returncode != 0:
                said.seek(0)
                raise _failure(words[0], process.returncode, said.read())
            return printed

    def _command(self) -> list[str]:
        git = shutil.which("git")
        if git is None:
            raise GitFailed("git was not found.", next_step="Install git; what landed meanwhile is shown then.")
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        return [git, f"--git-dir={self.folder}", f"--work-tree={self.work}", *settings]


def _fed(process: subprocess.Popen[bytes], feed: Iterable[bytes]) -> bytes:
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):  # it ended early, and its exit code says why
            for part in feed:
                process.stdin.write(part)
        return process.communicate()[0]
    finally:
        if process.poll() is None:  # what was to be written could not be read: half of it must not count
            process.kill()
            process.communicate()


def _failure(command: str, code: int, said: bytes) -> GitFailed:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    ended = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
    why = f": {first.removeprefix('fatal: ').rstrip('.')}" if first else " without a word"
    return GitFailed(f"`git {command}` {ended}{why}.")
