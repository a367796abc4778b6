"""The nightly loop with an unmodified `anthropic` SDK as the managed side: sessions, dream, pull, review, push."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reverie.app import open_home
from reverie.bridge.route import KeptOut
from reverie.changes.land import Landed
from reverie.harnesses.anthropic_server import AnthropicServer
from tests.peers import ANTHROPIC, python_with
from tests.serving import Served, serving

PEER = Path(__file__).with_name("anthropic_bridge_peer.py")
DEPLOY = """\
---
name: deploy
description: How to deploy the shop; days, staging and production.
version: 1.0.0
---

# Deploy

## Rules
- We deploy on Fridays.
- Never deploy while the tests are red.
"""


def managed(served: Served, key: str, scenario: str, *given: str) -> Any:
    command = [str(python_with(ANTHROPIC)), str(PEER), scenario, served.url, key, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.peer
def test_a_night_of_the_managed_side_becomes_reviewed_amendments_and_goes_back(tmp_path: Path) -> None:
    skill = tmp_path / "home" / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(DEPLOY)
    with (
        open_home(tmp_path / "managed", settings={"owner": "them"}) as theirs,
        serving(theirs) as served,
        open_home(tmp_path / "home", settings={"owner": "ann"}) as home,
    ):
        key = served.new_key("read", "write", "dream", "review", user="kim")
        night = managed(served, key, "night")
        server = AnthropicServer(served.url, key)
        home.bridge.pull(server)
        batch = home.bridge.propose(night["dream"], target="home")
        assert batch.id == night["dream"] and skill.read_text() == DEPLOY
        waiting = {one.suggestion.evidence[0].quote: one for one in home.review.waiting()}
        assert set(waiting) == {"We deploy on Tuesdays.", "Staging is db2.internal."}
        told = waiting["We deploy on Tuesdays."].suggestion
        assert night["session"] in told.reason and night["dream"] in told.reason and told.origin == "agent"
        for one in waiting.values():
            assert isinstance(home.review.approve(one), Landed)
        assert "- We deploy on Tuesdays.\n- Never deploy while the tests are red.\n" in skill.read_text()
        home.bridge.push(server, night["output"])
        assert skill.read_text() in managed(served, key, "told", night["output"]).values()
        home.bridge.pull(server)
        again = home.bridge.propose(night["dream"], target="home")
        assert home.review.waiting() == [] and all(isinstance(one, KeptOut) for one in again.results)
        assert home.bridge.undo(night["dream"]) and skill.read_text() == DEPLOY
