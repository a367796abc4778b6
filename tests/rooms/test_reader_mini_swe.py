"""mini-swe-agent runs of both versions: return codes decide what failed."""

from __future__ import annotations

from pathlib import Path

from reverie.core.scope import Origin
from reverie.harnesses.run_exports import MiniSweReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Said

FOLDER = Path(__file__).parents[1] / "fixtures" / "transcripts" / "mini-swe-agent"
FIRST, SECOND = FOLDER / "lighthouse.traj.json", FOLDER / "harbor__lamp-7.traj.json"


def read(path: Path) -> list[Event]:
    return list(MiniSweReader().read(path))


def said(path: Path) -> list[Said]:
    return [event for event in read(path) if isinstance(event, Said)]


def test_a_command_in_the_text_is_a_call_and_its_return_code_counts() -> None:
    turns = said(FIRST)
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert (turns[2].text, str(turns[2].calls[0])) == ("THOUGHT: look first.", "bash cat lamp.py")
    assert [turn.failed for turn in turns if turn.role == "tool"] == [True, False]


def test_tool_calls_and_responses_are_read_alike() -> None:
    turns = said(SECOND)
    assert [turn.calls[0].id for turn in turns if turn.calls] == ["toolu_1", "call_9"]
    assert [(turn.answers, turn.failed) for turn in turns if turn.answers] == [("toolu_1", True), ("call_9", False)]
    assert turns[5].text == "With python3."


def test_a_person_interrupting_speaks_for_themselves_and_a_benchmark_task_does_not() -> None:
    task, interruption = [turn for turn in said(SECOND) if turn.role == "user"]
    assert (task.origin, interruption.origin) == (Origin.TOOL, None)
    assert interruption.text == "Use python3, there is no python here."


def test_the_end_of_a_run_is_noise_and_submitting_no_success() -> None:
    opened = read(SECOND)[0]
    assert isinstance(opened, Opened)
    assert (opened.head.outcome, opened.head.facts["exit_status"]) == (None, "Submitted")
    assert opened.head.started_at is not None
    assert said(SECOND)[-1].noise == "end of run"


def test_a_file_without_messages_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "odd.traj.json"
    path.write_text('{"info": {"mini_version": "2"}}')
    assert [type(event) for event in read(path)] == [Flaw]
