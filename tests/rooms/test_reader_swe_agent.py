"""SWE-agent runs, old and new: actions are calls, observations are results, the issue is not a person's word."""

from __future__ import annotations

import json
from pathlib import Path

from reverie.core.scope import Origin
from reverie.harnesses.run_exports import SweAgentReader
from reverie.transcripts import json_streams
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

FOLDER = Path(__file__).parents[1] / "fixtures" / "transcripts" / "swe-agent"
OLD, NEW = FOLDER / "harbor__tide-12.traj", FOLDER / "harbor__tide-13.traj"


def read(path: Path) -> list[Event]:
    return list(SweAgentReader().read(path))


def said(path: Path) -> list[Said]:
    return [event for event in read(path) if isinstance(event, Said)]


def head(path: Path) -> Head:
    return next(event.head for event in read(path) if isinstance(event, Opened))


def test_submitting_is_no_success() -> None:
    assert (head(OLD).outcome, head(OLD).facts["exit_status"]) == (None, "submitted")
    assert head(NEW).facts["model"] == "claude-sonnet-4"


def test_an_action_in_the_text_is_a_call_and_what_follows_its_result() -> None:
    turns = said(OLD)
    assert [turn.role for turn in turns] == ["system", "user", "user", "assistant", "tool", "assistant"]
    assert (turns[3].text, str(turns[3].calls[0])) == ("The offset is ignored.", "open tide.py")
    assert (turns[4].name, turns[4].failed) == ("open", None)


def test_tool_calls_keep_their_ids_and_thoughts_stay_unsaid() -> None:
    turns = said(NEW)
    assert turns[2].calls[0].id == turns[3].answers == "call_T1"
    assert not any("musings" in turn.whole for turn in turns)


def test_prompts_and_demonstrations_are_noise_and_the_issue_is_data() -> None:
    turns = said(OLD)
    assert [turn.noise for turn in turns[:3]] == ["system prompt", "demonstration", None]
    assert turns[2].origin == Origin.TOOL


def test_two_runs_of_one_task_are_two_sessions(tmp_path: Path) -> None:
    again = json.loads(OLD.read_text())
    again["history"][3]["content"] = "Another idea."
    path = tmp_path / OLD.name
    path.write_text(json.dumps(again))
    assert head(path).id != head(OLD).id
    again["history"].append({"role": "user", "content": "grown"})
    path.write_text(json.dumps(again))
    assert head(path).id.startswith("swe-agent:harbor__tide-12-")


def test_a_file_with_steps_only_is_read_by_its_steps(tmp_path: Path) -> None:
    path = tmp_path / "steps.traj"
    path.write_text(json.dumps({"trajectory": json.loads(NEW.read_text())["trajectory"], "info": {}}))
    assert [(turn.role, turn.text) for turn in said(path)] == [("assistant", "Looking."), ("tool", "Found 1 match")]


def test_of_an_enormous_run_only_what_was_said_is_loaded(tmp_path: Path) -> None:
    run = json.loads(NEW.read_text())
    padding = {"query": "x" * (json_streams.PIECE + 1)}
    path = tmp_path / NEW.name
    path.write_text(json.dumps({**run, "trajectory": [padding]}))
    assert said(path) == said(NEW)
    assert head(path).facts == head(NEW).facts


def test_a_file_that_is_no_run_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "cut.traj"
    path.write_text('{"trajectory": [')
    assert [type(event) for event in read(path)] == [Flaw]
