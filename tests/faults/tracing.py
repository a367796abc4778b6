"""Faults put in by the kernel's own door: strace lets the n-th system call of a kind fail, or kills there.

    python -m tests.faults.tracing FOLDER FAULT[,FAULT…] SCENARIO MOST

FAULT is one of `FAULTS`. The driver forks a child that has everything open, has strace take hold of it, and lets it
go. What SQLite does is met like what we do. Prints what it found as JSON; `null` where strace cannot be used.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.core.errors import ReverieError
from tests.faults.houses import House, left_behind, ours, works
from tests.faults.killing import Expected, Problems, Reached, each, forked, isolated, looked_at, prepared
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.faults.tallying import spread

PATIENCE = 20.0


@dataclass(frozen=True)
class Fault:
    """Which system calls are met, and with what. `lasting`: every one from the n-th on."""

    calls: tuple[str, ...]
    how: str
    lasting: bool = False
    only_ours: bool = False  # those on the memory and the database, not what is imported on the way

    @property
    def kills(self) -> bool:
        return "SIGKILL" in self.how


FAULTS = {
    "kill": Fault(
        (
            "fsync",
            "fdatasync",
            "pwrite64",
            "write",
            "rename",
            "renameat",
            "renameat2",
            "unlink",
            "unlinkat",
            "ftruncate",
        ),
        "signal=SIGKILL",
    ),
    "full": Fault(("write", "pwrite64"), "error=ENOSPC", lasting=True),
    "sync": Fault(("fsync", "fdatasync"), "error=EIO"),
    "read": Fault(("read", "pread64"), "error=EIO", only_ours=True),
    "write": Fault(("write", "pwrite64", "renameat", "renameat2"), "error=EIO"),
}


class CannotTrace(Exception):
    """There is no strace here, or it may not."""


def traced(house: House, scenario: Scenario, options: list[str], log: Path) -> tuple[Reached, list[str]]:
    """Do it under strace. Also what went wrong, as the caller would see it."""
    if shutil.which("strace") is None:
        raise CannotTrace
    begin_reading, begin = os.pipe()
    ready_reading, ready = os.pipe()

    def work(say: Callable[[object], None]) -> None:
        os.close(begin)
        with house.opened() as home:
            home.review.waiting()
            os.write(ready, str(os.getpid()).encode())
            os.read(begin_reading, 1)
            try:
                for acknowledged in scenario.act(home):
                    say(acknowledged)
            except ReverieError as error:
                say(["error", f"{type(error).__name__}: {error}"])
            except Exception as error:  # noqa: BLE001 — that nobody explained it is what is looked for
                say(["crash", f"{type(error).__name__}: {error}"])

    def watch() -> subprocess.Popen[bytes]:
        child = os.read(ready_reading, 20).decode()
        command = ["strace", "-f", "-qq", "-o", str(log), *options, "-p", child]
        tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while not _traced(child):
            if tracer.poll() is not None or time.monotonic() > until:
                os.close(begin)
                raise CannotTrace
            time.sleep(0.002)
        os.close(begin)
        return tracer

    (said, status), tracer = forked(work, watch)
    for handle in (begin_reading, ready_reading, ready):
        os.close(handle)
    tracer.wait(PATIENCE)
    errors = [f"{kind}: {what}" for kind, what in said if kind in ("error", "crash")]
    return Reached([(kind, what) for kind, what in said if kind not in ("error", "crash")], [], status), errors


def _traced(child: str) -> bool:
    found = Path(f"/proc/{child}/status").read_text().partition("TracerPid:\t")[2]
    return found.split("\n", 1)[0] not in ("", "0")


def met(house: House, scenario: Scenario, fault: Fault, log: Path) -> Counter[str]:
    """How often each of the system calls is made when nothing goes wrong."""
    traced(house, scenario, ["-e", f"trace={','.join(fault.calls)}", *_where(house, fault)], log)
    return Counter(line.split(maxsplit=1)[1].split("(")[0] for line in log.read_text().splitlines() if "(" in line)


def _where(house: House, fault: Fault) -> list[str]:
    ours = (house.memory, house.file, house.file.with_name("reverie.db-wal"))
    return [option for path in ours for option in ("-P", str(path))] if fault.only_ours else []


def put_in(folder: Path, fault_name: str, name: str, most: int) -> dict[str, Any] | None:
    scenario, fault = SCENARIOS[name], FAULTS[fault_name]
    log = folder / "strace.log"
    built = prepared(folder / "house", scenario, None)
    built.folder.rename(folder / "stored")
    base = House(folder / "stored")
    house = base.copied(folder / "house")
    with house.opened() as home:
        before = len(ours(home))
        list(scenario.act(home))
        expected = Expected(base.memory.read_bytes(), house.memory.read_bytes(), before, len(ours(home)))
        works(house, home)
    try:
        counted = met(base.copied(folder / "house"), scenario, fault, log)
    except CannotTrace:
        return None
    chosen = spread([(call, at) for call in fault.calls for at in range(1, counted[call] + 1)], most)
    found: Problems = {"lost": [], "torn": [], "manual": [], "other": []}
    for number, (call, at) in enumerate(chosen):
        house = base.copied(folder / "house")
        inject = f"inject={call}:{fault.how}:when={at}{'+' if fault.lasting else ''}"
        options = ["-e", f"trace={call}", "-e", inject, *_where(house, fault)]
        reached, errors = traced(house, scenario, options, log)
        where = f"{name}, {inject}"
        if not fault.kills:
            for kind, problem in _told(house, expected, reached, errors):
                found[kind].append(f"{where}: {problem}")
        for kind, problem in _left(house, expected, reached, helped=number % 2 == 0):
            found[kind].append(f"{where}: {problem} (it said {errors})")
    return {"points": len(chosen), "problems": found}


def _told(house: House, expected: Expected, reached: Reached, errors: list[str]) -> Iterator[tuple[str, str]]:
    """Whoever was told of an error was told the truth, in our own words, and nothing lies about."""
    yield from (("other", error) for error in errors if error.startswith("crash"))
    yield from (("torn", f"left {name}") for name in left_behind(house))
    if not errors and not reached.acknowledged:
        yield "other", "it ended without a word"
    if any("Nothing was changed" in one for one in errors) and house.memory.read_bytes() != expected.old:
        yield "other", f"the file was changed, and it said {errors}"


def _left(house: House, expected: Expected, reached: Reached, *, helped: bool) -> Iterator[tuple[str, str]]:
    try:
        told = looked_at(house, expected, reached, helped=helped)
    except Exception as error:  # noqa: BLE001 — whatever it is, it is what the fault left
        told = {"manual": [f"{type(error).__name__}: {error}"]}
    yield from ((kind, problem) for kind, problems in told.items() for problem in problems)


def main(folder: str, faults: str, scenario: str, most: str) -> None:
    isolated(Path(folder))
    told = each(Path(folder), faults, lambda inside, fault: put_in(inside, fault, scenario, int(most)))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
