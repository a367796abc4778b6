"""`reverie.client`: scripts written after articles run as they stand, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import open_home
from reverie.client import Client, LenientStatus
from reverie.core.errors import NotFound
from tests.serving import Served, serving

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with open_home(tmp_path / "home", settings={"owner": "ann"}) as home, serving(home) as server:
        yield server


def test_both_forms_of_the_page_run_as_they_stand(served: Served, tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text("\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)))
    told = {"ANTHROPIC_BASE_URL": served.url, "ANTHROPIC_API_KEY": served.new_key("write", "dream", user="ann")}
    done = subprocess.run(
        [sys.executable, page], capture_output=True, text=True, check=False, timeout=120, env=os.environ | told
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^memstore_\w+ \d+\.\d s$", done.stdout, re.M)
    assert "/team/deploy.md - We deploy on Tuesdays" in done.stdout and "Fridays" not in done.stdout
    assert re.search(r"^completed memstore_\w+ 0:00:", done.stdout, re.M)


def test_an_environment_for_scripts_is_made_once(served: Served) -> None:
    for _ in range(2):
        with Client(served.url, served.key) as client:
            agent = client.agents.create(name="Shop", model="built-in")
            client.managed_agents.sessions.create(agent.id, served.store(), "Hello.")
    with Client(served.url, served.key) as client:
        assert [one.name for one in client.environments.list()] == ["scripts"]
        (message, _) = (list(client.sessions.events.list(one.id)) for one in client.sessions.list())
        assert message[0].content[0].text == "Hello."
        with pytest.raises(NotFound, match="drm_none"):
            client.dreams.retrieve("drm_none")


def test_a_final_status_is_found_by_either_word() -> None:
    said = LenientStatus("complete")
    assert said == "completed" and said == "complete" and said in ("completed", "failed")
    assert [said != "complete", said != "completed", said != "failed"] == [False, False, True]
    assert LenientStatus("running") != "complete"
