"""hermes-agent 0.19's own memory tool and Reverie write one memory at once, each in processes of its own.

Jepsen's way: all that was acknowledged stands in logs, and the files have to agree with them. In full, beside
hermes-dreaming: `python benchmarks/shared_memory.py`.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.shared_memory import Terms, contest, flaws, flaws_of_history

HERMES_AND = {side: ("hermes", side) for side in ("reverie", "dreaming")}


@pytest.mark.peer
def test_nothing_acknowledged_is_lost_and_history_has_no_gap(tmp_path: Path, database: str) -> None:
    held = contest(tmp_path, HERMES_AND["reverie"], Terms(300, pause=0.02, database=database))
    assert flaws(held) == []
    assert flaws_of_history(held) == []
    for side in HERMES_AND["reverie"]:
        assert sum(one.done for one in held.of(side)) > 200
    turns = [one.side for one in held.log if one.done]
    assert sum(before != after for before, after in pairwise(turns)) > 50, "they took no turns"
    assert held.looks > 100


@pytest.mark.peer
def test_the_same_check_sees_what_a_writer_without_hermes_lock_and_format_does(tmp_path: Path) -> None:
    """A check that never finds anything proves nothing: hermes-dreaming 0.3.2 in Reverie's place."""
    held = contest(tmp_path, HERMES_AND["dreaming"], Terms(60, pause=0.01))
    assert held.fate.lost(held.log)
    assert [one for entries in held.read.values() for one in held.fate.corrupted(entries)]
