"""OpenClaw transcripts: a chat with its owner, a group, a subagent, and all the gateway says in between."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.scope import Origin
from reverie.harnesses.openclaw.reader import OpenClawReader
from reverie.transcripts.readers import Closed, Flaw
from reverie.transcripts.session import Said
from tests.reading import Reads

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "transcripts"
OURS = TRANSCRIPTS / "openclaw"
SESSIONS = OURS / "agents" / "main" / "sessions"
FERNS = SESSIONS / "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl"
GROUP = SESSIONS / "c0ffee01-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl"
POTS = SESSIONS / "c0ffee02-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-02-10T18:00:00Z", "cwd": "/w"}


READS = Reads(OpenClawReader())
read, said, head, the_one_about, sureness = READS.read, READS.said, READS.head, READS.the_one_about, READS.sureness


def heard(tmp_path: Path, text: str) -> Said:
    """One message of a person in a session of which nothing else is known."""
    path = tmp_path / "s.jsonl"
    message = {"type": "message", "message": {"role": "user", "content": text}}
    path.write_text(f"{json.dumps(HEADER)}\n{json.dumps(message)}\n")
    (only,) = said(path)
    return only


def test_the_head_tells_agent_folder_and_model() -> None:
    assert head(FERNS).id == "openclaw:c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
    assert (head(FERNS).harness, head(FERNS).agent, head(FERNS).parent) == ("openclaw", "main", None)
    assert head(FERNS).started_at == datetime(2026, 2, 10, 17, 59, 59, tzinfo=UTC)
    assert head(FERNS).facts["model"] == "claude-opus-4-6"
    assert head(FERNS).facts["cwd"] == "/home/mira/.openclaw/workspace"


def test_the_persons_words_are_freed_of_what_the_gateway_wrapped_around_them() -> None:
    asked = the_one_about(FERNS, "Water the ferns")
    assert asked.text == "Water the ferns on Mondays, not on Sundays."
    assert (asked.role, asked.name, asked.origin, asked.noise) == ("user", "Mira", None, None)


def test_foreign_text_the_gateway_hung_behind_a_message_is_not_the_persons() -> None:
    assert the_one_about(FERNS, "Thanks").text == "Thanks, that is all."
    assert not [one for one in said(FERNS) if "Always obey the topic" in one.whole]


@pytest.mark.parametrize(
    ("words", "noise"),
    [
        ("A new session was started", "session start"),
        ("Read HEARTBEAT.md", "heartbeat"),
        ("[cron:job-1", "scheduled job"),
        ("Injected by a plugin", "injected context"),
    ],
)
def test_what_the_gateway_says_in_the_persons_place_is_noise_and_never_the_persons(words: str, noise: str) -> None:
    posing = the_one_about(FERNS, words)
    assert (posing.role, posing.noise, posing.origin) == ("user", noise, Origin.TOOL)


def test_a_message_of_system_events_alone_is_noise(tmp_path: Path) -> None:
    event = heard(tmp_path, "System: [2026-02-10 18:00:04 UTC] Node: phone connected\n")
    assert (event.noise, event.origin) == ("system event", Origin.TOOL)


def test_recalled_memory_before_a_message_is_left_out(tmp_path: Path) -> None:
    words = heard(
        tmp_path, "<relevant-memories>\nLikes pears.\n</relevant-memories>\n\n[Tue 2026-02-10 19:05 GMT+1] Hello"
    )
    assert words.text == "Hello"


def test_words_from_another_session_are_an_agents() -> None:
    assert the_one_about(FERNS, "shed is locked").origin is Origin.AGENT


def test_thinking_is_not_said() -> None:
    assert not [one for one in said(FERNS) if "Reminders." in one.whole]


def test_a_command_that_exited_badly_failed_though_openclaw_calls_it_no_error() -> None:
    results = [(one.name, one.answers, one.failed) for one in said(FERNS) if one.role == "tool"]
    assert results[:2] == [("exec", "tool_1", True), ("exec", "tool_2", False)]


def test_a_call_keeps_its_name_and_arguments() -> None:
    (call,) = the_one_about(FERNS, "I'll change the reminder.").calls
    assert (call.name, call.id, json.loads(call.arguments)) == ("exec", "tool_1", {"command": "remind set ferns mon"})


def test_what_the_gateway_noted_as_delivered_is_noise() -> None:
    assert [one.noise for one in said(FERNS) if one.text == "Done: Mondays."] == [None, "delivery mirror"]


def test_a_compaction_is_noise() -> None:
    assert the_one_about(FERNS, "moved the watering").noise == "compact summary"


def test_broken_lines_are_reported_and_unknown_entries_are_not() -> None:
    flaws = [event for event in read(FERNS) if isinstance(event, Flaw)]
    assert [flaw.where for flaw in flaws] == ["line 16", "line 23", "line 25"]


def test_a_name_given_to_the_session_is_its_title() -> None:
    assert [event.title for event in read(FERNS) if isinstance(event, Closed)] == ["Fern reminders"]
    assert head(GROUP).title == "Allotment"


def test_in_a_group_words_are_a_members_with_their_name() -> None:
    spoken = said(GROUP)[0]
    assert (spoken.text, spoken.name, spoken.origin) == ("The gate code is 4711 now.", "Tomas", Origin.MEMBER)


def test_a_group_is_known_from_its_messages_alone(tmp_path: Path) -> None:
    copy = tmp_path / GROUP.name
    copy.write_bytes(GROUP.read_bytes())
    assert said(copy)[0].origin is Origin.MEMBER
    older = heard(tmp_path, "[Telegram Allotment id:-100 2026-01-05 10:00 UTC] Tomas: the gate is open")
    assert older.origin is Origin.MEMBER


def test_a_subagents_task_is_the_parent_agents_words_not_the_owners() -> None:
    assert head(POTS).parent == head(FERNS).id
    assert (said(POTS)[0].text, said(POTS)[0].origin) == ("Count the fern pots.", Origin.AGENT)


def test_an_archived_session_keeps_its_id_and_a_checkpoint_is_no_session(tmp_path: Path) -> None:
    archived = tmp_path / f"{FERNS.name}.reset.2026-02-11T04-00-00.000Z"
    archived.write_bytes(FERNS.read_bytes())
    assert sureness(archived) >= 0.9
    assert head(archived).id == head(FERNS).id
    checkpoint = tmp_path / "c0ffee00.checkpoint.1.jsonl"
    checkpoint.write_bytes(FERNS.read_bytes())
    assert read(checkpoint) == []


def test_a_topic_of_a_chat_has_an_id_of_its_own(tmp_path: Path) -> None:
    topic = tmp_path / f"{FERNS.stem}-topic-7.jsonl"
    topic.write_bytes(FERNS.read_bytes())
    assert head(topic).id == f"{head(FERNS).id}-topic-7"


@pytest.mark.parametrize("path", [FERNS, GROUP, POTS])
def test_a_transcript_that_grew_keeps_all_it_had(path: Path, tmp_path: Path) -> None:
    (tmp_path / "sessions.json").write_bytes((SESSIONS / "sessions.json").read_bytes())
    lines, whole = path.read_bytes().splitlines(keepends=True), said(path)
    for count in range(len(lines)):
        shorter = tmp_path / path.name
        shorter.write_bytes(b"".join(lines[:count]))
        words = said(shorter)
        assert whole[: len(words)] == words


@pytest.mark.parametrize("path", [FERNS, GROUP, POTS])
def test_it_is_sure_of_its_own_files_wherever_they_lie(path: Path, tmp_path: Path) -> None:
    assert sureness(path) >= 0.9
    assert sureness(tmp_path / "copy.jsonl", path.read_bytes()) >= 0.9


def test_it_takes_no_file_of_anyone_else() -> None:
    others = [path for path in TRANSCRIPTS.rglob("*") if path.is_file() and OURS not in path.parents]
    assert others
    assert [path for path in [*others, SESSIONS / "sessions.json"] if sureness(path)] == []
    for raw in (b"", b"[]", b'{"type": "session"}', b'{"type":"message","message":{}}', b"\x00\xff", b'"x"\n'):
        assert sureness(Path("random.jsonl"), raw) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ROLES = ["user", "assistant", "toolResult", "bashExecution", "custom", "system"]
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(ROLES) | JSON,
        "content": JSON | st.text() | st.just([{"type": "toolCall"}]),
        "model": JSON,
        "details": JSON,
        "isError": JSON,
        "toolName": JSON,
        "provenance": JSON,
        "command": JSON,
    },
)
ENTRY = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "compaction", "custom_message", "session_info", "session"]) | JSON},
    optional={"message": MESSAGE | JSON, "summary": JSON, "content": JSON, "id": JSON, "name": JSON, "timestamp": JSON},
)


@given(entries=st.lists(ENTRY | JSON, max_size=5))
def test_whatever_stands_in_a_line_reading_goes_on(
    entries: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("odd") / "odd.jsonl"
    last = {"type": "message", "message": {"role": "assistant", "content": "the end"}}
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [*entries, last]))
    sureness(path)
    assert said(path)[-1].text == "the end"
