"""An unmodified `anthropic` SDK 2.8.0 pointed at us: stores, memories, versions; pages and races."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import open_home
from tests.peers import ANTHROPIC, python_with
from tests.serving import Served, serving

PEER = Path(__file__).with_name("anthropic_peer.py")


@pytest.fixture
def served(database: str, tmp_path: Path) -> Iterator[Served]:
    with (
        open_home(tmp_path / "home", settings={"owner": "ann", "database": database}) as home,
        serving(home) as server,
    ):
        yield server


@pytest.mark.peer
@pytest.mark.parametrize("client", ["sync", "async"])
@pytest.mark.parametrize("scenario", ["stores", "memories", "rules"])
def test_the_sdk_works_unmodified(served: Served, scenario: str, client: str) -> None:
    run(served, scenario, client)


@pytest.mark.peer
def test_two_hundred_and_fifty_memories_come_back_page_by_page(served: Served) -> None:
    run(served, "paging", "async")


@pytest.mark.peer
def test_sixteen_writers_with_preconditions_lose_nothing(served: Served) -> None:
    run(served, "racing", "sync")


@pytest.mark.peer
def test_a_base_url_may_have_a_path(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as home, serving(home, root_path="/proxy/prefix") as server:
        run(server, "stores", "sync", "/proxy/prefix/")


def run(served: Served, scenario: str, client: str, prefix: str = "") -> None:
    python = python_with(ANTHROPIC)
    command = [str(python), str(PEER), scenario, served.url + prefix, served.key, client]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
