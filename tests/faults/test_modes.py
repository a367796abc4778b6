"""Rights that are taken away and given back: who may write again writes again, and who may not is told which file."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.changes.land import Landed
from reverie.core.errors import DatabaseUnusable, NotPermitted
from reverie.memory.operation import Add
from tests.faults.driving import quick_folder
from tests.faults.fixtures import Tallied
from tests.faults.test_writers import child, ended

NOBODY = 65534
SESSION = {"id": "s1", "messages": [{"role": "user", "content": "The staging database is db2.internal"}]}


def opened(folder: Path) -> Home:
    return open_home(folder / "home", settings={"owner": "ann"})


def write(home: Home, text: str) -> None:
    assert isinstance(home.review.write("home", "MEMORY.md", [Add("MEMORY.md", text)]), Landed)


def lived_in(folder: Path) -> None:
    with opened(folder) as home:
        write(home, "Money is Decimal")
        home.sessions.add(SESSION)
        assert len(list(home.search("staging database"))) == 1


def as_someone_with_no_privileges(work: Callable[[Path], None]) -> bool:
    """In a child, once all that it needs is loaded: who is nobody may not be able to read the interpreter's files."""
    with quick_folder() as folder:
        lived_in(folder / "warm")

        def alone() -> None:
            try:
                os.environ |= {"HOME": str(folder / "theirs"), "HERMES_HOME": str(folder / "theirs" / ".hermes")}
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                lived_in(folder / "theirs")
                work(folder / "theirs")
            except BaseException:
                traceback.print_exc()
                raise

        (folder / "theirs").mkdir()
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            os.chown(folder / "theirs", NOBODY, NOBODY)
        return ended(child(alone))


def test_a_database_that_could_only_be_read_for_a_while_can_be_written_again(tallied: Tallied) -> None:
    """SQLite makes its files beside the database with the mode that has then, and leaves them so."""
    tally = tallied("F6", "the database without the right to write, then with it again; an index nobody may look into")

    def work(folder: Path) -> None:
        database = folder / "home" / "reverie.db"
        database.chmod(0o400)
        with opened(folder) as home:
            with pytest.raises(DatabaseUnusable, match=str(database)):
                write(home, "while it could not be written")
            database.chmod(0o600)
            write(home, "by who had it open all the time")
        with opened(folder) as home:
            write(home, "by who opened it again")
            assert [one.text for one in home.memory.entries("home")][1:] == [
                "by who had it open all the time",
                "by who opened it again",
            ]

    tally.points += 1
    tally.manual += [] if as_someone_with_no_privileges(work) else ["it could not be written again"]


@pytest.mark.parametrize(
    ("part", "mode"),
    [
        (".", 0o000),
        (".", 0o400),
        (".", 0o500),
        ("local", 0o000),
        ("local/vectors.db", 0o000),
        ("local/vectors.db", 0o400),
    ],
)
def test_an_index_that_may_not_be_used_is_named_and_used_again_when_it_may(
    tallied: Tallied, part: str, mode: int
) -> None:
    tally = tallied("F6", "the database without the right to write, then with it again; an index nobody may look into")

    def work(folder: Path) -> None:
        index = folder / "home" / "index" / part
        before = index.stat().st_mode
        index.chmod(mode)
        with opened(folder) as home:
            write(home, "memory needs no index")
            with pytest.raises(NotPermitted, match=f"{index} may not be read and written"):
                home.search("staging database")
        index.chmod(before)
        with opened(folder) as home:
            assert len(list(home.search("staging database"))) == 1

    tally.points += 1
    tally.manual += [] if as_someone_with_no_privileges(work) else ["it was not named, or not used again"]
