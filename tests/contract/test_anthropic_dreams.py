"""An unmodified `anthropic` SDK 2.8.0 pointed at us: dreams, from asking for one to its end."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from reverie.app import open_home
from reverie.server.caller import House
from tests.peers import ANTHROPIC, python_with
from tests.serving import serving

PEER = Path(__file__).with_name("anthropic_dreams_peer.py")
ALONE = ("waiting", "streaming")  # nobody dreams until the test says so
SCENARIOS = [
    "lifecycle",
    "listing",
    "refusals",
    "waiting",
    "in_place",
    "unsafe",
    "streaming",
    "overtaken",
    "of_nobody",
]


@pytest.mark.peer
@pytest.mark.parametrize("client", ["sync", "async"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_sdk_works_unmodified(database: str, tmp_path: Path, scenario: str, client: str) -> None:
    python = python_with(ANTHROPIC)
    with (
        open_home(tmp_path / "home", settings={"owner": "ann", "database": database}) as home,
        serving(home, dreams=scenario not in ALONE) as served,
        once_heard(served.house, scenario == "streaming"),
    ):
        bound = served.new_key("read", "write", "dream", "review", user="kim")
        key = served.key if scenario == "of_nobody" else bound
        command = [str(python), str(PEER), scenario, served.url, key, client]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]


class once_heard:
    """Dreams are done from when somebody listens to a session."""

    def __init__(self, house: House, wanted: bool) -> None:
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.wait, args=(house, wanted))

    def wait(self, house: House, wanted: bool) -> None:
        while wanted and not house.wakeups.anyone() and not self.over.wait(0.02):
            continue
        if wanted:
            with house.working():
                self.over.wait()

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
