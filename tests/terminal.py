"""A command in a real terminal, answered as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07)")

_BEGUN = re.compile(r"\x1b[^a-zA-Z]*$")  # an escape of which the rest is still to come


def in_terminal(
    arguments: Sequence[str],
    answers: Sequence[tuple[str, str]] = (),
    *,
    columns: int = 80,
    rows: int = 40,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What it showed, without colours. Each answer is typed as soon as its words have been shown since the last."""
    child, terminal = pty.fork()
    if child == 0:
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        variables = {**inherited, "TERM": "xterm-256color", **(environment or {})}
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(sys.executable, [sys.executable, "-m", "reverie", *arguments], variables)
    shown, since, waiting = "", 0, list(answers)
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                shown += os.read(terminal, 65536).decode("utf-8", "replace")
            except OSError:  # the terminal is closed: the command has ended
                break
            plain = _BEGUN.sub("", _ESCAPES.sub("", shown))
            while waiting and (at := plain.find(waiting[0][0], since)) >= 0:
                words, keys = waiting.pop(0)
                since = at + len(words)
                os.write(terminal, keys.encode())
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    assert not waiting, f"never asked: {waiting[0][0]!r}\n{shown}"
    return _ESCAPES.sub("", shown).replace("\r\n", "\n")
