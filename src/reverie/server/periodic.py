"""Work that a server does again and again beside its calls, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reverie.core.errors import ReverieError

LEAVE_SECONDS = 20
_LOG = logging.getLogger("reverie.server")


@contextmanager
def every(seconds: float, work: Callable[[], object], name: str, failed: str) -> Iterator[None]:
    """While this lasts, `work` is done at once and then each so many seconds. `failed` is said where it raises."""
    over = threading.Event()

    def going_on() -> None:
        while not over.is_set():
            try:
                work()
            except (ReverieError, OSError) as error:
                _LOG.warning("%s: %s", failed, type(error).__name__)
            over.wait(seconds)

    thread = threading.Thread(target=going_on, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LEAVE_SECONDS)
