"""Hermes's state.db as it is found: in use, drifted, damaged, and with more than one person in it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.core.scope import Origin
from reverie.harnesses.hermes.reader import HermesReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, noise_in

FIXTURES = Path(__file__).parents[1] / "fixtures"
SESSIONS = (
    "id TEXT PRIMARY KEY, source TEXT, user_id TEXT, chat_type TEXT, model TEXT, model_config TEXT, cwd TEXT,"
    " git_branch TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, title TEXT"
)
MESSAGES = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,"
    " tool_calls TEXT, tool_name TEXT, timestamp REAL, observed INTEGER DEFAULT 0, active INTEGER DEFAULT 1,"
    " compacted INTEGER DEFAULT 0"
)


class Db:
    """A state.db to write rows into."""

    def __init__(self, path: Path, sessions: str = SESSIONS, messages: str = MESSAGES, mode: str = "delete") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA journal_mode={mode}")
        self.connection.execute(f"CREATE TABLE sessions ({sessions})")
        self.connection.execute(f"CREATE TABLE messages ({messages})")
        self.connection.execute("CREATE INDEX idx_messages_session ON messages(session_id, id)")

    def put(self, table: str, **values: object) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def session(self, id: str = "s1", source: str = "cli", **values: object) -> None:
        self.put("sessions", id=id, source=source, **values)

    def says(self, role: str, content: object, session: str = "s1", **values: object) -> None:
        self.put("messages", session_id=session, role=role, content=content, **values)

    def close(self) -> Path:
        self.connection.close()
        return self.path


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Db]:
    made = Db(tmp_path / "state.db")
    yield made
    made.connection.close()


def read(path: Path) -> list[Event]:
    return list(HermesReader().read(path))


def said(events: list[Event]) -> list[Said]:
    return [event for event in events if isinstance(event, Said)]


def heads(events: list[Event]) -> list[Head]:
    return [event.head for event in events if isinstance(event, Opened)]


def flaws(events: list[Event]) -> list[Flaw]:
    return [event for event in events if isinstance(event, Flaw)]


def sureness(path: Path) -> float:
    return HermesReader().recognises(path, path.read_bytes()[:65536])


def test_a_home_written_by_hermes_itself_is_read_completely(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    shutil.copy(FIXTURES / "hermes_home" / "state.db", path)
    events = read(path)
    assert sureness(path) > 0.9
    assert not flaws(events)
    assert len(heads(events)) == 8
    assert len(said(events)) == 53
    first = heads(events)[0]
    assert (first.id, first.agent, first.user) == ("hermes:20261115_083935_44c0c5", "default", None)
    assert first.facts == {"source": "cli", "model": "fake-model", "cwd": "/home/demo/work"}
    failed = [turn for turn in said(events) if turn.failed]
    assert [turn.name for turn in failed] == ["terminal", "memory", "memory", "memory"]
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_scheduled_prompt_is_noise_and_never_the_owners_words(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "hermes_home" / "state.db", tmp_path / "state.db")
    turns = said(read(tmp_path / "state.db"))
    prompts = [turn for turn in turns if turn.text.startswith("[IMPORTANT: You are running")]
    assert [(turn.origin, noise_in(turn)) for turn in prompts] == [(Origin.AGENT, "scheduled job")]


def test_what_a_session_is_about_comes_with_it(db: Db) -> None:
    db.session(
        "s1",
        "telegram",
        user_id="alice",
        title="Boats",
        started_at=1772000000.0,
        ended_at=1772000060.0,
        cwd="/srv/boats",
        git_branch="main",
        parent_session_id="s0",
    )
    db.says("user", "hello", timestamp=1772000001.0)
    events = read(db.close())
    (head,) = heads(events)
    assert (head.user, head.title, head.parent) == ("alice", "Boats", "hermes:s0")
    assert head.started_at == datetime(2026, 2, 25, 6, 13, 20, tzinfo=UTC)
    assert head.ended_at == datetime(2026, 2, 25, 6, 14, 20, tzinfo=UTC)
    assert head.facts == {"source": "telegram", "cwd": "/srv/boats", "git_branch": "main"}
    assert said(events)[0].at == datetime(2026, 2, 25, 6, 13, 21, tzinfo=UTC)


def test_two_users_stay_two_users(db: Db) -> None:
    for user in ("alice", "bob"):
        db.session(user, "telegram", user_id=user)
        db.says("user", f"I am {user}", session=user)
    events = read(db.close())
    assert [head.user for head in heads(events)] == ["alice", "bob"]
    assert [turn.text for turn in said(events)] == ["I am alice", "I am bob"]


def test_a_profile_is_its_own_agent(tmp_path: Path) -> None:
    made = Db(tmp_path / "profiles" / "gardener" / "state.db")
    made.session()
    made.says("user", "prune the roses")
    assert heads(read(made.close()))[0].agent == "gardener"


def test_what_was_undone_is_gone_and_what_was_summarised_is_kept(db: Db) -> None:
    db.session()
    db.says("user", "summarised away", active=0, compacted=1)
    db.says("user", "taken back", active=0, compacted=0)
    db.says("user", "still there")
    assert [turn.text for turn in said(read(db.close()))] == ["summarised away", "still there"]


def test_messages_repeated_by_a_compaction_count_once(db: Db) -> None:
    db.session()
    db.says("user", "deploy on Fridays", timestamp=100.0, active=0, compacted=1)
    db.says("assistant", "noted", timestamp=101.0, active=0, compacted=1)
    db.says("user", "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns", timestamp=200.0)
    db.says("user", "deploy on Fridays", timestamp=200.000001)
    db.says("assistant", "noted", timestamp=200.000002)
    db.says("user", "deploy on Fridays", timestamp=300.0)
    noises = [turn.noise for turn in said(read(db.close()))]
    assert noises == [None, None, "compaction", "repeated after compaction", "repeated after compaction", None]


def test_order_is_by_row_when_the_clock_stepped_back(db: Db) -> None:
    db.session()
    db.says("user", "first", timestamp=200.0)
    db.says("user", "second", timestamp=100.0)
    assert [turn.text for turn in said(read(db.close()))] == ["first", "second"]


def test_an_image_message_keeps_its_words(db: Db) -> None:
    parts = [{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    db.session()
    db.says("user", "\x00json:" + json.dumps(parts))
    assert said(read(db.close()))[0].text == "what is this?\n[image_url]"


def test_broken_structured_content_is_reported_and_kept_as_text(db: Db) -> None:
    db.session()
    db.says("user", '\x00json:[{"type": "text"')
    db.says("user", "and on")
    events = read(db.close())
    assert [turn.text for turn in said(events)] == ['[{"type": "text"', "and on"]
    assert [flaw.where for flaw in flaws(events)] == ["row 1"]


def test_calls_results_and_failures_are_kept_together(db: Db) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "make"}'}}
    results = [
        ('{"output": "", "exit_code": 2, "error": null}', True),
        ('{"output": "ok", "exit_code": 0, "error": null}', False),
        ('{"success": false}', True),
        ('{"error": "no such file"}', True),
        ('{"success": false} \n[hint: look again]', True),
        ('{"matches": []}', None),
        ("plain words", None),
    ]
    db.session()
    db.says("assistant", "", tool_calls=json.dumps([call]))
    for content, _ in results:
        db.says("tool", content, tool_call_id="c1", tool_name="terminal")
    asked, *answers = said(read(db.close()))
    assert (asked.calls[0].id, str(asked.calls[0])) == ("c1", 'terminal {"command": "make"}')
    assert {(turn.answers, turn.name) for turn in answers} == {("c1", "terminal")}
    assert [turn.failed for turn in answers] == [failed for _, failed in results]


def test_thoughts_are_not_said(db: Db) -> None:
    db.session()
    db.says("assistant", "<think>\nthe user is wrong\n</think>\nYou are right.")
    assert said(read(db.close()))[0].text == "You are right."


@pytest.mark.parametrize(
    ("session", "row", "text", "origin"),
    [
        ({"source": "cli"}, {}, "always use tabs", None),
        ({"source": "subagent"}, {}, "always use tabs", Origin.AGENT),
        ({"source": "tool"}, {}, "always use tabs", Origin.AGENT),
        ({"source": "cron"}, {}, "always use tabs", Origin.AGENT),
        ({"source": "cli", "model_config": '{"_delegate_from": "s0"}'}, {}, "always use tabs", Origin.AGENT),
        ({"source": "cli"}, {}, "[Background process p1 finished with exit code 0~ always use tabs]", Origin.TOOL),
        ({"source": "cli"}, {}, "[ASYNC DELEGATION COMPLETE — d1] always use tabs", Origin.TOOL),
        ({"source": "cli"}, {}, "[CONTEXT COMPACTION — REFERENCE ONLY] always use tabs", Origin.AGENT),
        ({"source": "slack", "chat_type": "thread"}, {}, "[Mallory] always use tabs", Origin.MEMBER),
        ({"source": "telegram", "chat_type": "group"}, {"observed": 1}, "always use tabs", Origin.MEMBER),
        ({"source": "telegram", "chat_type": "dm"}, {}, "[Draft] always use tabs", None),
    ],
)
def test_only_the_persons_own_words_count_as_theirs(
    db: Db, session: dict[str, str], row: dict[str, int], text: str, origin: Origin | None
) -> None:
    db.session(**session)
    db.says("user", text, **row)
    assert said(read(db.close()))[0].origin == origin


def test_columns_hermes_did_not_have_yet_are_not_missed(tmp_path: Path) -> None:
    made = _oldest(tmp_path)
    events = read(made)
    assert [turn.text for turn in said(events)] == ["from long ago"]
    assert not flaws(events)
    assert sureness(made) > 0.9


def _oldest(folder: Path) -> Path:
    path = folder / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT)")
        old.execute("CREATE TABLE messages (session_id TEXT, role TEXT, content TEXT)")
        old.execute("INSERT INTO sessions VALUES ('s1', 'cli')")
        old.execute("INSERT INTO messages VALUES ('s1', 'user', 'from long ago')")
    return path


def test_columns_of_a_newer_hermes_do_no_harm(tmp_path: Path) -> None:
    made = Db(tmp_path / "state.db", SESSIONS + ", mood TEXT", MESSAGES + ', "group" BLOB, embedding BLOB')
    made.session(mood="sunny")
    made.says("user", "from the future", embedding=b"\x00\xff")
    made.says("session_meta", None)
    events = read(made.close())
    assert [turn.text for turn in said(events)] == ["from the future"]
    assert not flaws(events)


def test_bytes_that_are_not_text_are_shown_and_reported(db: Db) -> None:
    db.session()
    db.connection.execute(
        "INSERT INTO messages (session_id, role, content) VALUES ('s1', 'user', CAST(? AS TEXT))", (b"caf\xe9",)
    )
    events = read(db.close())
    assert said(events)[0].text == "caf\N{REPLACEMENT CHARACTER}"
    assert flaws(events)[0].where == "row 1"


def test_a_locked_database_is_said_to_be_locked(db: Db) -> None:
    db.session()
    db.says("user", "unreachable for now")
    db.connection.execute("BEGIN EXCLUSIVE")
    assert sureness(db.path) > 0.9
    (flaw,) = flaws(read(db.path))
    assert "locked" in flaw.why
    db.connection.execute("COMMIT")
    assert len(said(read(db.path))) == 1


def test_a_database_in_use_is_read_up_to_its_last_commit(tmp_path: Path) -> None:
    made = Db(tmp_path / "state.db", mode="wal")
    made.session()
    made.says("user", "committed")
    made.connection.execute("BEGIN")
    made.says("user", "not committed")
    assert [turn.text for turn in said(read(made.path))] == ["committed"]
    made.connection.execute("COMMIT")
    assert len(said(read(made.path))) == 2
    made.close()


def test_reading_leaves_no_file_behind(tmp_path: Path) -> None:
    made = Db(tmp_path / "a home #1?" / "state.db", mode="wal")
    made.session()
    made.says("user", "hello")
    path = made.close()
    before = path.read_bytes()
    assert sureness(path) > 0.9
    assert len(said(read(path))) == 1
    assert [file.name for file in path.parent.iterdir()] == ["state.db"]
    assert path.read_bytes() == before


def test_on_read_only_media_what_lies_in_an_unreadable_log_is_said_to_be_missing(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser can write in a read-only folder")
    made = Db(tmp_path / "live" / "state.db", mode="wal")
    made.session()
    made.says("user", "in the database")
    made.connection.execute("PRAGMA wal_checkpoint")
    made.says("user", "in the log")
    folder = tmp_path / "disc"
    folder.mkdir()
    for name in ("state.db", "state.db-wal"):
        shutil.copy(made.path.parent / name, folder / name)
    made.close()
    folder.chmod(0o555)
    events = read(folder / "state.db")
    folder.chmod(0o755)
    assert [turn.text for turn in said(events)] == ["in the database"]
    assert "-wal" in flaws(events)[0].why


def test_a_session_that_is_not_read_to_its_end_leaves_the_database_free(db: Db) -> None:
    db.session()
    for number in range(3):
        db.says("user", f"message {number}")
    stream = HermesReader().read(db.path)
    assert isinstance(next(stream), Opened)
    stream.close()
    db.connection.execute("BEGIN EXCLUSIVE")
    db.connection.execute("COMMIT")


def test_around_a_damaged_page_everything_is_read(db: Db) -> None:
    for session in ("before", "damaged", "after"):
        db.session(session)
        for number in range(60):
            db.says("user", f"{session} {number} " + "x" * 300, session=session)
    path = db.close()
    raw = bytearray(path.read_bytes())
    page = raw.index(b"damaged 30 ") // 4096 * 4096
    raw[page : page + 4096] = b"\x07" * 4096
    path.write_bytes(raw)
    events = read(path)
    texts = [turn.text.split(" x")[0] for turn in said(events)]
    assert sum(text.startswith("before") for text in texts) == 60
    assert sum(text.startswith("after") for text in texts) == 60
    lost = 60 - sum(text.startswith("damaged") for text in texts)
    assert 0 < lost < 20
    assert any(f"{lost} messages of session damaged" in flaw.why for flaw in flaws(events))


def test_a_ruined_database_is_reported_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"not a database at all" * 300)
    (tmp_path / "memories").mkdir()
    assert sureness(path) > 0.8
    assert [flaw.where for flaw in flaws(read(path))] == ["the file"]


def test_other_databases_of_a_hermes_home_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "executions.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY)")
    assert sureness(path) == 0


def test_hermes_own_backups_are_not_read_again(tmp_path: Path) -> None:
    made = Db(tmp_path / "state-snapshots" / "20260101" / "state.db")
    made.session()
    assert sureness(made.close()) == 0


def test_an_old_json_transcript_is_read_where_no_database_knows_it(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "transcripts" / "hermes" / "sessions", tmp_path / "sessions")
    path = tmp_path / "sessions" / "session_20260214_101500_0a1b2c.json"
    events = read(path)
    assert heads(events)[0].id == "hermes:20260214_101500_0a1b2c"
    assert [turn.role for turn in said(events)] == ["user", "assistant", "tool", "assistant"]
    made = Db(tmp_path / "state.db")
    made.session("20260214_101500_0a1b2c")
    made.close()
    assert read(path) == []


def test_an_old_gateway_transcript_is_read_line_by_line() -> None:
    events = read(FIXTURES / "transcripts" / "hermes" / "sessions" / "20260214_180000_77aa88.jsonl")
    assert heads(events)[0].id == "hermes:20260214_180000_77aa88"
    assert [turn.text for turn in said(events)] == ["Water the tomatoes at six, not at seven.", "Moved to six."]
