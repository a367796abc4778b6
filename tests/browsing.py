"""Our pages on a free port of this machine, over a home that had a real night; and a real browser to look at them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
import uvicorn

from reverie.app import Home
from reverie.cli import begin as shop
from reverie.cli import reverie
from reverie.server.app import api_application as api
from reverie.server.caller import House
from reverie.web.app import Entrance, KeyDoor, mount_beside, web_application
from tests.peers import PLAYWRIGHT, python_with
from tests.serving import in_a_thread

PEER = Path(__file__).parent / "contract" / "browser_peer.py"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def morning_after() -> Iterator[Callable[[], Home]]:
    """The shop of `reverie demo` at breakfast after its first night. Each call opens it as it was then, once more."""
    with click.Context(reverie, info_name="reverie"), shop._sample(as_json=False) as sample:
        shop._said(sample, "sessions add ~/shop.jsonl")
        shop._said(sample, "dream --limit 40")
        sample.clock.at = shop.BREAKFAST
        sample.config.home.chmod(0o700)
        kept = sample.folder.with_name(f"{sample.folder.name}-kept")
        sample.folder.rename(kept)

        def opened() -> Home:
            shutil.rmtree(sample.folder, ignore_errors=True)
            shutil.copytree(kept, sample.folder, symlinks=True)
            return sample.opened()

        try:
            yield opened
        finally:
            shutil.rmtree(kept)
            sample.folder.mkdir(exist_ok=True)


@contextmanager
def pages_of(home: Home) -> Iterator[str]:
    """The address that `reverie web` would print."""
    entrance = Entrance(home)
    config = uvicorn.Config(web_application(home, entrance), port=0, log_config=None, access_log=False, lifespan="off")
    with in_a_thread(config) as url:
        yield f"{url}/?token={entrance.token}"


@contextmanager
def team_pages_of(home: Home) -> Iterator[str]:
    """The address at which `reverie serve` would serve the pages."""
    app = mount_beside(api(House(home)), web_application(home, KeyDoor(home)))
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    with in_a_thread(config) as url:
        yield f"{url}/web/"


def browse(scenario: str, url: str, *arguments: str) -> None:
    """Let a scenario of `browser_peer.py` drive Chromium. What it finds wrong is in the failure."""
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.skip("not run: there is no Chromium (Debian: apt-get install chromium)")
    command = [str(python_with(PLAYWRIGHT)), str(PEER), scenario, url, str(chromium), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
