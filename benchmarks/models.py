"""How long the questions of a night take, by how many requests may be under way at once.

    python benchmarks/models.py [--questions 14] [--seconds 1] [--at-once 1,4]

The model is the scripted server on loopback, which answers after so many seconds. Each night asks for notes of so many
sessions through the real client and the real database, in this process: what counts is their ratio.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from reverie.llm.question import Question, Role


def notes(number: int) -> Question[object]:
    session = f"Session {number}. " + "We deploy on Tuesdays now, not on Fridays. " * 200
    return Question(Role.NOTES, "notes", "hash", "Take notes as JSON.", session, read=lambda value: value)


def night(count: int, at_once: int, url: str) -> float:
    """Seconds for the notes of so many sessions."""
    from reverie.app import open_home
    from reverie.dreams.dream import Dream, Status
    from reverie.dreams.records import SessionChoice

    settings = {"owner": "ann", "model": "openai:scripted", "model_url": url, "model_at_once": str(at_once)}
    with tempfile.TemporaryDirectory() as folder, open_home(Path(folder) / "home", settings=settings) as home:
        dream = Dream("drm_1", "home", "land", Status.PENDING, home.clock.now())
        home.dreams.records.open(home.owned, dream, SessionChoice())
        asker = home.askers.of_night(home.dreams.records.hold(home.owned, dream))
        assert asker is not None
        asker.ask(notes(0))  # what a process loads once is loaded
        began = time.perf_counter()
        asker.ask_all([notes(number) for number in range(1, count + 1)])
        return time.perf_counter() - began


def main() -> None:
    from reverie.testing.model_plays import Says, Waits
    from reverie.testing.model_server import serving

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--at-once", default="1,4")
    asked = parser.parse_args()
    first = None
    with serving([Waits(Says('{"items": []}'), asked.seconds)]) as server:
        for at_once in map(int, asked.at_once.split(",")):
            seconds = night(asked.questions, at_once, server.openai_url)
            first = first or seconds
            print(
                f"{at_once:>3} at once: {seconds:6.2f} s for {asked.questions} requests of {asked.seconds:g} s, "
                f"{first / seconds:.2f} times as fast"
            )


if __name__ == "__main__":
    main()
