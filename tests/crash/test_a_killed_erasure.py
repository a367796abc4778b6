"""SIGKILL at each step of an erasure and at lines in between; the next process goes on, and nothing is left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.commands import run_python
from tests.conftest import HomeMaker
from tests.story.test_erasure import lived_in

POINTS = int(os.environ.get("REVERIE_ERASURE_KILLS", "0"))  # beside the steps: lines spread over the whole run
KINDS = ["session", "text"] if POINTS else ["session"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_erasure_killed_at_any_line_is_finished_by_the_next_process_without_residue(
    homes: HomeMaker, tmp_path: Path, kind: str
) -> None:
    """Windows: before and behind the plan, each file, the rows, the swap of git, the index, the log and the end."""
    home = lived_in(homes(tmp_path / "live" / "home"))
    home.close()
    done = run_python(["-m", "tests.crash.erasing", str(tmp_path), kind, str(POINTS)])
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert said["problems"] == {} and said["killed"] >= 4 + POINTS // 2, said
