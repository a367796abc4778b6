"""`kill -9` of a server in the middle of a dream over a store; then it starts again, and ends it as if nothing was.

python -m tests.crash.test_a_killed_server HOME DATABASE DREAM N   # a worker that dies at the N-th step
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.core.scope import Permission
from reverie.server import extensions
from reverie.server.caller import House
from reverie.server.middleware import IMPORTING
from reverie.storage.dreams import durable as dbos_nights
from tests.commands import Process, run_python
from tests.serving import Served
from tests.sizes import sized
from tests.story.test_api_dreams import NEW, PAGES, TALK, asked, content, ended, filled, recorded

POINTS = (2, 6, 9, 11)  # before the copy, between reading and thinking, before landing, behind it


def opened(folder: Path, database: str) -> Home:
    return open_home(folder, settings={"owner": "ann", "database": database})


@contextmanager
def process(folder: Path, database: str, key: str) -> Iterator[tuple[Served, Process]]:
    """A real `reverie serve`; it is killed at the latest when this ends."""
    command = ["-m", "reverie", "serve", "--port", "0", "--home", str(folder), "--json"]
    server = Process([*command, "--database", database, "--rate", "100000"])
    try:
        told = ""
        while not told.rstrip().endswith("}"):
            line = server.stdout.readline()
            assert line, "the server did not start"
            told += line
        with opened(folder, database) as home:
            yield Served(House(home), int(json.loads(told)["url"].rpartition(":")[2]), key), server
    finally:
        server.kill()
        server.communicate()


def new_key(folder: Path, database: str) -> str:
    with opened(folder, database) as home:
        return home.keys.create("the test", frozenset(Permission) - {Permission.ADMIN}, "ann").secret


PAIRS = [("sqlite", "Light:"), ("postgres", "Deep and REM")]
EVERY_PAIR = [
    (database, until) for database in ("sqlite", "postgres") for until in ("copied", "Light:", "Deep and REM")
]


@pytest.mark.parametrize(("database", "until"), sized(PAIRS, EVERY_PAIR), indirect=["database"])
def test_a_killed_server_goes_on_with_its_dreams(database: str, tmp_path: Path, until: str) -> None:
    folder = tmp_path / "home"
    key = new_key(folder, database)
    with process(folder, database, key) as (served, server):
        store = filled(served)
        talks = [TALK, *(["Thanks, go on with the next one." for _ in range(12)] for _ in range(6))]
        sessions = [recorded(served, *talk) for talk in talks]
        made = served.call("POST", "/v1/dreams", asked(store, *sessions)).json
        while not any(until.lower() in text.lower() for text in told(served, made["session_id"])):
            assert server.poll() is None
            time.sleep(0.05)
        server.send_signal(signal.SIGKILL)
        server.wait()
    with process(folder, database, key) as (served, _):
        done = ended(served, made["id"])
        assert done["status"] == "completed", done
        finished(served, done, store)


def told(served: Served, session: str) -> list[str]:
    events = served.call("GET", f"/v1/sessions/{session}/events?types[]=agent.message&limit=1000").json["data"]
    return [event["content"][0]["text"] for event in events]


def finished(served: Served, done: dict[str, object], store: str) -> None:
    """The output is as it should be, each change there once, and the input as it was."""
    output = str(done["output_memory_store_id"])
    pages = content(served, output)
    assert {path: pages[path] for path in NEW} == NEW
    assert content(served, store) == PAGES
    changes = served.call("GET", f"/v1/dreams/{done['id']}/changes").json["data"]
    versions = served.call("GET", f"/v1/memory_stores/{output}/memory_versions?limit=100").json["data"]
    tied = [one["reverie_change_id"] for one in versions if one["reverie_change_id"]]
    assert sorted(tied) == sorted(one["change_id"] for one in changes)
    assert len([one for one in versions if one["operation"] == "created"]) >= len(PAGES)
    stores = served.call("GET", "/v1/memory_stores").json["data"]
    assert len(stores) == 2, "there is one output"


@pytest.mark.parametrize("in_place", [False, True], ids=["a copy", "in place"])
def test_a_dream_killed_at_any_of_its_steps_is_finished_by_the_next(
    database: str, tmp_path: Path, in_place: bool
) -> None:
    folder = tmp_path / "home"
    key = new_key(folder, database)
    for number in sized(POINTS[in_place::4], POINTS):
        with opened(folder, database) as home, serving_idle(home, key) as served:
            store, session = filled(served), recorded(served, *TALK)
            behavior = {"output_behavior": {"type": "update_existing", "memory_store_id": store}} if in_place else {}
            made = served.call("POST", "/v1/dreams", asked(store, session, **behavior)).json["id"]
        command = ["-m", "tests.crash.test_a_killed_server", str(folder), database, made, str(number)]
        died = run_python(command).returncode == -signal.SIGKILL
        assert died, "it has at least so many points"
        with opened(folder, database) as home, serving_idle(home, key) as served, served.house.working():
            done = ended(served, made)
            assert done["status"] == "completed", (number, done)
            pages = content(served, done["output_memory_store_id"])
            assert {path: pages[path] for path in NEW} == NEW, number
            changes = served.call("GET", f"/v1/dreams/{made}/changes").json["data"]
            assert sorted(one["operation"] for one in changes) == ["replaced", "replaced", "replaced"], number


@contextmanager
def serving_idle(home: Home, key: str) -> Iterator[Served]:
    from tests.serving import serving

    with serving(home, dreams=False) as served:
        yield Served(served.house, served.port, key)


def main() -> None:
    folder, database, dream, number = sys.argv[1:]
    points = 0

    def point() -> None:
        nonlocal points
        points += 1
        if points == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    def durably(name: str, step: Callable[[], int], real: Callable[..., int] = dbos_nights.durably) -> int:
        point()
        return real(name, step)

    dbos_nights.durably = durably  # type: ignore[assignment]
    with opened(Path(folder), database) as home:
        home.queue._news = lambda session: point()
        assert dream in {one.dream for one in home.queue.waiting()}
        home.queue.worker().work(until_idle=True)


if __name__ == "__main__":
    main()


def test_what_a_killed_server_had_received_of_an_import_is_gone_when_it_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incoming = tmp_path / "tmp"
    incoming.mkdir()
    monkeypatch.setenv("TMPDIR", str(incoming))
    database = f"sqlite:///{tmp_path / 'home' / 'reverie.db'}"
    key = new_key(tmp_path / "home", database)
    with process(tmp_path / "home", database, key) as (served, server):
        sending = socket.create_connection(("127.0.0.1", served.port))
        head = f"POST {IMPORTING} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {key}\r\ncontent-length: 900000\r\n\r\n"
        sending.sendall(head.encode() + b"the password is bluetango. " * 20_000)
        until = time.monotonic() + 30
        while not any(path.stat().st_size for path in incoming.glob("reverie-import-*/*")):
            assert time.monotonic() < until, "nothing of it arrived"
            time.sleep(0.05)
        server.kill()
        sending.close()
    time.sleep(extensions.NEW_SECONDS + 0.5)
    assert list(incoming.glob("reverie-import-*/*"))
    with process(tmp_path / "home", database, key):
        assert list(incoming.glob("reverie-import-*")) == []
