"""A program at a terminal: what a person types, pastes and sees."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.peers.agents import CodingAgent

_CONTROL = re.compile(rb"\x1b\[[0-9;?>]*[a-zA-Z]|\x1b[^\[]")


class Terminal:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seen = b""

    @property
    def screen(self) -> str:
        return _CONTROL.sub(b" ", self._seen).decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def until(self, happened: Callable[[], bool], *, again: Callable[[], None] | None = None) -> None:
        """Read what is shown until something has happened. What is shown meanwhile is in the failure. `again` is done
        every second until then: a program that has just begun may not have noticed the first time."""
        end, done = time.monotonic() + 60, time.monotonic()
        while not happened():
            assert time.monotonic() < end, f"nothing happened; the screen shows: {self.screen[-1500:]}"
            if again is not None and time.monotonic() - done > 1:
                again()
                done = time.monotonic()
            if select.select([self._descriptor], [], [], 0.05)[0]:
                self._seen += os.read(self._descriptor, 65_536)

    def sees(self, words: str, *, again: Callable[[], None] | None = None) -> None:
        """Wait for these words, then forget the screen. Spaces do not count: they are movements of the cursor."""
        self.until(lambda: words.replace(" ", "") in re.sub(r"\s", "", self.screen), again=again)
        self._seen = b""

    def say(self, words: str, then: str = "All right.") -> None:
        """Type a line and wait for the answer. Some take an Enter that follows too soon for a part of a paste, or none
        while they begin."""
        self.type(words)
        self.sees(words.removeprefix("!"))
        self.type("\r")
        self.sees(then, again=lambda: self.type("\r"))


@contextmanager
def at_terminal(agent: CodingAgent, *arguments: str) -> Iterator[Terminal]:
    process, descriptor = pty.fork()
    if process == 0:
        os.chdir(agent.work)
        variables = {"HOME": str(agent.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color"}
        os.execve(agent.program, [agent.program.name, *arguments], variables | dict(agent.variables))
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    try:
        yield Terminal(descriptor)
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
            end = time.monotonic() + 5
            while not os.waitpid(process, os.WNOHANG)[0] and time.monotonic() < end:
                time.sleep(0.02)
        with suppress(ProcessLookupError):  # those that do not listen, and whom they started
            os.killpg(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)
        os.close(descriptor)
