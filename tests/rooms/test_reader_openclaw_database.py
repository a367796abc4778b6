"""OpenClaw's database, its rows written by the real 2026.9.6 against a scripted model; without its checks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from reverie.core.scope import Origin
from reverie.harnesses.openclaw.reader import OpenClawReader
from reverie.transcripts.readers import Flaw, Opened
from tests.reading import Reads

ROWS = Path(__file__).parents[1] / "fixtures" / "transcripts" / "openclaw" / "openclaw-agent.sql"
OWN = "Please have a look at this before lunch"
SESSION = "d4e64c9d-a67b-4979-8644-3dcee4fb40cc"
READS = Reads(OpenClawReader())
read, said, head, sureness = READS.read, READS.said, READS.head, READS.sureness


def made(tmp_path: Path, *changes: str) -> Path:
    path = tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(ROWS.read_text())
        for change in changes:
            connection.execute(change)
        connection.commit()
    return path


def test_a_session_is_read_from_the_database(tmp_path: Path) -> None:
    database = made(tmp_path)
    assert sureness(database) > 0.9
    assert (head(database).id, head(database).agent) == (f"openclaw:{SESSION}", "main")
    assert (head(database).project, head(database).facts["model"]) == ("orchard", "scripted")
    assert [(one.role, one.text, one.origin) for one in said(database)] == [
        ("user", OWN, None),
        ("assistant", "All right.", None),
    ]


@pytest.mark.parametrize(
    ("change", "origin"),
    [
        ("UPDATE session_windows SET chat_type = 'group'", Origin.MEMBER),
        ("UPDATE session_windows SET hook_external_content_source = 'gmail'", Origin.TOOL),
        ("UPDATE session_nodes SET created_via = 'cron'", Origin.AGENT),
        ("UPDATE transcript_events SET event_json = replace(event_json, ':true', ':false')", Origin.MEMBER),
    ],
)
def test_what_the_gateway_knows_of_the_speaker_counts(tmp_path: Path, change: str, origin: Origin) -> None:
    (asked,) = [one for one in said(made(tmp_path, change)) if one.role == "user"]
    assert asked.origin is origin


@pytest.mark.parametrize(("about", "origin"), [('"forward_origin":{"type":"user"}', Origin.TOOL), ('"x":1', None)])
def test_what_a_person_forwarded_in_telegram_is_not_theirs(tmp_path: Path, about: str, origin: Origin | None) -> None:
    """The transcript does not tell; the cache that the gateway keeps beside it does."""
    of_telegram = '"__openclaw":{"senderId":"1","transport":{"channel":"telegram","messageId":"3"},'
    change = f"""UPDATE transcript_events SET event_json = replace(event_json, '"__openclaw":{{', '{of_telegram}')"""
    database = made(tmp_path, change)
    cache = tmp_path / "state" / "openclaw.sqlite"
    cache.parent.mkdir()
    row = ("telegram", "telegram.message-cache", "f357:default:1:3", f'{{"sourceMessage":{{{about}}}}}')
    with closing(sqlite3.connect(cache)) as connection:
        connection.execute("CREATE TABLE plugin_state_entries (plugin_id, namespace, entry_key, value_json)")
        connection.execute("INSERT INTO plugin_state_entries VALUES (?, ?, ?, ?)", row)
        connection.commit()
    (asked,) = [one for one in said(database) if one.role == "user"]
    assert asked.origin is origin


def test_an_entry_that_openclaw_compressed_is_read_and_one_that_is_broken_is_named(tmp_path: Path) -> None:
    database = made(tmp_path)
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT seq, event_json FROM transcript_events ORDER BY seq").fetchall()
        packed = "UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE seq = ?"
        connection.executemany(packed, [(zstandard.compress(text.encode()), seq) for seq, text in rows])
        connection.execute("INSERT INTO transcript_events (session_id, seq, event_zstd) VALUES (?, 99, 'x')", [SESSION])
        connection.commit()
    assert [one.text for one in said(database)] == [OWN, "All right."]
    (flaw,) = [one for one in read(database) if isinstance(one, Flaw)]
    assert flaw.where == f"entry 99 of {SESSION}"


def test_who_begins_anew_under_the_same_id_has_two_sessions(tmp_path: Path) -> None:
    """The entry that OpenClaw's gateway wrote at `/new`."""
    reset = '{"type":"reset","id":"77431179","timestamp":"2026-11-17T19:36:03.873Z","reason":"new"}'
    again = (
        "INSERT INTO transcript_events (session_id, seq, event_json) "
        "SELECT session_id, seq + 100, event_json FROM transcript_events"
    )
    anew = f"INSERT INTO transcript_events (session_id, seq, event_json) VALUES ('{SESSION}', 99, '{reset}')"
    heads = [one.head for one in read(made(tmp_path, again, anew)) if isinstance(one, Opened)]
    assert [one.id for one in heads] == [f"openclaw:{SESSION}", f"openclaw:{SESSION}.2"]
    assert heads[1].started_at == datetime(2026, 11, 17, 19, 36, 3, 873_000, UTC)
    assert len(said(made(tmp_path / "again", again, anew))) == 4


def test_a_spawned_session_has_its_parent(tmp_path: Path) -> None:
    spawned = (
        "INSERT INTO session_nodes (session_key, current_session_id) VALUES ('agent:main:boss', 'boss')",
        "UPDATE session_windows SET spawned_by = 'agent:main:boss'",
    )
    assert head(made(tmp_path, *spawned)).parent == "openclaw:boss"


def test_an_entry_that_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    database = made(
        tmp_path,
        "UPDATE transcript_events SET event_json = NULL, event_zstd = x'28b52ffd' WHERE seq = 1",
        "UPDATE transcript_events SET event_json = '{' WHERE seq = 2",
    )
    flaws = [event.where for event in read(database) if isinstance(event, Flaw)]
    assert flaws == [f"entry 1 of {SESSION}", f"entry 2 of {SESSION}"]
    assert len(said(database)) == 2
