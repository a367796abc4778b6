"""Claude Code transcripts as the harness leaves them: current, resumed, from before 2.0, and from the cloud."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.scope import Origin
from reverie.harnesses.claude_code.reader import ClaudeCodeReader
from reverie.transcripts.readers import SNIFFED_BYTES, Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "transcripts"
OURS = TRANSCRIPTS / "claude_code"
ORCHARD = OURS / "projects" / "-home-mira-orchard"
REPORT = ORCHARD / "6d1c2f8e-41b7-4c0a-9a55-0e2f7b3d9c10.jsonl"
VALVES = REPORT.with_suffix("") / "subagents" / "agent-a1f2c3d.jsonl"
COMPACTED = REPORT.with_suffix("") / "subagents" / "agent-acompact-77aa12.jsonl"
JOURNAL = REPORT.with_suffix("") / "subagents" / "workflows" / "wf_1" / "journal.jsonl"
PUMPS = ORCHARD / "b8a0d7c4-5e21-4f6f-8d3a-2c9e1f0a7b66.jsonl"
LOOM = OURS / "projects" / "C--Users-mira-loom" / "2f90a1de-7c34-4b8e-b1f5-63d8c0e4a211.jsonl"
CLOUD = OURS / "cloud.json"


def read(path: Path) -> list[Event]:
    return list(ClaudeCodeReader().read(path))


def said(events: Iterable[Event]) -> list[Said]:
    return [event for event in events if isinstance(event, Said)]


def sessions(path: Path) -> dict[str, list[Said]]:
    """What was said in each session of a file."""
    found: dict[str, list[Said]] = {}
    for event in read(path):
        if isinstance(event, Opened):
            found[event.head.id] = here = []
        elif isinstance(event, Said):
            here.append(event)
    return found


def heads(path: Path) -> list[Head]:
    return [event.head for event in read(path) if isinstance(event, Opened)]


def the_one_about(path: Path, words: str) -> Said:
    (found,) = [one for one in said(read(path)) if words in one.whole]
    return found


def sureness(path: Path, raw: bytes | None = None) -> float:
    return ClaudeCodeReader().recognises(path, (path.read_bytes() if raw is None else raw)[:SNIFFED_BYTES])


def test_the_head_tells_project_branch_model_and_version() -> None:
    (head,) = heads(REPORT)
    assert head.id == "claude-code:6d1c2f8e-41b7-4c0a-9a55-0e2f7b3d9c10"
    assert (head.harness, head.agent, head.parent) == ("claude-code", "orchard", None)
    assert head.started_at == datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)
    assert head.facts == {
        "cwd": "/home/mira/orchard",
        "branch": "harvest",
        "version": "2.1.47",
        "model": "claude-opus-4-6",
    }


def test_what_the_person_typed_is_theirs() -> None:
    first = said(read(REPORT))[0]
    assert (first.role, first.noise, first.origin) == ("user", None, None)
    assert first.text.endswith("Please use uv, never pip, in this repository.")
    assert first.at == datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)


def test_thinking_is_not_said() -> None:
    assert not [one for one in said(read(REPORT)) if "I should run the report first" in one.whole]


def test_a_failed_call_and_the_one_that_worked_are_told_apart() -> None:
    results = [(one.name, one.answers, one.failed) for one in said(read(REPORT)) if one.role == "tool"]
    assert results[0] == ("Bash", "toolu_01", True)
    assert ("Bash", "toolu_04", False) in results


def test_a_result_the_harness_says_nothing_about_neither_failed_nor_worked() -> None:
    assert the_one_about(REPORT, "plot_6 = 'pear'").failed is None


def test_each_result_on_one_line_is_a_message_of_its_own() -> None:
    results = [one for one in said(read(REPORT)) if one.role == "tool" and one.answers in ("toolu_02", "toolu_03")]
    assert [one.name for one in results] == ["Read", "Grep"]


def test_a_call_keeps_its_name_and_arguments() -> None:
    (call,) = the_one_about(REPORT, '"description": "Run the report"').calls
    assert (call.name, call.id) == ("Bash", "toolu_01")
    assert json.loads(call.arguments)["command"] == "uv run report --day yesterday"


def test_what_was_typed_while_the_agent_worked_is_heard_once() -> None:
    typed = the_one_about(REPORT, "plot_7 was sold last autumn")
    assert (typed.role, typed.noise, typed.origin) == ("user", None, None)


def test_a_slash_command_reads_as_it_was_typed() -> None:
    typed = the_one_about(REPORT, "mention that plot_7 is gone")
    assert (typed.text, typed.noise) == ("/commit mention that plot_7 is gone", None)
    assert the_one_about(REPORT, "/cost").noise == "command"


@pytest.mark.parametrize(
    "words",
    ["Base directory for this skill", "Total cost: $0.42", "<task-id>b1</task-id>", "<task-id>b2</task-id>"],
)
def test_what_the_harness_says_in_the_persons_place_is_noise_and_never_the_persons(words: str) -> None:
    posing = the_one_about(REPORT, words)
    assert posing.role == "user"
    assert posing.noise
    assert posing.origin is Origin.TOOL


def test_words_beside_a_tool_result_do_not_count_as_the_persons() -> None:
    assert the_one_about(REPORT, "[Request interrupted").origin is Origin.TOOL


def test_an_error_the_harness_wrote_as_the_assistant_is_noise() -> None:
    assert the_one_about(REPORT, "529 overloaded").noise == "written by the harness"


def test_a_picture_is_named_in_brackets() -> None:
    assert the_one_about(REPORT, "how the field looks").text.splitlines()[-1] == "[image]"


def test_a_broken_line_and_a_cut_off_end_are_reported_and_the_rest_is_read() -> None:
    flaws = [event for event in read(REPORT) if isinstance(event, Flaw)]
    assert [flaw.where for flaw in flaws] == ["line 17", "line 33"]
    assert "cut off" in flaws[1].why
    assert said(read(REPORT))[-1].text == "The report runs again."


def test_lines_of_an_unknown_kind_are_passed_over_in_silence() -> None:
    assert not [event for event in read(REPORT) if isinstance(event, Flaw) and event.where == "line 18"]


def test_the_title_comes_at_the_end() -> None:
    closed = read(REPORT)[-1]
    assert isinstance(closed, Closed)
    assert closed.title == "Fix the irrigation report"
    assert closed.ended_at == datetime(2026, 3, 2, 9, 0, 24, tzinfo=UTC)


def test_a_subagent_is_a_session_with_a_parent() -> None:
    (head,) = heads(VALVES)
    assert head.id == "claude-code:6d1c2f8e-41b7-4c0a-9a55-0e2f7b3d9c10/a1f2c3d"
    assert head.parent == heads(REPORT)[0].id
    assert (head.title, head.facts["agent_type"]) == ("Check the valves", "Explore")


def test_a_subagents_prompt_is_the_parent_agents_words_not_the_owners() -> None:
    prompt = said(read(VALVES))[0]
    assert (prompt.role, prompt.origin, prompt.noise) == ("user", Origin.AGENT, None)


def test_subagents_woven_into_the_parents_file_are_unravelled() -> None:
    parent, one, two = sessions(LOOM).values()
    assert [words.text for words in one] == ["Read library one.", "Library one is fast."]
    assert [words.text for words in two] == ["Read library two.", "Library two is small."]
    assert "Read library one." not in [words.text for words in parent]
    assert [words.origin for words in (one[0], two[0])] == [Origin.AGENT, Origin.AGENT]
    assert {head.parent for head in heads(LOOM)[1:]} == {heads(LOOM)[0].id}


def test_a_windows_folder_names_its_project() -> None:
    assert {head.agent for head in heads(LOOM)} == {"loom"}


def test_a_copy_made_for_compaction_is_not_a_session() -> None:
    assert read(COMPACTED) == []


def test_a_resumed_session_is_one_session_named_for_its_file() -> None:
    assert list(sessions(PUMPS)) == ["claude-code:b8a0d7c4-5e21-4f6f-8d3a-2c9e1f0a7b66"]


def test_a_line_written_twice_is_said_once() -> None:
    assert [one.text for one in said(read(PUMPS))].count("Pump B feeds it.") == 1


def test_a_compact_summary_is_noise() -> None:
    summary = the_one_about(PUMPS, "being continued")
    assert (summary.noise, summary.origin) == ("compact summary", Origin.TOOL)


def test_a_title_the_person_gave_wins_and_one_of_another_session_is_ignored() -> None:
    assert [event.title for event in read(PUMPS) if isinstance(event, Closed)] == ["Pumps"]
    assert next(event.title for event in read(LOOM) if isinstance(event, Closed)) == "Choosing a weaving library"


def test_a_file_of_titles_alone_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "0f0f0f0f-0000-4000-8000-000000000000.jsonl"
    path.write_text('{"type":"summary","summary":"Another day","leafUuid":"x"}\n')
    assert sureness(path) >= 0.9
    assert read(path) == []


def test_a_session_from_the_cloud_is_read_from_its_export() -> None:
    assert [one.text for one in said(read(CLOUD))] == ["Rename the field module.", "Renamed."]


def test_a_subagent_in_an_export_from_the_cloud_is_a_session_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    lines = [
        {"type": "user", "isSidechain": aside, "uuid": uuid, "message": {"role": "user", "content": uuid}}
        for uuid, aside in (("asked", False), ("delegated", True))
    ]
    path.write_text(json.dumps({"loglines": lines}))
    assert {session: words[0].origin for session, words in sessions(path).items()} == {
        "claude-code:export": None,
        "claude-code:export/delegated": Origin.AGENT,
    }


@pytest.mark.parametrize("path", [REPORT, VALVES, PUMPS, LOOM])
def test_a_transcript_that_grew_keeps_all_it_had(path: Path, tmp_path: Path) -> None:
    lines, whole = path.read_bytes().splitlines(keepends=True), sessions(path)
    shorter = tmp_path / path.relative_to(OURS)
    shorter.parent.mkdir(parents=True)
    for count in range(len(lines)):
        shorter.write_bytes(b"".join(lines[:count]))
        for session, words in sessions(shorter).items():
            assert whole[session][: len(words)] == words


@pytest.mark.parametrize("path", [REPORT, VALVES, PUMPS, LOOM, CLOUD])
def test_it_is_sure_of_its_own_files_wherever_they_lie(path: Path, tmp_path: Path) -> None:
    assert sureness(path) >= 0.9
    assert sureness(tmp_path / f"copy{path.suffix}", path.read_bytes()) >= 0.9


def test_it_is_sure_of_a_file_whose_first_line_is_longer_than_what_is_sniffed() -> None:
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": "x" * 99_999},
    }
    assert sureness(Path("a.jsonl"), json.dumps(line).encode()) >= 0.9


def test_it_takes_no_file_of_anyone_else() -> None:
    others = [path for path in TRANSCRIPTS.rglob("*") if path.is_file() and OURS not in path.parents]
    assert others
    strangers = [*others, VALVES.with_suffix(".meta.json"), JOURNAL]
    assert [path for path in strangers if sureness(path)] == []
    for raw in (b"", b"[]", b'{"type": "user"}', b'{"type":"FeatureCollection"}\n', b"\x00\xff", b'"user"\n'):
        assert sureness(Path("random.jsonl"), raw) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PART = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "tool_use", "tool_result"]) | JSON, "text": JSON, "id": JSON}
)
MESSAGE = st.fixed_dictionaries(
    {}, optional={"role": JSON, "content": JSON | st.lists(PART, max_size=3), "model": JSON}
)
LINE = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "attachment", "summary", "custom-title"]) | JSON},
    optional={
        "message": JSON | MESSAGE,
        "uuid": JSON,
        "parentUuid": JSON,
        "isSidechain": JSON,
        "agentId": JSON,
        "timestamp": JSON,
        "sessionId": JSON,
        "origin": JSON | st.fixed_dictionaries({"kind": JSON}),
        "cwd": JSON,
        "attachment": JSON | st.fixed_dictionaries({"type": st.just("queued_command")}, optional={"prompt": JSON}),
        "toolUseResult": JSON,
        "leafUuid": JSON,
        "summary": JSON,
        "forkedFrom": JSON,
    },
)


@given(lines=st.lists(LINE | JSON, max_size=5))
def test_whatever_stands_in_a_line_reading_goes_on(lines: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("odd") / "odd.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    sureness(path)
    last = {"type": "assistant", "message": {"role": "assistant", "content": "the end"}}
    path.write_text(path.read_text() + json.dumps(last) + "\n")
    assert [one.text for one in said(read(path))].count("the end") >= 1
