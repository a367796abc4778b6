"""SIGKILL at any moment of `reverie sessions add`; the next run finishes the work. Nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.app import Home
from tests.conftest import HomeMaker
from tests.sizes import sized

SESSIONS = 300
TURNS = 8


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for part in range(3):
        lines = [
            json.dumps(
                {
                    "id": f"s{part}-{number}",
                    "messages": [
                        {"role": "user", "content": f"note {turn} of session {part}-{number} about gardens"}
                        for turn in range(TURNS)
                    ],
                }
            )
            for number in range(SESSIONS // 3)
        ]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def start(home: Path, transcripts: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "reverie", "sessions", "add", str(transcripts), "--home", str(home), "--json"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def whole(home: Home) -> None:
    stored = list(home.sessions.find())
    assert len(stored) == SESSIONS
    assert {one.turns for one in stored} == {TURNS}
    assert {one.revision for one in stored} == {1}
    hit = home.search("note 5 of session 1-42", limit=1)[0]
    assert hit.session_id == "s1-42"


@pytest.mark.parametrize("moment", sized([0.35, 0.8, 1.5], [0.35, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.6]))
def test_an_add_killed_at_some_moment_is_finished_by_the_next(
    homes: HomeMaker, tmp_path: Path, transcripts: Path, moment: float
) -> None:
    """The moments fall before the migration, inside it, among the writes, in the index and in the vectors."""
    folder = tmp_path / "home"
    process = start(folder, transcripts)
    time.sleep(moment)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert start(folder, transcripts).wait(120) == 0
    whole(homes(folder))


def test_an_add_killed_again_and_again_gets_there(homes: HomeMaker, tmp_path: Path, transcripts: Path) -> None:
    folder = tmp_path / "home"
    for attempt in range(0, 8, sized(3, 1)):
        process = start(folder, transcripts)
        time.sleep(0.5 + 0.15 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(folder, transcripts).wait(120) == 0
    whole(homes(folder))


def test_two_adds_at_once_keep_everything_once(homes: HomeMaker, tmp_path: Path, transcripts: Path) -> None:
    folder = tmp_path / "home"
    both = [start(folder, transcripts), start(folder, transcripts)]
    assert [process.wait(120) for process in both] == [0, 0]
    whole(homes(folder))
