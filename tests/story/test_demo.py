"""The demo as a newcomer meets it: a whole story in one screenful or two, on a sample, never on their files."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from tests.commands import run_command

MOST_BYTES = 60_000
MOST_SECONDS = 20
COMMANDS = ["audit", "sessions", "dream", "review", "history", "rules", "undo"]

Demo = Callable[..., str]


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """Runs it as a process of its own, for a person whose folders are all below `tmp_path`."""
    (tmp_path / "temporary").mkdir()

    def run(*words: str, started: bool = False, **environment: str) -> str:
        own = {"HOME": str(tmp_path / "me"), "TMPDIR": str(tmp_path / "temporary"), "COLUMNS": "88"}
        known = {**os.environ, **own, **environment}
        if started:
            command = [sys.executable, "-m", "reverie", "demo", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, env=known)
        else:
            done = run_command(["demo", *words], environment=known, folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not done.stderr
        return done.stdout

    return run


def test_it_tells_the_story_from_the_audit_to_the_undo_in_a_screenful_or_two(demo: Demo) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = demo(started=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (spent.ru_utime + spent.ru_stime) - (before.ru_utime + before.ru_stime) < MOST_SECONDS
    lines = said.splitlines()
    typed = [line.removeprefix("$ reverie ").split()[0] for line in lines if line.startswith("$ reverie ")]
    assert list(dict.fromkeys(typed)) == COMMANDS
    assert len(lines) <= 95
    assert max(map(len, lines)) <= 88
    assert "1 stale, 1 duplicated" in said
    assert "redacted before storing: 1 url-password" in said
    assert "tangerine" not in said
    assert "diabetes" not in said
    assert "2 changes landed, 9 proposals waiting, 4 held, 5 not kept." in " ".join(said.split())
    assert "  - new: Money is always Decimal in this code base, never float.\n" in said
    assert "now: Staging database is db2.internal:6432, user shop." in said
    assert "MEMORY.md is byte for byte what it was before." in said


def test_it_says_the_same_every_time_whatever_is_set_here_and_leaves_nothing(demo: Demo, tmp_path: Path) -> None:
    theirs = tmp_path / "me" / ".hermes" / "memories" / "MEMORY.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("I am not in the sample.")
    set_here = {
        "REVERIE_HOME": str(tmp_path / "me" / "reverie"),
        "REVERIE_OWNER": "zed",
        "REVERIE_TIMEZONE": "No/Where",
        "REVERIE_DATABASE": "postgresql://nobody@127.0.0.1:9/none",
        "HERMES_HOME": str(theirs.parents[1]),
    }
    assert demo(**set_here) == demo()
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [theirs]
    assert theirs.read_text() == "I am not in the sample."


def test_it_fits_a_narrow_terminal(demo: Demo) -> None:
    said = demo(COLUMNS="50").splitlines()
    told = said[: said.index("That was a sample, and it is gone; your own files were not touched. On yours:")]
    assert [line for line in told if len(line) > 50 and not line.startswith("$ ")] == []


def test_as_json_every_step_is_there_and_the_month_was_judged_as_it_should_be(demo: Demo) -> None:
    told = json.loads(demo("--json"))
    assert list(told) == [
        "audit",
        "added",
        "dream",
        "waiting",
        "planted",
        "approved",
        "history",
        "rules",
        "undone",
        "same_bytes",
    ]
    assert told["added"]["fates"] == {"new": len(_sessions())}
    (dream,) = told["dream"]["dreams"]
    assert len(dream["sessions"]) == len(_sessions())
    wanted = {one["suggestion"]["subject"] for one in told["waiting"]["proposals"]}
    assert wanted == {"MEMORY.md", "USER.md", "devops/deploy-shop"}
    assert told["planted"] == 0
    assert told["approved"]["outcome"] == told["undone"]["outcome"] == "landed"
    assert told["same_bytes"] is True
    judged = json.dumps(dream["judged"])
    assert "pakko-sync" not in judged
    assert "barkode" not in judged
    assert "diabetes" not in judged


def test_the_sample_is_small_and_a_month_long() -> None:
    sample = files("reverie") / "samples"
    with_files = [path for path in Path(str(sample)).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in with_files) <= MOST_BYTES
    days = [str(session["started_at"])[:10] for session in _sessions()]
    assert len(days) >= 25
    assert days == sorted(days)
    assert (days[0], days[-1]) == ("2026-03-02", "2026-03-31")
    assert {session["user"] for session in _sessions()} == {"sam", "priya"}


def _sessions() -> list[dict[str, object]]:
    text = (files("reverie") / "samples" / "shop.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]
