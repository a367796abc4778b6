"""An unmodified `anthropic` SDK 2.8.0 pointed at us: agents, environments, sessions, their events, live streams."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import open_home
from tests.peers import ANTHROPIC, python_with
from tests.serving import Served, serving

PEER = Path(__file__).with_name("anthropic_sessions_peer.py")


@pytest.fixture
def served(database: str, tmp_path: Path) -> Iterator[Served]:
    with (
        open_home(tmp_path / "home", settings={"owner": "ann", "database": database}) as home,
        serving(home) as server,
    ):
        yield server


@pytest.mark.peer
@pytest.mark.parametrize("client", ["sync", "async"])
@pytest.mark.parametrize("scenario", ["agents", "environments", "sessions", "events", "parts", "streaming"])
def test_the_sdk_works_unmodified(served: Served, scenario: str, client: str) -> None:
    command = [str(python_with(ANTHROPIC)), str(PEER), scenario, served.url, served.key, client]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
