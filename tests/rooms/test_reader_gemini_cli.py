"""Gemini CLI transcripts, written by the real 0.61 against a scripted model: a mention, a pipe, a command, a resume."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from reverie.core.scope import Origin
from reverie.harnesses.gemini_cli import GeminiCliReader
from reverie.transcripts.readers import Closed, Flaw
from tests.reading import Reads

CHATS = Path(__file__).parents[1] / "fixtures" / "transcripts" / "gemini-cli" / "tmp" / "orchard" / "chats"
MENTION = CHATS / "session-2026-11-16T14-53-9c3fe05a.jsonl"
RESUMED = CHATS / "session-2026-11-16T14-54-54d40b44.jsonl"
COMMAND = CHATS / "session-2026-11-16T15-00-2cfccfc1.jsonl"
OWN = "Please have a look at this before lunch"
HEAD = {"sessionId": "s1", "projectHash": "x", "startTime": "2026-03-01T09:00:00Z", "kind": "main"}

READS = Reads(GeminiCliReader())
read, said, head, sureness = READS.read, READS.said, READS.head, READS.sureness


def written(tmp_path: Path, *records: object, name: str = "chats/s.jsonl") -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_the_head_tells_the_session_and_the_folder_of_the_work() -> None:
    assert head(MENTION).id == "gemini-cli:9c3fe05a-70c3-4000-922f-138995fc5e3e"
    assert (head(MENTION).project, head(MENTION).project_path) == ("orchard", "/home/mira/orchard")
    assert head(MENTION).started_at == datetime(2026, 11, 16, 14, 53, 56, 176000, UTC)
    assert sureness(MENTION) > 0.9


def test_only_what_the_person_typed_is_theirs() -> None:
    own = [one.text for path in (MENTION, COMMAND) for one in said(path) if one.role == "user" and not one.origin]
    assert own == [f"{OWN} @notes.md", f"/check {OWN}"]
    foreign = [one for path in CHATS.glob("*") for one in said(path) if "pakko-sync" in one.text]
    assert {one.origin for one in foreign if one.role == "user"} == {Origin.MEMBER}, "what was piped in"
    assert all(one.role in ("tool", "user") for one in foreign)
    assert {one.name for one in foreign if one.role == "tool"} == {
        "session_context",
        "hook_context",
        "attached context",
        "read_file",
    }


def test_a_call_that_is_told_again_with_its_answer_is_kept_once() -> None:
    calls = [call for one in said(MENTION) for call in one.calls]
    (answer,) = [one for one in said(MENTION) if one.name == "read_file"]
    assert [call.name for call in calls] == ["read_file"]
    assert (answer.answers, answer.failed) == (calls[0].id, False)


def test_a_session_that_was_resumed_tells_nothing_twice() -> None:
    assert [one.text for one in said(RESUMED) if one.role == "assistant"] == ["All right.", "All right."]
    assert len([one for one in said(RESUMED) if one.name == "session_context"]) == 1
    assert isinstance(read(RESUMED)[-1], Closed)


def test_a_summary_and_what_a_compression_repeats_is_not_said_by_the_person(tmp_path: Path) -> None:
    """The model may leave out the tag around its summary."""
    typed = {"id": "m1", "type": "user", "content": [{"text": OWN}]}
    summary = {"id": "m2", "type": "user", "content": [{"text": "Always use tabs."}]}
    again = {"$set": {"messages": [summary, typed | {"id": "m3"}, typed]}}
    told = said(written(tmp_path, HEAD, typed, again))
    assert [one.text for one in told if one.origin is None] == [OWN]
    assert {one.origin for one in told[1:]} == {Origin.TOOL}


def test_what_an_editor_shows_is_nobodys_words(tmp_path: Path) -> None:
    """First all that is open, later what changed, each in a message of its own."""
    whole = "Here is the user's editor context as a JSON object."
    later = "Here is a summary of changes in the user's editor context, in JSON format."
    notes = [
        f'{one} This is for your information only.\n```json\n{{"selectedText": "x"}}\n```' for one in (whole, later)
    ]
    messages = [{"id": f"m{at}", "type": "user", "content": [{"text": text}]} for at, text in enumerate([*notes, OWN])]
    assert [(one.text, one.origin) for one in said(written(tmp_path, HEAD, *messages))] == [(OWN, None)]


def test_the_prompt_of_a_subagent_is_its_parents(tmp_path: Path) -> None:
    prompt = {"id": "m1", "type": "user", "timestamp": "2026-03-01T09:00:01Z", "content": "Look for valves"}
    path = written(tmp_path, {**HEAD, "kind": "subagent"}, prompt, name="chats/parent-1/s1.jsonl")
    assert head(path).parent == "gemini-cli:parent-1"
    assert [one.origin for one in said(path)] == [Origin.AGENT]


def test_the_one_json_object_of_older_versions_is_read(tmp_path: Path) -> None:
    text = f"{OWN} @a\n--- Content from referenced files ---\nContent from @a:\nAlways use tabs\n--- End of content ---"
    messages = [
        {"id": "1", "type": "user", "timestamp": "2025-12-01T09:00:01Z", "content": text},
        {
            "id": "2",
            "type": "gemini",
            "content": "Done.",
            "toolCalls": [
                {
                    "id": "c",
                    "name": "ls",
                    "status": "error",
                    "args": {"path": "."},
                    "result": [{"functionResponse": {"response": {"error": "no such folder"}}}],
                }
            ],
        },
        {"id": "3", "type": "info", "content": "Update available"},
    ]
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({**HEAD, "messages": messages, "summary": "Tabs"}))
    assert sureness(path) > 0.9
    assert [(one.role, one.text, one.failed) for one in said(path)] == [
        ("user", f"{OWN} @a", None),
        ("tool", text.removeprefix(f"{OWN} @a\n"), None),
        ("assistant", "Done.", None),
        ("tool", "no such folder", True),
    ]
    assert read(path)[-1] == Closed(title="Tabs", ended_at=datetime(2025, 12, 1, 9, 0, 1, tzinfo=UTC))


def test_a_line_that_is_no_object_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD, [1], {"id": "1", "type": "user", "content": "Hello"})
    assert [event for event in read(path) if isinstance(event, Flaw)] == [Flaw("line 2", "not an object")]
    assert [one.text for one in said(path)] == ["Hello"]
