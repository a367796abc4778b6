"""An editor that knows no lock saves at every line between our look at a file and its replacement, and afterwards."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from reverie.home import Home
from reverie.memory.operation import Add, Replace, entry_hash
from reverie.review.outcome import Landed
from tests.faults.editors import KINDS, AtLine, between, gaps
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, NEW, OLD, House, broken, build, changes, entries, left_behind
from tests.faults.killing import Lines
from tests.faults.tallying import FULL, spread

OURS, THEIRS = "Money is Decimal", "An editor saved this"
WHERE = "an editor without a lock saves at a line between our first look at the file and the end of the change"


def land(home: Home) -> None:
    outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, OURS), Replace(DOCUMENT, entry_hash(OLD), NEW)])
    assert isinstance(outcome, Landed), outcome


def lines_of_a_landing(house: House) -> range:
    lines = Lines()
    with house.opened() as home:
        home.review.waiting()
        sys.settrace(lines)
        land(home)
        sys.settrace(None)
    first, last = between(lines, "drawn", "settle")
    return range(first, last + 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(3600)
def test_what_an_editor_saves_at_any_line_of_a_landing_is_in_the_file_at_the_end(
    tallied: Tallied, tmp_path: Path, kind: str
) -> None:
    tally = tallied("F10", f"{WHERE}: it {kind}")
    base = build(tmp_path / "house")
    base.folder.rename(tmp_path / "stored")
    stored = House(tmp_path / "stored")
    every = lines_of_a_landing(stored.copied(tmp_path / "house"))
    for at in every if FULL else spread(every, 30):
        house = stored.copied(tmp_path / "house")
        with house.opened() as home, KINDS[kind](house.memory) as save:
            home.review.waiting()
            tracing = AtLine(at, lambda: save(THEIRS))
            sys.settrace(tracing)
            land(home)
            sys.settrace(None)
            assert tracing.count >= at
            list(home.memory.entries("hermes"))  # the next touch
            tally.points += 1
            found, wanted = Counter(entries(house)), Counter([*MEMORY.replace(OLD, NEW).split("\n§\n"), OURS, THEIRS])
            tally.lost += [f"line {at}: {text}" for text in wanted - found]
            tally.torn += [f"line {at}: {text}" for text in found - wanted]
            tally.other += [f"line {at}: {one}" for one in broken(home) + gaps(changes(home), DOCUMENT)]
        with house.opened() as home:
            list(home.memory.entries("hermes"))
        tally.other += [f"line {at}: left {name}" for name in left_behind(house)]
        shutil.rmtree(house.folder)
