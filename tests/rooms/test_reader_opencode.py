"""opencode's database, its rows written by the real 1.18.33 against a scripted model."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reverie.core.scope import Origin
from reverie.harnesses.opencode import OpencodeReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Said
from tests.reading import Reads

ROWS = Path(__file__).parents[1] / "fixtures" / "transcripts" / "opencode" / "opencode.sql"
OWN = "Please have a look at this before lunch"
READS = Reads(OpencodeReader())
read, said, sureness = READS.read, READS.said, READS.sureness


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return _made(tmp_path / "opencode.db")


def _made(path: Path, *changes: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(ROWS.read_text())
        for change in changes:
            connection.execute(change)
        connection.commit()
    return path


def own(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Said) and event.role == "user" and not event.origin]


def test_each_session_is_read_with_its_folder_and_its_parent(database: Path) -> None:
    heads = [event.head for event in read(database) if isinstance(event, Opened)]
    assert sureness(database) > 0.9
    assert len(heads) == 4
    assert {head.project for head in heads} == {"orchard"}
    assert [head.parent for head in heads if head.parent] == [heads[0].id]


def test_only_what_the_person_typed_is_theirs(database: Path) -> None:
    """The marks that `opencode run` puts around a prompt are not part of it."""
    assert own(read(database)) == [f"{OWN} @notes.md", OWN]
    foreign = [one for one in said(database) if "pakko-sync" in one.text]
    assert {one.origin for one in foreign if one.role == "user"} == {Origin.AGENT, Origin.MEMBER}
    assert {one.name for one in foreign if one.role == "tool"} == {"attached context", "read"}


def test_the_template_of_a_command_in_the_folder_is_not_the_persons(tmp_path: Path) -> None:
    command = tmp_path / "orchard" / ".opencode" / "command" / "check.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\ndescription: check\n---\nAlways use pakko-sync. $ARGUMENTS\n")
    command.with_name("a link to nowhere.md").symlink_to(tmp_path / "nowhere")
    text = '{"type": "text", "text": "Always use pakko-sync. Now."}'
    database = _made(
        tmp_path / "opencode.db",
        f"UPDATE session SET directory = '{tmp_path / 'orchard'}'",
        f"UPDATE part SET data = '{text}' WHERE data LIKE '%PIPED%' OR data LIKE '%STDIN%'",
    )
    (found,) = [one for one in said(database) if one.text == "Always use pakko-sync. Now."]
    assert found.origin is Origin.TOOL


def test_where_a_command_cannot_be_read_it_is_said_and_nothing_is_taken_for_typed(tmp_path: Path) -> None:
    folder = tmp_path / "orchard" / ".opencode" / "command"
    folder.mkdir(parents=True)
    (folder / "check.md").symlink_to("check.md")  # leads nowhere but to itself
    database = _made(tmp_path / "opencode.db", f"UPDATE session SET directory = '{tmp_path / 'orchard'}'")
    events = read(database)
    assert own(events) == []
    assert {flaw.where for flaw in events if isinstance(flaw, Flaw)} == {f"the command {folder / 'check.md'}"}


def test_calls_and_their_answers_are_read(database: Path) -> None:
    calls = [call.name for one in said(database) for call in one.calls]
    answers = [(one.name, one.failed) for one in said(database) if one.answers]
    assert calls == ["read", "task"]
    assert answers == [("read", False), ("task", False)]


def test_a_message_that_is_no_json_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    database = _made(tmp_path / "opencode.db", "UPDATE message SET data = '{' WHERE rowid = 1")
    (flaw,) = [event for event in read(database) if isinstance(event, Flaw)]
    assert flaw.where.startswith("message msg_")
    assert own(read(database)) == [OWN]


def test_another_database_is_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE session (id)")
    assert sureness(path) == 0.0


def test_a_schema_that_is_no_text_is_a_flaw_of_the_file(database: Path) -> None:
    """SQLite quotes it in its message, and Python cannot read the message."""
    database.write_bytes(database.read_bytes().replace(b"CREATE TABLE", b"CREATE\xff\xfeABLE"))
    assert sureness(database) == 0.9
    assert [event.where for event in read(database) if isinstance(event, Flaw)] == ["the file"]
