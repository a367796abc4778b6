"""How a request arrives: nobody can hold a connection by sending slowly, or nothing, and its lines end in one way.

uvicorn closes a connection that is idle between two requests, but waits for ever for the first byte of the first and
for the end of the head of any. A body is waited for in `guard`, which knows how much of it has come.
"""

from __future__ import annotations

import asyncio
import re

from h11 import RemoteProtocolError
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
_BARE_LF = re.compile(rb"(?<!\r)\n")


class WholeLineEnds(ReceiveBuffer):
    """Lines of a head end with CR LF. h11 also takes a bare LF, and a proxy before us may not: to it the same bytes are
    another request."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = bytes(self._data)
        lines = super().maybe_extract_lines()
        if lines is not None and _BARE_LF.search(before[: len(before) - len(self._data)]):
            raise RemoteProtocolError("a line ends with a bare LF")
        return lines


class PatientProtocol(H11Protocol):
    """HTTP/1.1, where the head of a request is there in `HEAD_SECONDS` or the connection ends."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.conn._receive_buffer = WholeLineEnds()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answering():
            self._no_longer()
        else:
            self._wait()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        """From the first byte on: those that follow win no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _no_longer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self._answering():
            self.transport.close()
