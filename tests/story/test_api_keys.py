"""Keys: shown once, kept as a hash, good for so much and so long; and the command that serves."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import Home
from reverie.changes.ledger import broken_links
from reverie.cli.serve import keys as keys_command
from reverie.cli.serve import serve as serve_command
from reverie.core.clock import FixedClock
from reverie.core.errors import BadInput, BadSetting, NotFound
from reverie.core.scope import Keyring, Permission
from reverie.server.caller import House
from tests.conftest import NOON

SERVE = "import sys; from reverie.cli.serve import serve; serve(sys.argv[1:])"


def test_a_key_is_known_by_its_hash_alone(home_on: Home) -> None:
    keys = home_on.keys
    issued = keys.create("ci", {Permission.READ}, "bob")
    assert issued.secret.startswith("rvk_") and len(issued.secret) == 4 + 64
    found = keys.admitted(issued.secret)
    assert found == issued.key and found.user == "bob"
    assert issued.secret not in repr(keys.all()) and keys.all()[0].prefix == issued.secret[:12]
    for wrong in ("", "rvk_", issued.secret[:-1], issued.secret[:-1] + "x", issued.secret + "0", "rvk_é", "x"):
        assert keys.admitted(wrong) is None
    assert list(broken_links(home_on.history_records.rows(keys.scope))) == []


def test_a_key_ends_when_it_expires_or_is_revoked(home: Home) -> None:
    keys = home.keys
    short = keys.create("short", {Permission.READ}, lasts=timedelta(days=90))
    later = Keyring(keys.scope, keys.records, home.ids, FixedClock(NOON + timedelta(days=90)))
    assert keys.admitted(short.secret) and later.admitted(short.secret) is None
    revoked = keys.create("revoked", {Permission.READ})
    assert keys.revoke(revoked.key.id) == keys.revoke(revoked.key.id)
    assert keys.admitted(revoked.secret) is None
    with pytest.raises(NotFound):
        home.tenants.keys("other").revoke(short.key.id)
    with pytest.raises(BadInput):
        keys.create("", {Permission.READ})
    with pytest.raises(BadInput):
        home.tenants.keys("Not A Workspace").create("x", {Permission.READ})


def test_permissions_include_what_they_must(home: Home) -> None:
    of = {one: home.keys.create("x", {one}).key for one in Permission}
    assert [one for one in Permission if of[Permission.ADMIN].may(one)] == list(Permission)
    assert [one for one in Permission if of[Permission.WRITE].may(one)] == [Permission.READ, Permission.WRITE]
    assert [one for one in Permission if of[Permission.DREAM].may(one)] == [Permission.DREAM]


def test_keys_on_the_command_line(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(keys_command, [*arguments, "--home", str(tmp_path / "home")], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    made = json.loads(
        run("create", "--name", "ci", "--scope", "read", "--scope", "dream", "--expires", "90d", "--json")
    )
    assert set(made) == {"id", "key"} and made["key"].startswith("rvk_")
    (listed,) = json.loads(run("list", "--json"))
    assert (listed["id"], listed["scopes"], listed["status"]) == (made["id"], ["dream", "read"], "open")
    assert made["key"] not in run("list") and made["key"][:12] in run("list")
    assert run("create", "--name", "team", "--scope", "admin", "--workspace", "team").startswith("rvk_")
    assert len(json.loads(run("list", "--json"))) == 1
    run("revoke", made["id"])
    assert json.loads(run("list", "--json"))[0]["status"] == "revoked"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert made["key"].encode() not in kept


@pytest.mark.parametrize(
    ("words", "told"),
    [(("--scope", "write"), True), (("--scope", "write", "--user", "ann"), False), (("--scope", "read"), False)],
)
def test_who_makes_a_key_that_writes_for_nobody_is_told_that_dreams_withhold_its_words(
    words: tuple[str, ...], told: bool, tmp_path: Path
) -> None:
    done = CliRunner().invoke(keys_command, ["create", "--name", "x", *words, "--home", str(tmp_path / "home")])
    assert done.exit_code == 0 and done.stdout.count("\n") == 1, done.output
    assert ("--user NAME" in done.stderr) is told


def test_the_server_does_not_listen_to_others_without_a_key(tmp_path: Path) -> None:
    arguments = ["--host", "0.0.0.0", "--port", "0", "--home", str(tmp_path / "home")]
    with pytest.raises(BadSetting, match="no keys"):
        CliRunner().invoke(serve_command, arguments, catch_exceptions=False)


@contextmanager
def process(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-c", SERVE, "--port", "0", "--json", "--home", str(home)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        yield running, json.loads("".join(running.stdout.readline() for _ in range(4)))["url"]
    finally:
        running.kill()
        running.communicate()


def test_the_server_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    with process(tmp_path / "home") as (running, url):
        with urllib.request.urlopen(f"{url}/readyz") as answer:
            assert answer.status == 200
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) in (0, -signal.SIGTERM)


def test_a_server_with_too_many_connections_says_so_and_works_again_behind_them(tmp_path: Path) -> None:
    """Who opens connections and says nothing takes no files from the database."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (310, before[1]))
    try:
        with process(tmp_path / "home") as (_, url):
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            place = ("127.0.0.1", int(url.rpartition(":")[2]))
            silent = [socket.create_connection(place) for _ in range(150)]
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(f"{url}/readyz")
            for one in silent:
                one.close()
            assert any(answers(f"{url}/readyz") for _ in range(100))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        error.close()
        time.sleep(0.05)
        return False


def test_a_killed_server_lost_nothing_it_had_acknowledged(tmp_path: Path) -> None:
    """SIGKILL while a client writes as fast as it can; each write is one transaction."""
    import threading

    from reverie.app import open_home

    home = tmp_path / "home"
    with open_home(home) as made:
        key = made.keys.create("x", {Permission.WRITE}).secret
    acknowledged: list[str] = []
    with process(home) as (running, url):
        store = post(f"{url}/v1/memory_stores", key, {"name": "Kill"})["id"]
        killing = threading.Timer(1.5, lambda: os.kill(running.pid, signal.SIGKILL))
        killing.start()
        try:
            for number in range(100_000):
                path = f"/{number}"
                post(f"{url}/v1/memory_stores/{store}/memories", key, {"path": path, "content": path})
                acknowledged.append(path)
        except OSError:
            killing.join()
    assert len(acknowledged) > 10
    with open_home(home) as again:
        house = House(again)
        scope = house.keys.scope
        stores = house.home.tenants.stores(scope)
        there = {one.path: one for path in ["/"] for one in stores.memories(store, path, limit=100_000, full=True)}
        assert set(acknowledged) <= set(there) and len(there) <= len(acknowledged) + 1
        records, own = again.history_records, scope.of("")
        assert len(records.documents(own)) == stores.get(store).held == len(there)
        assert records.unsettled(own) == [] and list(broken_links(records.rows(own))) == []
        assert list(records.mismatches(own)) == []


def post(url: str, key: str, body: dict[str, str]) -> dict[str, str]:
    headers = {"x-api-key": key, "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return dict(json.load(answer))
