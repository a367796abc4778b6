"""SIGKILL at every line of a night; then one start again. It is finished, and each effect is there exactly once.

    python -m tests.crash.test_a_killed_dream FOLDER MOST [POSTGRES | model]

As in tests/faults/killing.py a driver forks one child for each point, which kills itself at the n-th line it runs in
our modules. What is compared afterwards: the memory byte by byte, the changes, what waits, what is staged, what counts
as read, the diary, and that no working row is left.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from reverie.app import Home
from reverie.dreams.dream import Fate
from reverie.storage import schema
from reverie.storage.database import reading_across
from tests.commands import run_python
from tests.faults import killing
from tests.faults.driving import quick_folder
from tests.faults.fixtures import Tallied
from tests.faults.houses import MEMORY, House, broken, ours
from tests.faults.tallying import FULL, LINES, spread
from tests.sizes import sized

WATCHED = (*killing.WATCHED, "reverie.dreams", "reverie.system.file_records", "reverie.llm.asker")
MODEL = "model"
EARLY, NOON = datetime(2026, 5, 1, 12, tzinfo=UTC), datetime(2026, 5, 12, 12, tzinfo=UTC)
RELEASE = "To release: first run `make check`, then `make tag`, then push the tag."
SAID = {
    "s1": "The staging db moved to db2.internal:6432.",
    "s2": "CI does not run on GitHub Actions any more, it runs on Forgejo now.",
    "s3": RELEASE,
    "s4": f"{RELEASE} I prefer tabs maybe, not sure.",
    "s5": "Remember: deploys are on Tuesdays. My knee hurts today.",
    "s6": "Please remember that invoices are sent without tax.",
}
_NAMES = re.compile(r"\b(chg|prop|drm|cand)_\w+")


def build(folder: Path, database: str | None) -> House:
    house = House(folder, database)
    house.file.parent.mkdir(mode=0o700, parents=True)
    house.file.with_name("history").touch()  # git is out of the way
    house.memory.parent.mkdir(parents=True)
    house.memory.write_text(MEMORY)
    with house.opened(EARLY) as home:
        list(home.memory.entries("hermes"))
        for number, (name, words) in enumerate(SAID.items()):
            messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "All right."}]
            started = f"2026-05-{5 + number:02}T10:00:00Z"
            home.sessions.add({"id": name, "user": "ann", "started_at": started, "messages": messages})
    return house


def seen(house: House, home: Home) -> dict[str, Any]:
    """Everything a night leaves, without the names that differ each time."""
    records, scope = home.dreams.records, home.owned
    nights = records.find(scope, limit=50)
    with reading_across(home.engine, "upkeep") as connection:
        tables = (schema.nights, schema.chosen, schema.noticed, schema.planned)
        left = [connection.execute(select(func.count()).select_from(table)).scalar() for table in tables]
        told = connection.execute(select(func.count()).select_from(schema.ledger).filter_by(kind="dream")).scalar()
    return {
        "memory": house.memory.read_text(),
        "changes": sorted(change.grounds.reason for change in ours(home)),
        "waiting": sorted(one.diff for one in home.review.waiting(every=True)),
        "staged": sorted(one.text for one in records.staged(scope, "hermes")),
        "read": sorted((one.session_id, one.turns) for one in records.read(scope, "hermes")),
        "diaries": [_NAMES.sub(r"\1", one.diary.partition("## The model")[0]) for one in nights if one.sessions],
        "over": {str(one.status) for one in nights},
        "left": left,
        "nights told": told == len(nights),
    }


def dreamt(house: House, die_at: int = 0) -> tuple[list[tuple[str, int]], int]:
    """One night in a child: the lines it ran, and how it ended."""

    def work(say: Callable[[object], None]) -> None:
        lines = killing.Lines(die_at)
        with house.opened(NOON) as home:
            home.dreams.records.find(home.owned, "hermes")  # everything is open before the count begins
            sys.settrace(lines)
            home.dream(target="hermes")
            sys.settrace(None)
        say(lines.run)

    (said, status), _ = killing.forked(work)
    return [(name, line) for name, line in said[0]] if said else [], status


def looked_at(house: House, expected: dict[str, Any], *, by_recover: bool) -> list[str]:
    with house.opened(NOON) as home:
        if by_recover:
            home.dream.recover()
        home.dream(target="hermes")
        again = [*home.dream.recover(), *(["not quiet"] if home.dream(target="hermes").sessions else [])]
        found = seen(house, home)
        problems = [f"{what}: {value!r}" for what, value in found.items() if value != expected[what]]
        return problems + broken(home) + [f"it was not over: {one}" for one in again]


def points(lines: list[tuple[str, int]], most: int) -> list[int]:
    """The first and the last time of every line; or a spread of them in which those around writes weigh more."""
    first, last = dict[tuple[str, int], int](), dict[tuple[str, int], int]()
    for at, line in enumerate(lines, 1):
        first.setdefault(line, at)
        last[line] = at
    every = sorted({*first.values(), *last.values()})
    if len(every) <= most:
        return every
    mine = [at for at in every if lines[at - 1][0] in WRITES]
    return sorted({*spread(mine, most // 2), *spread(every, most - most // 2)})


WRITES = killing.WRITES | {
    "open",
    "hold",
    "chose",
    "note",
    "plan",
    "became",
    "end",
    "_over",
    "_keep_dream",
    "put",
    "fenced",
    "_decided",
    "_close",
}


def killed_everywhere(folder: Path, most: int, server: str | None = None) -> dict[str, Any]:
    killing.WATCHED = WATCHED  # type: ignore[misc]
    database = None
    if server is not None:
        name = f"t{uuid4().hex}"
        killing._administer(server, f'create database "{name}"')
        database = killing._url(server, name)
    built = build(folder / "house", database)
    built.folder.rename(folder / "stored")
    base, problems = House(folder / "stored", database), list[str]()
    with killing.place(server, folder / "house") as copied:
        house = copied(base)
        with house.opened(NOON) as home:  # once in this process, so that every child finds the same things loaded
            dream = home.dream(target="hermes")
            expected = seen(house, home)
        assert len(dream.changes) == 2 and dream.proposals and dream.of(Fate.HELD_BACK), dream.diary
        assert len(expected["staged"]) > 1, expected["staged"]
        lines, status = dreamt(copied(base))
        assert status == 0 and lines, "the night does not work without a fault"
        chosen = points(lines, most)
        for at in chosen:
            house = copied(base)
            where = f"killed at line {at} ({lines[at - 1][0]}:{lines[at - 1][1]})"
            run, status = dreamt(house, at)
            shorter = status == 0 and 0 < len(run) < at  # with a model, a night may be a line shorter than the first
            if not (os.WIFSIGNALED(status) or shorter):
                problems.append(f"{where}: it was not killed")
            try:
                told = looked_at(house, expected, by_recover=at % 2 == 0)
            except Exception as error:  # noqa: BLE001 — whatever it is, it is what the fault left
                told = [f"{type(error).__name__}: {error}"]
            problems += [f"{where}: {problem}" for problem in told]
            sys.stderr.write("".join(f"{where}: {problem}\n" for problem in told) or ".")
    return {"points": len(chosen), "lines": len(lines), "problems": {"other": problems}}


def driven(tallied: Tallied, what: str, most: int, *server: str) -> None:
    tally = tallied("F1", what)
    with quick_folder() as folder:
        done = run_python(["-m", "tests.crash.test_a_killed_dream", str(folder / "night"), str(most), *server])
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    tally.points += found["points"]
    tally.add(found["problems"])


@pytest.mark.timeout(7200)
def test_a_night_killed_at_any_line_is_finished_by_the_next_start_with_each_effect_once(tallied: Tallied) -> None:
    driven(
        tallied,
        "kill -9 at a line of a night that lands, proposes and stages; on SQLite",
        LINES if FULL else sized(6, 16),
    )


@pytest.mark.timeout(7200)
def test_the_same_holds_for_a_night_that_asks_a_model(tallied: Tallied) -> None:
    driven(tallied, "kill -9 at a line of a night that asks a model", 300 if FULL else sized(3, 8), MODEL)


@contextmanager
def asked_of_a_model() -> Iterator[None]:
    """Every home opened meanwhile asks one. The server is a process of its own: threads and forks do not mix."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "reverie.testing.model_server", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline()
        address = f"http://127.0.0.1:{port}/v1"
        os.environ |= {"REVERIE_MODEL": "openai:x", "REVERIE_MODEL_URL": address}
        try:
            yield
        finally:
            server.terminate()


@pytest.mark.timeout(7200)
def test_the_same_holds_on_postgres(tallied: Tallied, postgres_server: str) -> None:
    driven(tallied, "kill -9 at a line of a night; on Postgres", 100 if FULL else sized(2, 4), postgres_server)


if __name__ == "__main__":
    killing.isolated(Path(sys.argv[1]))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # threads of a parent are not there in a child
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    with asked_of_a_model() if sys.argv[3:4] == [MODEL] else nullcontext():
        servers = [one for one in sys.argv[3:4] if one != MODEL]
        sys.stdout.write(json.dumps(killed_everywhere(Path(sys.argv[1]), int(sys.argv[2]), *servers)))
