"""SIGKILL while a model is asked, and at every step of a night that a model decides on.

The night does not fit one Brief, so that it takes several requests: notes of each session, then the night. A server in
this process kills the one that dreams when a certain request comes in; a second process takes the night up. What was
answered before is on record and not asked for again; what was under way when the process died is.
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reverie.testing.bad_curators import read_brief
from reverie.testing.model_plays import OpenConnection, Says
from reverie.testing.model_recordings import conversation
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.commands import Process
from tests.sizes import sized

WISH = "Please always answer me in metric units from now on."
METRIC = "Answer in metric units."
FILLING = "Can you look once more at the boats in the harbour, at the weather of that summer, and at the other file?"
SESSIONS = 3
REQUESTS = SESSIONS + 1
STEPS = [("begin", 1), ("light", 1), ("light", 3), ("think", 1), ("put", 1), ("end", 1)]
WINDOWS = [(step, times, where) for step, times in STEPS for where in ("before", "after")]
CHILD = """
import json, os, signal, sys
import reverie
from reverie.dreams.run.steps import Steps

settings, sessions, step, times = json.loads(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4], int(sys.argv[5])
left = [times]

def killed(name, do):
    def now(self, *arguments):
        if name == step and "before" in sys.argv[6]:
            left[0] -= 1
            left[0] or os.kill(os.getpid(), signal.SIGKILL)
        done = do(self, *arguments)
        if name == step and "after" in sys.argv[6]:
            left[0] -= 1
            left[0] or os.kill(os.getpid(), signal.SIGKILL)
        return done
    return now

for name in ("begin", "light", "think", "put", "end"):
    setattr(Steps, name, killed(name, getattr(Steps, name)))
with reverie.open(sys.argv[1], settings=settings) as home:
    for session in sessions:
        home.sessions.add(session)
    night = home.dream("home")
    dreams = home.dreams.records.find(home.owned, "home")
    diaries = [one.diary for one in dreams if one.sessions]
    changes = len([one for one in dreams for change in one.changes])
    memory = [one.text for one in home.memory.entries("home")]
    print(json.dumps([memory, diaries, changes, home.spending()["tokens"], len(home.dream.recover())]))
"""


def said() -> list[dict[str, Any]]:
    found = []
    for number in range(SESSIONS):
        words = [WISH if number == 1 else f"Please look at file {number}.", *[f"{FILLING} In {n}?" for n in range(12)]]
        turns = [turn for one in words for turn in (("user", one), ("assistant", "All right."))]
        messages = [{"role": role, "content": text} for role, text in turns]
        started = f"2026-05-{number + 1:02}T09:00:00Z"
        found.append({"id": f"x{number}", "user": "ann", "started_at": started, "messages": messages})
    return found


@dataclass
class Curates:
    """Answers as a good model would, and ends the process that dreams when its `kill_at`-th request comes in."""

    kill_at: int = 0
    child: Process | None = None
    asked: list[str] = field(default_factory=list)

    def perform(self, asked: ReceivedRequest, line: OpenConnection) -> None:
        self.asked.append(conversation(asked).key)
        if len(self.asked) == self.kill_at:
            assert self.child is not None
            self.child.kill()
            return
        places = [one for one in read_brief(asked).lines if WISH in one.text]
        item = {
            "op": "add",
            "document": "MEMORY.md",
            "text": METRIC,
            "kind": "communication_preference",
            "certainty": "sure",
            "because": "They said so.",
        }
        cited = [{"session": one.session, "turn": one.turn, "words": WISH} for one in places]
        Says(json.dumps({"items": [item | {"evidence": cited}] if cited else []})).perform(asked, line)


def dreaming(folder: Path, server: str, step: str = "", times: int = 1, where: str = "") -> Process:
    settings = {"owner": "ann", "model": "openai:scripted", "model_url": server, "model_brief_tokens": "600"}
    words = [str(folder / "home"), json.dumps(settings), json.dumps(said()), step, str(times), where]
    return Process(["-c", CHILD, *words])


def ended(child: Process) -> list[Any]:
    out, errors = child.communicate()
    assert child.returncode == 0, errors
    found: list[Any] = json.loads(out.splitlines()[-1])
    return found


def as_it_should_be(found: list[Any], tokens: int = 0) -> None:
    memory, diaries, changes, spent, unfinished = found
    assert memory == [METRIC] and changes == 1 and unfinished == 0
    assert len(diaries) == 1 and "1 change landed" in diaries[0] and "600 tokens: 3 sessions" in diaries[0]
    assert spent >= tokens


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kill_at", sized([2], range(1, REQUESTS + 1)))
def test_what_was_answered_before_the_kill_is_not_asked_again(kill_at: int, tmp_path: Path) -> None:
    """The window: a request has come in and no answer is back. All answers before it are on record."""
    curator = Curates(kill_at)
    with serving(curator) as server:
        curator.child = dreaming(tmp_path, server.openai_url)
        curator.child.communicate()
        assert curator.child.returncode == -signal.SIGKILL and len(curator.asked) == kill_at
        found = ended(dreaming(tmp_path, server.openai_url))
    times = Counter(curator.asked)
    assert len(times) == REQUESTS
    assert [one for one, count in times.items() if count > 1] == [curator.asked[kill_at - 1]]  # only what was under way
    as_it_should_be(found)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "times", "where"), sized(WINDOWS[1::5], WINDOWS))
def test_a_night_killed_at_any_step_goes_on_and_asks_nothing_twice(
    step: str, times: int, where: str, tmp_path: Path
) -> None:
    """The window: right before or right behind a step, of which the night has done `times` - 1 of this name."""
    curator = Curates()
    with serving(curator) as server:
        first = dreaming(tmp_path, server.openai_url, step, times, where)
        first.communicate()
        assert first.returncode == -signal.SIGKILL
        found = ended(dreaming(tmp_path, server.openai_url))
    assert len(curator.asked) == len(set(curator.asked)) == REQUESTS
    as_it_should_be(found)


@pytest.mark.timeout(900)
def test_a_request_that_was_killed_counts_against_the_caps(tmp_path: Path) -> None:
    """The window: as above. Whether the provider charges for it nobody can know, so that it counts at its worst."""
    curator = Curates(REQUESTS)
    with serving(curator) as server:
        curator.child = dreaming(tmp_path / "killed", server.openai_url)
        curator.child.communicate()
        with_a_kill = ended(dreaming(tmp_path / "killed", server.openai_url))[3]
        without = ended(dreaming(tmp_path / "whole", server.openai_url))[3]
    assert with_a_kill > without > 0
