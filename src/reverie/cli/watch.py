"""How far a night has come, on a terminal, while it runs: sessions read, phase, requests, money."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from reverie.core.errors import ReverieError
from reverie.core.strings import plural

if TYPE_CHECKING:
    from datetime import datetime

    from reverie.app import Home

EVERY_SECONDS = 0.3
_CLEAR = "\r\x1b[2K"


@contextmanager
def shown_progress(house: Home, *, quiet: bool) -> Iterator[None]:
    """One line that is written over and gone at the end. Nothing where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    house.dreams, house.dream_records  # noqa: B018 - made here: two threads would each make their own
    over, since = Event(), house.clock.now()
    thread = Thread(target=_follow, args=(house, over, since), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        click.echo(_CLEAR, nl=False, err=True)


def _follow(house: Home, over: Event, since: datetime) -> None:
    begun = False
    while not over.wait(EVERY_SECONDS):
        with suppress(ReverieError):  # it is only told; what is wrong is told by the night itself
            line = progress_line(house, since)
            begun = begun or bool(line)
            if line := line or ("" if begun else "gather, looking for new sessions"):
                width = max(20, _columns() - 1)
                click.echo(f"{_CLEAR}{line[:width]}", nl=False, err=True)


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size((80, 24)).columns


def progress_line(house: Home, since: datetime) -> str:
    """“hermes: light, 12 of 29 sessions read · 3 requests, $0.0123”; nothing where no night runs. What is under way is
    counted at its worst."""
    running = house.dreams.progress()
    if not running:
        return ""
    one = running[-1]
    line = one.sentence
    spent = house.dream_records.spent(house.owned, since)
    if spent.requests:
        info = house.askers.info()
        money = f"${spent.money:.4f}" if info and info.price is not None else "price not known"
        line += f" · {plural(spent.requests, 'request')}, {money}"
    return line
