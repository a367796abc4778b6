"""How long a night takes that asks a model, by how many calls may be under way at once.

    python benchmarks/models.py [--sessions 40] [--seconds 1] [--at-once 1,4] [--postgres URL|own]

The model is the scripted server on loopback, which answers after so many seconds and suggests nothing. All nights read
the same sessions (those of benchmarks/dreams.py), one after the other in this process: what counts is their ratio.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.dreams import postgres, sessions


def night(count: int, at_once: int, url: str, database: str | None) -> tuple[float, int]:
    """Seconds of one night over so many sessions, and how many calls it made."""
    from reverie.home import open_home

    settings = {"owner": "ann", "model": "openai:scripted", "model_url": url, "model_at_once": str(at_once)}
    with (
        tempfile.TemporaryDirectory() as folder,
        open_home(Path(folder) / "home", settings={**settings, "database": database}) as home,
    ):
        for session in sessions(count + 1):
            home.sessions.add(session)
        home.dream(target="home", limit=1)  # what a process loads once is loaded
        began = time.perf_counter()
        dream = home.dream(target="home", limit=count)
        return time.perf_counter() - began, sum(one.calls for one in dream.consulted)


def compared(asked: argparse.Namespace, database: Callable[[], str | None]) -> None:
    from reverie.testing.model_plays import Waits
    from reverie.testing.model_server import fitting, serving

    first = None
    with serving(lambda question: Waits(fitting(question), asked.seconds)) as server:
        for at_once in map(int, asked.at_once.split(",")):
            seconds, calls = night(asked.sessions, at_once, server.openai_url, database())
            first = first or seconds
            print(
                f"{at_once:>3} at once: {seconds:6.2f} s for {calls} calls of {asked.seconds:g} s "
                f"over {asked.sessions} sessions, {first / seconds:.2f} times as fast"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--at-once", default="1,4")
    parser.add_argument("--postgres", metavar="URL", help="or `own` for one of its own")
    asked = parser.parse_args()
    with postgres(asked.postgres) as database:
        compared(asked, database)


if __name__ == "__main__":
    main()
