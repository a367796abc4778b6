"""SIGKILL at every line: a driver that has everything loaded forks one child for each point and kills it there.

    python -m tests.faults.killing FOLDER SCENARIO[,SCENARIO…] MOST [POSTGRES]

No product code knows of it: the child counts the lines it runs in our modules and kills itself at the n-th. It runs
in a process of its own, since a test runner's threads and a fork do not go together. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.engine import make_url

from reverie.changes.land import Landed
from reverie.changes.outside_edits import Reconciled
from reverie.changes.proposal import ProposalStatus
from reverie.memory.operation import Add
from reverie.storage.database import engine
from tests.faults.houses import DOCUMENT, POISON, House, broken, build, entries, ours, split, works
from tests.faults.scenarios import SCENARIOS, Acknowledged, Scenario
from tests.faults.tallying import spread

WATCHED = (
    "reverie.changes",
    "reverie.system.files",
    "reverie.system.shared_files",
    "reverie.storage.database",
    "reverie.storage.dreams",
    "reverie.storage.history",
    "reverie.storage.ledger",
    "reverie.storage.migrations",
    "reverie.storage.server_records",
    "reverie.storage.session",
    "reverie.storage.store",
    "reverie.storage.upkeep",
)
WRITES = {
    "prepared",
    "_fill",
    "_put",
    "made",
    "tidy",
    "_let_go",
    "sync_change",
    "_exchanged",
    "intend",
    "settle",
    "drop",
    "put",
    "_stand",
    "append",
}
AFTER = "Written after the fault"
Problems = dict[str, list[str]]
Watched = TypeVar("Watched")


class Lines:
    """Counts the lines run in our modules, and dies, or stops, at one of them, or at the first of a function."""

    def __init__(self, die_at: int = 0, die_in: str = "", by: signal.Signals = signal.SIGKILL) -> None:
        self.run: list[tuple[str, int]] = []
        self._die_at = die_at
        self._die_in = die_in
        self._by = by

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        return self._line if str(frame.f_globals.get("__name__", "")).startswith(WATCHED) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            self.run.append((frame.f_code.co_name, frame.f_lineno))
            if len(self.run) == self._die_at or frame.f_code.co_name == self._die_in:
                self._die_in = ""
                os.kill(os.getpid(), self._by)
        return self._line


@dataclass(frozen=True)
class Reached:
    """What a child said before it ended: what was acknowledged to it, and the lines it ran if it came to the end."""

    acknowledged: list[Acknowledged]
    lines: list[tuple[str, int]]
    status: int


def nothing() -> Any:
    return None


def quiet_fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a library's idle threads do not matter to a child that ends soon
        return os.fork()


def isolated(folder: Path) -> None:
    """This process sees no harness of the machine it runs on."""
    for name in [name for name in os.environ if name.startswith(("REVERIE_", "HERMES_", "CLAUDE_", "OPENCLAW_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(folder / "nobody")


def forked(
    work: Callable[[Callable[[object], None]], None], meanwhile: Callable[[], Watched] = nothing
) -> tuple[tuple[list[Any], int], Watched]:
    """Do the work in a child; what it says comes back line by line, also when it is killed in between."""
    reading, writing = socket.socketpair()  # no `write`: that may be the call that fails
    child = quiet_fork()
    if child == 0:
        try:
            work(lambda said: writing.sendall(json.dumps(said).encode() + b"\n"))
            os._exit(0)
        finally:
            os._exit(1)
    writing.close()
    watched = meanwhile()
    with reading, reading.makefile() as lines:
        said = [json.loads(line) for line in lines]
    return (said, os.waitpid(child, 0)[1]), watched


def performed(house: House, scenario: Scenario, die_at: int = 0, die_in: str = "") -> Reached:
    def work(say: Callable[[object], None]) -> None:
        lines = Lines(die_at, die_in)
        with house.opened() as home:
            home.review.waiting()  # everything is open before the count begins
            sys.settrace(lines)
            for acknowledged in scenario.act(home):
                say(acknowledged)
            sys.settrace(None)
        say({"lines": lines.run})

    (said, status), _ = forked(work)
    lines = said.pop()["lines"] if said and isinstance(said[-1], dict) else []
    return Reached([(kind, name) for kind, name in said], [(name, line) for name, line in lines], status)


@dataclass(frozen=True)
class Expected:
    """The state before and after, and how many Changes of ours there are in each."""

    old: bytes
    new: bytes
    before: int
    after: int


def looked_at(house: House, expected: Expected, reached: Reached, *, helped: bool) -> Problems:
    """Everything that must hold after the fault. `helped`: with `recover` first; else the next write comes first."""
    torn = [] if house.memory.read_bytes() in (expected.old, expected.new) else [f"{house.memory.read_bytes()!r}"]
    manual, other, extra = [], [], []
    with house.opened() as home:
        if not helped:
            outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, AFTER)])
            extra = [AFTER]
            manual += [] if isinstance(outcome, Landed) else [f"a new write ended in {outcome}"]
        home.review.recover()
        again = home.review.recover()
        other += [] if again == Reconciled() else [f"a second recovery did {again}"]
        other += broken(home)
        lost = _lost(house, expected, reached, [change.id for change in ours(home)])
        torn += _half(house, expected, len(ours(home)), extra)
        if POISON in entries(house):
            list(home.memory.entries("hermes"))
            queued = [one for one in home.review.past([ProposalStatus.WAITING]) if one.suggestion.proposer == "reverie"]
            lost += [] if len(queued) == 1 else [f"{len(queued)} removals of what came from outside are queued"]
        asked = {one.id for one in home.review.past()}
        proposed = [name for kind, name in reached.acknowledged if kind == "proposal"]
        lost += [f"{name} was acknowledged and is not there" for name in proposed if name not in asked]
        manual += works(house, home, "Written last", verified=False)
    return {"lost": lost, "torn": torn, "manual": manual, "other": other}


def _lost(house: House, expected: Expected, reached: Reached, standing: list[str]) -> list[str]:
    changed = [name for kind, name in reached.acknowledged if kind in ("change", "recovered")]
    gone = [name for name in changed if name.startswith("chg_") and name not in standing]
    lost = [f"{name} was acknowledged and is not there" for name in gone]
    if changed and set(split(expected.new)) - set(entries(house)):
        lost.append(f"what was acknowledged is not in {entries(house)}")
    return lost


def _half(house: House, expected: Expected, count: int, extra: list[str]) -> list[str]:
    old, new = split(expected.old), split(expected.new)
    found = [one for one in entries(house) if one not in extra]
    told = count - len(extra)
    if (found, told) in ((old, expected.before), (new, expected.after)):
        return []
    return [f"{found} with {told} changes of ours"]


# ---- where it is kept ------------------------------------------------------------------------------------------------


@contextmanager
def place(server: str | None, folder: Path) -> Iterator[Callable[[House], House]]:
    """Copies of a house: its files, and its database, a file of them or a database on a server."""
    made: list[str] = []

    def copied(house: House) -> House:
        if server is None:
            return house.copied(folder)
        while made:
            _administer(server, f'drop database "{made.pop()}" with (force)')
        made.append(f"t{uuid4().hex}")
        assert house.database is not None
        _administer(server, f'create database "{made[0]}" template "{make_url(house.database).database}"')
        return house.copied(folder, _url(server, made[0]))

    yield copied
    while made:
        _administer(server or "", f'drop database "{made.pop()}" with (force)')


def _url(server: str, name: str) -> str:
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _administer(server: str, statement: str) -> None:
    made = engine(server)
    with made.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    made.dispose()


def prepared(folder: Path, scenario: Scenario, server: str | None) -> House:
    """A house in the state in which the scenario begins."""
    database = None
    if server is not None:
        name = f"t{uuid4().hex}"
        _administer(server, f'create database "{name}"')
        database = _url(server, name)
    house = build(folder, database)
    scenario.prepare(house)
    if scenario.after:
        died = performed(house, SCENARIOS[scenario.after], die_in=scenario.killed_in)
        assert os.WIFSIGNALED(died.status), scenario
    return house


def points(lines: list[tuple[str, int]], most: int) -> list[int]:
    """All of them, or a spread in which every line around a write is as likely as all others together."""
    every = list(range(1, len(lines) + 1))
    if len(every) <= most:
        return every
    writes = [at for at in every if lines[at - 1][0] in WRITES]
    return sorted({*spread(writes, most // 2), *spread(every, most - most // 2)})


def killed_everywhere(folder: Path, name: str, most: int, server: str | None = None) -> dict[str, Any]:
    scenario = SCENARIOS[name]
    # A target is known by its path: every copy stands where the house was built.
    built = prepared(folder / "house", scenario, server)
    built.folder.rename(folder / "stored")
    base = House(folder / "stored", built.database)
    found: Problems = {"lost": [], "torn": [], "manual": [], "other": []}
    with place(server, folder / "house") as copied:
        house = copied(base)
        with house.opened() as home:  # once in this process, so that every child finds the same things loaded
            before = len(ours(home))
            list(scenario.act(home))
            works(house, home)
        house = copied(base)
        whole = performed(house, scenario)
        assert whole.status == 0 and whole.lines, "the scenario does not work without a fault"
        with house.opened() as home:
            expected = Expected(base.memory.read_bytes(), house.memory.read_bytes(), before, len(ours(home)))
        chosen = points(whole.lines, most)
        for at in chosen:
            house = copied(base)
            reached = performed(house, scenario, die_at=at)
            where = f"{name} killed at line {at} ({whole.lines[at - 1][0]}:{whole.lines[at - 1][1]})"
            if not os.WIFSIGNALED(reached.status):
                found["other"].append(f"{where}: it was not killed")
            try:
                told = looked_at(house, expected, reached, helped=at % 2 == 0)
            except Exception as error:  # noqa: BLE001 — whatever it is, it is what the fault left
                told = {"manual": [f"{type(error).__name__}: {error}"]}
            for kind, problems in told.items():
                found[kind] += [f"{where}: {problem}" for problem in problems]
    if server is not None and base.database is not None:
        _administer(server, f'drop database "{make_url(base.database).database}" with (force)')
    return {"points": len(chosen), "lines": len(whole.lines), "problems": found}


def each(folder: Path, names: str, found_in: Callable[[Path, str], dict[str, Any] | None]) -> dict[str, Any] | None:
    """Several things in a row, each in a folder of its own, counted together; None where one cannot be done."""
    every = []
    for name in names.split(","):
        (folder / name).mkdir()
        every.append(found_in(folder / name, name))
    told = [one for one in every if one is not None]
    if len(told) < len(every):
        return None
    problems = {kind: [problem for one in told for problem in one["problems"][kind]] for kind in told[0]["problems"]}
    return {"points": sum(one["points"] for one in told), "problems": problems}


def main(folder: str, names: str, most: str, server: str | None = None) -> None:
    isolated(Path(folder))
    told = each(Path(folder), names, lambda inside, name: killed_everywhere(inside, name, int(most), server))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
