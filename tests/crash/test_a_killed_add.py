"""SIGKILL at any moment of `reverie sessions add`; the next run finishes the work. Nothing lost, nothing twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from reverie.app import Home
from tests.commands import Process
from tests.conftest import HomeMaker
from tests.sizes import sampled, sized

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


ADD = """
import os, signal, sys
from sqlalchemy import Engine, event
from reverie.cli import main
from reverie.storage.search_index import WordllamaVectors
from reverie.storage.search_index import TantivyIndex

wanted, left = sys.argv[1], int(sys.argv[2])

def reached(name, *_):
    global left
    left -= name == wanted
    if name == wanted and left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watch(index, name):
    real = getattr(index, name)
    setattr(index, name, lambda *given: (reached(f"{index.__name__}.{name}"), real(*given))[1])

event.listen(Engine, "before_cursor_execute", lambda *_: reached("statement"))
for index in (TantivyIndex, WordllamaVectors):
    for name in ("replace", "commit"):
        watch(index, name)
sys.argv = ["reverie", "sessions", "add", *sys.argv[3:], "--json"]
main()
"""
WINDOWS = [
    ("statement", 1),
    ("TantivyIndex.replace", 150),
    ("statement", 300),
    ("statement", 40),
    ("TantivyIndex.commit", 1),
    ("WordllamaVectors.replace", 100),
    ("statement", 800),
    ("WordllamaVectors.commit", 1),
]


def start(home: Path, transcripts: Path, window: tuple[str, int] = ("nowhere", 0)) -> Process:
    """One that dies when it is in the window for so many times."""
    return Process(["-c", ADD, window[0], str(window[1]), str(transcripts), "--home", str(home)])


def ended(process: Process) -> int:
    process.communicate()
    return process.wait()


def whole(home: Home) -> None:
    stored = list(home.sessions.find())
    assert len(stored) == SESSIONS
    assert {one.turns for one in stored} == {TURNS}
    assert {one.revision for one in stored} == {1}
    hit = home.search("note 5 of session 1-42", limit=1)[0]
    assert hit.session_id == "s1-42"


@pytest.mark.parametrize("window", sampled(WINDOWS, WINDOWS[:3]), ids=str)
def test_an_add_killed_at_some_moment_is_finished_by_the_next(
    homes: HomeMaker, tmp_path: Path, transcripts: Path, window: tuple[str, int]
) -> None:
    """The moments fall before the migration, inside it, among the writes, in the index and in the vectors."""
    folder = tmp_path / "home"
    assert ended(start(folder, transcripts, window)) == -signal.SIGKILL
    assert ended(start(folder, transcripts)) == 0
    whole(homes(folder))


def test_an_add_killed_again_and_again_gets_there(homes: HomeMaker, tmp_path: Path, transcripts: Path) -> None:
    folder = tmp_path / "home"
    for window in sized(WINDOWS[3:6], sorted(WINDOWS)):
        ended(start(folder, transcripts, window))
    assert ended(start(folder, transcripts)) == 0
    whole(homes(folder))


def test_two_adds_at_once_keep_everything_once(homes: HomeMaker, tmp_path: Path, transcripts: Path) -> None:
    folder = tmp_path / "home"
    both = [start(folder, transcripts), start(folder, transcripts)]
    assert [ended(process) for process in both] == [0, 0]
    whole(homes(folder))
