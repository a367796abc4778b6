"""hermes-agent 0.19's own memory tool and Reverie write one memory at once, each in processes of its own.

Jepsen's way: all that was acknowledged stands in logs, and the files and the history have to agree with them. In
full, and beside hermes-dreaming: `python benchmarks/shared_memory.py`.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.shared_memory import Terms, contest, flaws, flaws_of_history


@pytest.mark.peer
def test_nothing_acknowledged_is_lost_and_history_has_no_gap(tmp_path: Path, database: str) -> None:
    each, pause = (300, 0.02) if database.startswith("sqlite") else (90, 0.1)  # neither waits long for the other
    held = contest(tmp_path, ("hermes", "reverie"), Terms(each, pause=pause, database=database))
    assert flaws(held) == []
    assert flaws_of_history(held) == []
    done = [one.side for one in held.log if one.done]
    assert min(done.count("hermes"), done.count("reverie")) > each / 2
    assert sum(before != after for before, after in pairwise(done)) > each / 20, "they hardly took turns"
    assert held.looks > each


@pytest.mark.peer
def test_the_same_check_sees_what_a_writer_without_hermes_lock_and_format_does(tmp_path: Path) -> None:
    """A check that never finds anything proves nothing: hermes-dreaming 0.3.2 in Reverie's place."""
    held = contest(tmp_path, ("hermes", "dreaming"), Terms(60, pause=0.01))
    assert held.fate.lost(held.log)
    assert [one for entries in held.read.values() for one in held.fate.corrupted(entries)]
