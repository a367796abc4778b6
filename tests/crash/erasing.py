"""SIGKILL at many lines of an erasure: a driver that has everything loaded forks a child for each and kills it there.

    python -m tests.crash.erasing FOLDER KIND POINTS

Prints what it found as JSON: how often a child was killed, and what was wrong afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from reverie.app import Home, open_home
from tests.canaries import CANARY, left_in_files, left_in_rows

STEPS = ("begin", "without", "rows", "views", "purge", "renew", "residue", "compacted")
WATCHED = (
    "reverie.erasure",
    "reverie.storage.erasure",
    "reverie.storage.upkeep",
    "reverie.changes.land",
    "reverie.storage.upkeep",
    "reverie.system.git",
    "reverie.storage.search_index",
    "reverie.search.finder",
    "reverie.storage.ledger",
)


class Lines:
    def __init__(self, die_at: int = 0) -> None:
        self.names: list[str] = []
        self._die_at = die_at

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        return self._line if str(frame.f_globals.get("__name__", "")).startswith(WATCHED) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            self.names.append(frame.f_code.co_name)
            if len(self.names) == self._die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line


def opened(folder: Path) -> Home:
    return open_home(folder / "home", settings={"owner": "ann"})


def erased(home: Home, kind: str) -> None:
    home.erase.text(CANARY) if kind == "text" else home.erase.session("plain:canary")


def child(work: Callable[[], None]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process = os.fork()
    if process == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(process, 0)[1]


def run(folder: Path, kind: str, die_at: int, say: Path | None = None) -> int:
    def work() -> None:
        with opened(folder) as home:
            lines = Lines(die_at)
            home.review.waiting()
            sys.settrace(lines)
            erased(home, kind)
            sys.settrace(None)
        if say is not None:
            say.write_text(json.dumps(lines.names))

    return child(work)


def finished(folder: Path, kind: str, report: Path) -> None:
    """What is wrong after a kill, once the next process went on."""

    def work() -> None:
        problems: list[str] = []
        with opened(folder) as home:
            if not home.erase.resume() and left_in_rows(home.engine):
                erased(home, kind)  # killed before the plan was written: nothing was begun
            problems += [f"row {one}" for one in left_in_rows(home.engine)]
            problems += [check.said for check in home.verify() if not check.ok]
            problems += [f"open {one}" for one in home.erasures.open()]
            told = [entry.text for entry in home.memory.entries("home")]
            problems += [] if told == ["The office plants are watered on Mondays."] else [f"memory says {told}"]
        problems += [f"file {one}" for one in left_in_files(folder / "home")]
        report.write_text(json.dumps(problems))

    if child(work) != 0:
        report.write_text(json.dumps(["the next process failed"]))


def points(names: list[str], most: int) -> list[int]:
    """The first line of every step, and others spread over the whole run."""
    steps = STEPS if most else ("begin", "rows", "purge", "compacted")
    first = [names.index(step) + 1 for step in steps if step in names]
    spread = [1 + at * (len(names) - 1) // max(1, most) for at in range(most)]
    return sorted({*first, *spread, len(names)})


def main(folder: Path, kind: str, most: int) -> None:
    live, original = folder / "live", folder / "original"
    _copy(live, original)
    if run(live, kind, 0, folder / "lines.json") != 0:
        raise SystemExit("the erasure failed without being killed")
    names, killed, problems = json.loads((folder / "lines.json").read_text()), 0, {}
    for at in points(names, most):
        place = _copy(original, live)  # history knows documents by their place
        killed += os.WTERMSIG(run(place, kind, at)) == signal.SIGKILL
        finished(place, kind, folder / "report.json")
        if found := json.loads((folder / "report.json").read_text()):
            problems[f"line {at} in {names[at - 1]}"] = found
    sys.stdout.write(json.dumps({"lines": len(names), "killed": killed, "problems": problems}))


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target, symlinks=True))


if __name__ == "__main__":
    os.environ["HOME"] = str(Path(sys.argv[1]) / "nobody")
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
