"""SIGKILL while a model is asked: the window is between an answer that was recorded and what Light notes of it.

The session is long enough for several questions, which are asked one after the other or several at once. The scripted
server kills the process that dreams when another question has come in and the first answer is on record; a second one
takes the night up.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reverie.testing.model_plays import Line, Play, Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import Asked

OPINION = "Mielestäni lyhyet vastaukset ovat parempia kuin pitkät."
FILLING = "kesästä ja veneistä on pitkä, ja se kerrotaan meillä joka vuosi uudestaan."
CHILD = """
import json, sys
import reverie
settings = json.loads(sys.argv[2])
with reverie.open(sys.argv[1], settings=settings) as home:
    home.sessions.add(json.loads(sys.argv[3]))
    dreams = home.dream.recover() or [home.dream(target="home")]
    print(json.dumps([[one.text for one in dreams[0].judged], dreams[0].consulted[0].calls, home.spending()["tokens"]]))
"""


def dreaming(home: Path, settings: dict[str, str], session: dict[str, Any]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(home), json.dumps(settings), json.dumps(session)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@dataclass(frozen=True)
class Kills:
    """Ends the process that dreams, once an answer of its is on record."""

    process: subprocess.Popen[str]
    database: Path

    def perform(self, asked: Asked, line: Line) -> None:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as rows:
            while not rows.execute("select count(*) from answers").fetchone()[0] and line.wait(0.02):
                pass
        self.process.kill()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("at_once", [1, 4])
def test_an_answer_that_was_recorded_is_not_asked_for_again(at_once: int, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": OPINION}]
    messages += [{"role": "user", "content": f"Kertomus {number} {FILLING} Se oli hyvä kesä."} for number in range(600)]
    session = {"id": "s1", "user": "ann", "started_at": "2026-05-10T09:00:00Z", "messages": messages}
    child: list[subprocess.Popen[str]] = []
    seen: list[str] = []

    def play(asked: Asked) -> Play:
        words = asked.body["messages"][1]["content"]
        first = "[turn 1, user]" in words
        seen.append("first" if first else "later")
        if not first and len(child) == 1:
            return Kills(child[0], tmp_path / "reverie.db")
        quotes = [{"turn": 1, "words": OPINION}]
        found = {"kind": "communication_preference", "text": OPINION, "quotes": quotes}
        return Says(json.dumps({"suggestions": [found] if first else []}))

    with serving(play) as server:
        settings = {
            "owner": "ann", "model_light": "openai:scripted", "model_url": server.openai_url, "model_share": "1",
            "database": f"sqlite:///{tmp_path / 'reverie.db'}", "model_at_once": str(at_once),
        }  # fmt: skip
        child.append(dreaming(tmp_path / "home", settings, session))
        child[0].communicate()
        assert child[0].returncode == -signal.SIGKILL
        assert "first" in seen and 2 <= len(seen) <= 1 + at_once
        child.append(dreaming(tmp_path / "home", settings, session))
        out, errors = child[1].communicate()
    assert child[1].returncode == 0, errors
    judged, calls, tokens = json.loads(out.splitlines()[-1])
    assert seen.count("first") == 1 and OPINION in judged
    assert calls >= len(seen)  # the calls that were killed are on the list, too
    assert tokens > 10_000  # and count at their worst
