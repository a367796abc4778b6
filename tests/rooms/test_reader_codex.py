"""Codex rollouts of three eras: enveloped lines, bare lines, and one JSON object."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.scope import Origin
from reverie.harnesses.codex.reader import CodexReader
from reverie.transcripts.readers import Flaw
from tests.reading import Reads

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "transcripts"
OURS = TRANSCRIPTS / "codex"
DAY = OURS / "sessions" / "2026" / "03" / "14"
KILN = DAY / "rollout-2026-03-14T10-00-00-019c5a10-7d2e-7f31-a4b6-5e8f9a0b1c2d.jsonl"
ADA = DAY / "rollout-2026-03-14T10-20-00-019c5a22-1111-7222-8333-944455556666.jsonl"
BARE = OURS / "sessions/2025/08/20/rollout-2025-08-20T07-30-00-5f0c9a7b-3a7d-4e50-9a41-8f1d2c3b4a59.jsonl"
OLDEST = OURS / "sessions" / "rollout-2025-05-02-11112222-3333-4444-8555-666677778888.json"


READS = Reads(CodexReader())
read, said, head, the_one_about, sureness = READS.read, READS.said, READS.head, READS.the_one_about, READS.sureness


def test_the_head_tells_project_branch_model_and_version() -> None:
    assert head(KILN).id == "codex:019c5a10-7d2e-7f31-a4b6-5e8f9a0b1c2d"
    assert (head(KILN).harness, head(KILN).agent, head(KILN).parent) == ("codex", "kiln", None)
    assert head(KILN).started_at == datetime(2026, 3, 14, 9, 59, 58, 500_000, tzinfo=UTC)
    assert head(KILN).facts == {
        "cwd": "/home/mira/kiln",
        "branch": "glaze",
        "model": "gpt-5.3-codex",
        "version": "0.110.0",
    }


def test_what_stands_in_the_file_twice_is_counted_once() -> None:
    assert len([one for one in said(KILN) if "fix the converter" in one.whole]) == 1
    assert len([one for one in said(KILN) if "run the tests first" in one.whole]) == 1


def test_what_the_editor_put_before_a_request_is_not_the_persons() -> None:
    asked = the_one_about(KILN, "fix the converter")
    assert asked.text == "Fire schedules are in Celsius here, fix the converter."
    assert (asked.role, asked.origin, asked.noise) == ("user", None, None)


@pytest.mark.parametrize("words", ["AGENTS.md instructions", "<turn_aborted>"])
def test_what_codex_says_in_the_persons_place_is_noise_and_never_the_persons(words: str) -> None:
    posing = the_one_about(KILN, words)
    assert (posing.role, posing.noise, posing.origin) == ("user", "written by the harness", Origin.TOOL)


@pytest.mark.parametrize(("kind", "origin"), [("user.text", None), ("unknown", Origin.TOOL)])
def test_a_part_of_a_kind_that_no_person_writes_is_not_theirs(kind: str, origin: Origin | None, tmp_path: Path) -> None:
    """As Codex 0.166 notes kinds where it tells no provenance."""
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Always use tabs."}]}
    noted = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": [kind]}}
    path = tmp_path / "rollout-2026-11-18.jsonl"
    path.write_text(json.dumps({"timestamp": "", "type": "response_item", "payload": message | noted}))
    assert [one.origin for one in said(path)] == [origin]


def test_instructions_of_the_harness_are_noise() -> None:
    assert the_one_about(KILN, "Filesystem sandboxing").noise


def test_reasoning_is_not_said() -> None:
    assert not [one for one in said(KILN) if "Planning" in one.whole]


def test_exit_codes_tell_what_failed_in_each_way_codex_writes_them() -> None:
    results = {one.answers: (one.name, one.failed) for one in said(KILN) if one.role == "tool"}
    assert results == {
        "call_1": ("exec_command", True),
        "call_2": ("apply_patch", False),
        "call_3": ("shell", False),
        "call_9": (None, None),
    }
    assert [one.failed for one in said(BARE) if one.role == "tool"] == [True]


def test_a_result_packed_in_json_is_unpacked() -> None:
    assert the_one_about(KILN, "Updated the following files").text.startswith("Success. Updated")


def test_a_tool_cannot_fake_its_exit_code_further_down(tmp_path: Path) -> None:
    path = tmp_path / "rollout-x.jsonl"
    output = {"type": "function_call_output", "call_id": "c", "output": "hello\nProcess exited with code 1\n"}
    path.write_text(json.dumps({"timestamp": "2026-03-14T10:00:00Z", "type": "response_item", "payload": output}))
    assert [one.failed for one in said(path)] == [None]


def test_a_summary_after_compaction_is_noise_and_its_copies_are_not_read_again() -> None:
    assert the_one_about(KILN, "The converter was fixed.").noise == "compact summary"


def test_a_search_of_the_web_is_a_call() -> None:
    (call,) = the_one_about(KILN, "cone 6 celsius").calls
    assert call.name == "web_search"


def test_broken_lines_are_reported_and_unknown_kinds_are_not() -> None:
    flaws = [event for event in read(KILN) if isinstance(event, Flaw)]
    assert [flaw.where for flaw in flaws] == ["line 15", "line 25", "line 27"]
    assert said(KILN)[-1].text == "I will."


def test_a_subagent_is_a_session_with_a_parent() -> None:
    assert head(ADA).parent == head(KILN).id
    assert head(ADA).facts["agent_type"] == "explorer"


def test_a_subagents_prompt_is_the_parent_agents_words_not_the_owners() -> None:
    prompts = [one for one in said(ADA) if one.role == "user"]
    assert [one.text for one in prompts] == ["Find every file that mentions Fahrenheit.", "Skip the vendor folder."]
    assert {one.origin for one in prompts} == {Origin.AGENT}


def test_what_a_subagent_inherited_stays_with_its_parent() -> None:
    assert not [one for one in said(ADA) if "fix the converter" in one.whole]


def test_bare_lines_of_2025_tell_their_folder_in_the_first_message() -> None:
    assert head(BARE).agent == "press"
    assert head(BARE).started_at == datetime(2025, 8, 20, 7, 30, tzinfo=UTC)
    assert next(one.text for one in said(BARE) if not one.noise) == "Print the proofs on A3."
    assert not [event for event in read(BARE) if isinstance(event, Flaw)]


def test_the_oldest_rollouts_are_one_object() -> None:
    assert [(one.role, one.text) for one in said(OLDEST)] == [("user", "Bind the booklet."), ("assistant", "Bound.")]
    assert head(OLDEST).id == "codex:11112222-3333-4444-8555-666677778888"


def test_a_compressed_rollout_says_what_to_do() -> None:
    path, raw = Path("rollout-2026-01-01T00-00-00-x.jsonl.zst"), b"\x28\xb5\x2f\xfd\x00"
    assert sureness(path, raw) >= 0.9
    (flaw,) = read(path)
    assert isinstance(flaw, Flaw)
    assert "zstd -d" in flaw.why


@pytest.mark.parametrize("path", [KILN, ADA, BARE])
def test_a_transcript_that_grew_keeps_all_it_had(path: Path, tmp_path: Path) -> None:
    lines, whole = path.read_bytes().splitlines(keepends=True), said(path)
    for count in range(len(lines)):
        shorter = tmp_path / path.name
        shorter.write_bytes(b"".join(lines[:count]))
        words = said(shorter)
        assert whole[: len(words)] == words


@pytest.mark.parametrize("path", [KILN, ADA, BARE, OLDEST])
def test_it_is_sure_of_its_own_files(path: Path) -> None:
    assert sureness(path) >= 0.9


def test_it_is_sure_of_a_file_whose_first_line_is_longer_than_what_is_sniffed() -> None:
    meta = {"timestamp": "2026-03-14T10:00:00Z", "type": "session_meta", "payload": {"base_instructions": "x" * 99_999}}
    assert sureness(Path("a.jsonl"), json.dumps(meta).encode()) >= 0.9


def test_it_takes_no_file_of_anyone_else() -> None:
    others = [path for path in TRANSCRIPTS.rglob("*") if path.is_file() and OURS not in path.parents]
    assert others
    assert [path for path in others if sureness(path)] == []
    for raw in (b"", b"[]", b'{"type": "session_meta"}', b'{"id": 1, "timestamp": 2}', b"\x00\xff", b'"x"\n'):
        assert sureness(Path("random.jsonl"), raw) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KINDS = ["message", "agent_message", "function_call", "function_call_output", "local_shell_call", "web_search_call"]
PAYLOAD = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(KINDS) | JSON,
        "role": st.sampled_from(["user", "developer"]) | JSON,
        "content": JSON,
        "output": JSON | st.just('{"output":'),
        "call_id": JSON,
        "name": JSON,
        "source": JSON,
        "id": JSON,
        "git": JSON,
        "cwd": JSON,
        "model": JSON,
        "message": JSON,
        "subagent_history_start_ordinal": JSON,
    },
)
LINE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["session_meta", "response_item", "compacted", "turn_context"]) | JSON,
        "payload": PAYLOAD | JSON,
        "timestamp": JSON,
        "ordinal": JSON,
        "id": JSON,
        "instructions": JSON,
    },
)


@given(lines=st.lists(LINE | PAYLOAD | JSON, max_size=5))
def test_whatever_stands_in_a_line_reading_goes_on(lines: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("odd") / "rollout-odd.jsonl"
    last = {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": "the end"}}
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, last]))
    sureness(path)
    assert said(path)[-1].text == "the end"
