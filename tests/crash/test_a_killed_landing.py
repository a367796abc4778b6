"""SIGKILL while memory is being changed, at every line and at every system call that writes.

Afterwards: the file is whole, old or new; what was acknowledged is there, once; recovering twice does nothing more;
everything verifies; and the next write lands without anyone's help, with `reverie recover` before it or without.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from reverie.app import Home
from reverie.core.errors import BadInput
from reverie.memory.operation import Add
from tests.faults.driving import driven
from tests.faults.fixtures import Tallied
from tests.faults.houses import House, broken, entries
from tests.faults.killing import performed
from tests.faults.scenarios import SCENARIOS, Acknowledged, Scenario
from tests.faults.tallying import FULL, LINES
from tests.sizes import sized

EVERY = 1_000_000
CHANGES = [name for name in SCENARIOS if not name.startswith("recover")]
RECOVERIES = [name for name in SCENARIOS if name.startswith("recover")]


@pytest.mark.parametrize("scenario", CHANGES if FULL else [",".join(CHANGES)])
@pytest.mark.timeout(7200)
def test_a_change_killed_at_any_line_is_whole_and_there_at_most_once(tallied: Tallied, scenario: str) -> None:
    tally = tallied("F1", "kill -9 at a line of a change: written, proposed, approved, undone, noticed; on SQLite")
    driven(tally, "killing", scenario, LINES if FULL else sized(3, 6))


@pytest.mark.parametrize("scenario", RECOVERIES if FULL else [",".join(RECOVERIES)])
@pytest.mark.timeout(7200)
def test_a_recovery_killed_at_any_line_is_finished_by_the_next(tallied: Tallied, scenario: str) -> None:
    """The first kill came behind the intention, behind the file, behind the verdict, or before the end."""
    tally = tallied("F1", "kill -9 at a line of the recovery from a kill; on SQLite")
    driven(tally, "killing", scenario, LINES if FULL else sized(2, 4))


@pytest.mark.parametrize("scenario", ["propose", "recover-written"] if FULL else ["propose"])
@pytest.mark.timeout(7200)
def test_the_same_holds_on_postgres(tallied: Tallied, postgres_server: str, scenario: str) -> None:
    tally = tallied("F1", "kill -9 at a line of a change or a recovery; on Postgres")
    driven(tally, "killing", scenario, 100 if FULL else 4, postgres_server)


def test_what_a_crash_left_on_a_folder_that_is_gone_holds_up_nothing_else(tallied: Tallied, house: House) -> None:
    tally = tallied("F1", "kill -9 in two places, one of which is gone when the recovery comes")
    notes = house.folder / "notes" / "rules.md"
    notes.parent.mkdir()
    notes.write_text("- one\n")

    def write_notes(home: Home) -> Iterator[Acknowledged]:
        home.review.write(str(notes), notes.name, [Add(notes.name, "two")])
        yield "never", "reached"

    for scenario in (Scenario(write_notes), SCENARIOS["write"]):
        tally.points += 1
        assert os.WIFSIGNALED(performed(house, scenario, die_in="_exchanged").status)
    shutil.rmtree(notes.parent)
    with house.opened() as home:
        with pytest.raises(BadInput, match="notes"):
            home.review.recover()
        tally.lost += [] if "Money is Decimal" in entries(house) else ["the other was not recovered"]
        notes.parent.mkdir()
        notes.write_text("- one\n")  # it was a disk that was not mounted
        tally.manual += [] if len(home.review.recover().landed) == 1 else ["it was not recovered when it came back"]
        assert notes.read_text() == "- one\n- two\n"
        tally.other += broken(home)


@pytest.mark.parametrize("scenario", ["write", "propose", "undo", "recover-intended"] if FULL else ["write"])
@pytest.mark.timeout(7200)
def test_a_change_killed_at_any_system_call_that_writes_is_whole(tallied: Tallied, scenario: str) -> None:
    tally = tallied("F1", "kill -9 at a system call that writes, syncs or renames, SQLite's included")
    driven(tally, "tracing", "kill", scenario, EVERY if FULL else sized(3, 6))
