"""An editor that knows no lock saves at every line between our look at a file and its replacement, and afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.changes.land import Landed
from reverie.changes.ledger import Via
from reverie.core.ids import sha256
from reverie.memory.operation import Add, Remove, Replace, entry_hash
from reverie.skills.skill import NewText, Patch
from reverie.system import shared_files
from tests.faults.driving import quick_folder
from tests.faults.editors import KINDS, AtLine, between, gaps
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, NEW, OLD, POISON, House, broken, build, changes, entries, left_behind
from tests.faults.killing import Lines
from tests.faults.tallying import FULL, Tally, spread
from tests.faults.test_writers import child, ended

OURS, THEIRS = "Money is Decimal", "An editor saved this"
WHERE = "an editor without a lock saves at any line of a landing from the first look at the file on"
ROOT = Path(__file__).parents[2]
CLOSE = {"_put", "made", "_swap", "tidy", "_let_go", "prepared", "alone", "read", "_replaced_at_the_last_moment"}


def land(home: Home) -> None:
    outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, OURS), Replace(DOCUMENT, entry_hash(OLD), NEW)])
    assert isinstance(outcome, Landed), outcome


@dataclass(frozen=True)
class Stored:
    """A house to be copied to the place where it was built: a target is known by its path."""

    folder: Path

    def copied(self) -> House:
        return House(self.folder / "stored").copied(self.folder / "house")


@pytest.fixture
def stored() -> Iterator[Stored]:
    with quick_folder() as folder:
        build(folder / "house").folder.rename(folder / "stored")
        yield Stored(folder)


def chosen(house: House, most: int) -> list[int]:
    """The lines of a landing from the first look at the file on: all, or a spread with most of them at the exchange."""
    lines = Lines()
    with house.opened() as home:
        home.review.waiting()
        sys.settrace(lines)
        land(home)
        sys.settrace(None)
    first, last = between(lines, "drawn", "settle")
    every = range(first, last + 1)
    close = [at for at in every if lines.run[at - 1][0] in CLOSE]
    return list(every) if FULL else sorted({*spread(close, most * 2 // 3), *spread(every, most // 3)})


def saves_at(at: int, save: Callable[[], None], home: Home) -> None:
    tracing = AtLine(at, save)
    home.review.waiting()
    sys.settrace(tracing)
    land(home)
    sys.settrace(None)
    assert tracing.count >= at


def looked_at(tally: Tally, house: House, home: Home, where: str) -> None:
    """After the next touch everything stands in the file, once, and history goes from one to the next."""
    list(home.memory.entries("hermes"))
    tally.points += 1
    found, wanted = Counter(entries(house)), Counter([*MEMORY.replace(OLD, NEW).split("\n§\n"), OURS, THEIRS])
    tally.lost += [f"{where}: {text}" for text in wanted - found]
    tally.torn += [f"{where}: {text}" for text in found - wanted]
    tally.other += [f"{where}: {one}" for one in broken(home) + gaps(changes(home), DOCUMENT)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(3600)
def test_what_an_editor_saves_at_any_line_of_a_landing_is_in_the_file_at_the_end(
    tallied: Tallied, stored: Stored, kind: str
) -> None:
    tally = tallied("F10", f"{WHERE}: it {kind}")
    for at in chosen(stored.copied(), 9):
        house = stored.copied()
        with house.opened() as home, KINDS[kind](house.memory) as save:
            saves_at(at, lambda: save(THEIRS), home)
            looked_at(tally, house, home, f"line {at}")
        with house.opened() as home:
            list(home.memory.entries("hermes"))
        tally.other += [f"line {at}: left {name}" for name in left_behind(house)]


@pytest.mark.parametrize("kind", ["appends", "holds", "rewrites"])
@pytest.mark.timeout(3600)
def test_where_names_cannot_be_exchanged_what_is_written_into_the_old_file_is_found(
    tallied: Tallied, stored: Stored, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    tally = tallied("F10", "an editor writes into the file at a line of a landing, where two names cannot be exchanged")
    monkeypatch.setattr(shared_files, "_call", lambda: None)
    for at in spread(chosen(stored.copied(), 6), 100):
        house = stored.copied()
        with house.opened() as home, KINDS[kind](house.memory) as save:
            saves_at(at, lambda: save(THEIRS), home)
            looked_at(tally, house, home, f"line {at}")


@pytest.mark.parametrize("kind", ["replaces", "appends"])
@pytest.mark.timeout(3600)
def test_a_kill_right_behind_the_save_of_an_editor_loses_neither(tallied: Tallied, stored: Stored, kind: str) -> None:
    """Killed where the file is ours already and theirs is beside it, or the other way round."""
    tally = tallied("F10", "an editor saves at a line of a landing, which is killed (-9) some lines behind")
    for at in spread(chosen(stored.copied(), 9), 30 if FULL else 5):
        for behind in (1, 3, 8, 21) if FULL else (2, 5):
            house = stored.copied()

            def work(at: int = at, behind: int = behind, house: House = house) -> None:
                with house.opened() as home, KINDS[kind](house.memory) as save:
                    home.review.waiting()
                    sys.settrace(AtLine(at, lambda: save(THEIRS), die_behind=behind))
                    land(home)

            assert not ended(child(work))
            with house.opened() as home:
                home.review.recover()
                land(home) if OURS not in entries(house) else None
                looked_at(tally, house, home, f"line {at}, killed {behind} behind")


@pytest.mark.timeout(7200)
def test_saves_at_any_moment_while_changes_land_are_all_there(tallied: Tallied, tmp_path: Path) -> None:
    """Two processes that do not wait for each other: no line is chosen, so the moments between lines are met too."""
    tally = tallied("F10", "saves by an editor without a lock, by `os.replace` and in place, while changes land")
    saves, told = 10_000 if FULL else 60, tmp_path / "told.json"
    command = [sys.executable, ROOT / "benchmarks" / "editors.py", "--saves", str(saves), "--json", told]
    subprocess.run(command, check=False, capture_output=True)
    found = json.loads(told.read_text())
    tally.points += found["saves"]
    tally.lost += found["lost"]
    tally.other += found["not verified"] + ["history has a gap"] * found["gaps"]
    assert found["saves"] == saves and found["outcomes"]["Landed"]


def test_what_meets_a_change_of_the_same_entry_is_offered_and_its_bytes_are_kept(stored: Stored) -> None:
    house = stored.copied()
    theirs = "Staging DB is db9.internal:5432"
    with house.opened() as home:
        with house.memory.open("r+") as editor:
            land(home)
            editor.write(MEMORY.replace(OLD, theirs))
            editor.flush()
            list(home.memory.entries("hermes"))
            assert theirs not in entries(house) and NEW in entries(house)
            (proposal,) = home.review.waiting()
            assert f"+{theirs}" in proposal.diff
            list(home.memory.entries("hermes"))
            assert len(home.review.waiting()) == 1
        assert home.history_records.content(home.owned, sha256(MEMORY.replace(OLD, theirs).encode())) is not None
        assert isinstance(home.review.approve(proposal), Landed)
        assert theirs in entries(house)
        assert not broken(home) and not left_behind(house)


def test_what_is_unsafe_is_queued_for_removal_however_late_it_was_written(stored: Stored) -> None:
    house = stored.copied()
    with house.opened() as home:
        with house.memory.open("a") as editor:
            land(home)
            editor.write(f"\n§\n{POISON}")
        list(home.memory.entries("hermes"))
        assert POISON in entries(house)
        assert [one.suggestion.operations for one in home.review.waiting()] == [(Remove(DOCUMENT, entry_hash(POISON)),)]


def test_an_editor_that_writes_piece_by_piece_into_a_displaced_file_is_followed(stored: Stored) -> None:
    house = stored.copied()
    with house.opened() as home:
        with house.memory.open("a") as editor:
            land(home)
            for piece in ("\n§\nOne thing that", " is written slowly", "\n§\nAnd another one"):
                editor.write(piece)
                editor.flush()
                list(home.memory.entries("hermes"))
        list(home.memory.entries("hermes"))
        assert entries(house)[-3:] == [OURS, "One thing that is written slowly", "And another one"]
        assert not broken(home) and not left_behind(house)


def test_a_skill_saved_by_an_editor_while_it_is_amended_keeps_both(tmp_path: Path) -> None:
    skill = tmp_path / "home" / "skills" / "deploy.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("# Deploy\n\nWhen to use it.\n\n## Steps\n\n1. Build\n2. Push\n\n## Gotchas\n\n- None yet\n")
    with open_home(tmp_path / "home", settings={"owner": "ann"}) as home:
        (name,) = home.skills.folders
        base = skill.read_bytes()
        new = NewText(skill.read_text().replace("- None yet", "- Never on a Friday"))
        wanted = Patch("deploy.md", base, new, "minor")
        with skill.open("r+") as editor:
            assert isinstance(home.review.amend(name, wanted), Landed)
            editor.write(base.decode().replace("1. Build", "1. Build it twice"))
            editor.flush()
        list(home.skills.every())
        home.skills.get("deploy.md")
        assert "- Never on a Friday" in skill.read_text() and "1. Build it twice" in skill.read_text()
        assert {change.grounds.via for change in home.history.changes()} == {Via.FOUND, Via.DIRECT, Via.OUTSIDE}
