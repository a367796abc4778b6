"""Damage to what is stored: found and said, never mended in silence, and the evidence is kept."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.changes.ledger import Via
from reverie.core.errors import ReverieError
from reverie.memory.operation import Add
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, House, broken, build, changes, moved, works
from tests.faults.tallying import FULL

ALTERED = {
    "a row of the ledger says something else": "update ledger set body = replace(body, 'ann', 'eve') where number = 2",
    "a row of the ledger has another date": "update ledger set at = at - 1000000 where number = 2",
    "a row of the ledger is gone": "delete from ledger where number = 2",
    "the first row of the ledger is gone": "delete from ledger where number = 1",
    "the rows of the last change are gone": "delete from ledger where number >= 4",
    "a row of the ledger stands in the place of another": "update ledger set (body, hash) = "
    "(select body, hash from ledger where number = 3) where number = 2",
    "a change has another author": "update changes set actor = 'eve' where via = 'direct'",
    "a change has another reason": "update changes set details = replace(details, 'as agreed', 'as denied')",
    "a change has another date": "update changes set settled_at = settled_at - 1000000 where via = 'direct'",
    "a change was approved by someone else": "update changes set details = replace(details, '\"ann\"', '\"eve\"')",
    "a change rests on other words": "update changes set details = replace(details, 'moved to db2', 'stays at db1')",
    "a change is gone": "delete from changes where via = 'direct'",
    "an edit is gone": "delete from edits where change_id = (select id from changes where via = 'direct')",
    "a content is gone": "delete from blobs where sha256 = (select after from edits order by change_id desc limit 1)",
    "a content was altered": "update blobs set content = cast('other' as blob) "
    "where sha256 = (select after from edits order by change_id desc limit 1)",
    "a document is recorded as it was before": "update documents set sha256 = (select before from edits "
    "where before is not null order by change_id limit 1)",
    "a change cannot be read": "update changes set details = substr(details, 1, 40) where via = 'direct'",
    "a date cannot be read": "update changes set settled_at = 'yesterday' where via = 'direct'",
    "a row of the ledger cannot be read": "update ledger set body = substr(body, 1, 20) where number = 2",
}


@pytest.fixture
def lived_in(house: House) -> House:
    """A house with a proposal landed, a write and an undo."""
    with house.opened() as home:
        home.review.propose(moved())
        home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")], "as agreed")
        home.review.undo()
        assert broken(home) == []
    return house


def found(house: House) -> list[str]:
    """What is said to be wrong, by verifying or by not being able to."""
    try:
        with house.opened() as home:
            checks = [check for check in home.verify() if not check.name.startswith("git")]
            return [check.said for check in checks if not check.ok]
    except ReverieError as error:
        return [str(error)]


def test_whatever_is_altered_in_the_history_is_found(tallied: Tallied, lived_in: House, tmp_path: Path) -> None:
    tally = tallied("F7", "rows of the history altered, exchanged or deleted; looked for by `reverie verify`")
    kept = lived_in.file.read_bytes()
    for what, statement in ALTERED.items():
        tally.points += 1
        lived_in.file.write_bytes(kept)
        with closing(sqlite3.connect(lived_in.file)) as database, database:
            for (guard,) in database.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                database.execute(f'drop trigger "{guard}"')  # who alters the file does not mind a guard in it
            assert database.execute(statement).rowcount, what
        if not found(lived_in):
            tally.other.append(f"not found: {what}")


damage = st.tuples(st.floats(0, 1), st.sampled_from(["flip", "cut", "zero", "twice", "junk"]), st.integers(1, 200))


def damaged(content: bytes, where: float, how: str, size: int) -> bytes:
    at = int(where * len(content))
    match how:
        case "flip":
            return content[:at] + bytes(one ^ 0x41 for one in content[at : at + 1]) + content[at + 1 :]
        case "cut":
            return content[:at]
        case "zero":
            return content[:at] + b"\0" * size + content[at + size :]
        case "twice":
            return content[: at + size] + content[at:]
        case _:
            return content[:at] + random.Random(size).randbytes(size) + content[at:]


def test_a_damaged_memory_is_recorded_as_it_is_and_never_mended(tallied: Tallied, tmp_path: Path) -> None:
    tally = tallied("F7", "MEMORY.md with bytes flipped, cut, zeroed, doubled or thrown in, at any place")
    stored = build(tmp_path / "house").folder.rename(tmp_path / "stored")

    @settings(max_examples=300 if FULL else 15, suppress_health_check=list(HealthCheck), database=None)
    @given(damage)
    def check(how: tuple[float, str, int]) -> None:
        house = House(stored).copied(tmp_path / "house")
        content = damaged(house.memory.read_bytes(), *how)
        house.memory.write_bytes(content)
        tally.points += 1
        with house.opened() as home:
            list(home.memory.entries("hermes"))
            assert house.memory.read_bytes() == content
            assert home.history.content("hermes/MEMORY.md") == content
            seen = [change.grounds.via for change in changes(home)]
            assert seen in ([Via.FOUND, Via.OUTSIDE], [Via.FOUND])
            home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")])
            assert content.rstrip(b"\r\n \xc2\xa7") in house.memory.read_bytes()
            assert broken(home) == []

    check()


def test_a_damaged_database_is_said_to_be_and_is_left_alone(tallied: Tallied, lived_in: House, tmp_path: Path) -> None:
    """Any page of it. SQLite has no checksums, so a flipped letter in a text can pass; a crash or a repair cannot."""
    tally = tallied("F7", "the database with bytes flipped, cut, zeroed, doubled or thrown in, at any place")
    stored = lived_in.folder.rename(tmp_path.parent / f"{tmp_path.name}-stored")
    said: list[str] = []

    @settings(max_examples=400 if FULL else 25, suppress_health_check=list(HealthCheck), database=None)
    @given(damage)
    def check(how: tuple[float, str, int]) -> None:
        house = House(stored).copied(tmp_path)
        before = house.memory.read_bytes()
        content = damaged(house.file.read_bytes(), *how)
        house.file.write_bytes(content)
        tally.points += 1
        problems = found(house)
        said.extend(problems[:1])
        assert house.memory.read_bytes() == before
        assert house.file.exists()
        if problems:
            assert house.file.read_bytes() == content  # the evidence is kept: looking changes nothing

    check()
    shutil.rmtree(stored)
    assert said, "none of it was noticed"


def test_a_page_of_zeros_is_a_clear_error_and_stays_where_it_is(tallied: Tallied, lived_in: House) -> None:
    tally = tallied("F7", "a page of the database that holds only zeros")
    pages = lived_in.file.stat().st_size // 8192
    kept = lived_in.file.read_bytes()
    for page in range(1, pages) if FULL else range(1, pages, 6):
        content = kept[: page * 8192] + bytes(8192) + kept[(page + 1) * 8192 :]
        lived_in.file.write_bytes(content)
        tally.points += 1
        for one in found(lived_in):
            assert "Traceback" not in one
        assert lived_in.file.exists()
    lived_in.file.write_bytes(kept)
    with lived_in.opened() as home:
        tally.manual += works(lived_in, home)
