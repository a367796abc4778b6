"""τ-bench and τ²-bench: the reward is the outcome, the customer is the user."""

from __future__ import annotations

from pathlib import Path

from reverie.harnesses.run_exports import TauBenchReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

FOLDER = Path(__file__).parents[1] / "fixtures" / "transcripts" / "tau-bench"
FIRST, SECOND = FOLDER / "ferry-gpt-4o.json", FOLDER / "2026-03-04_ferry_llm_agent.json"


def read(path: Path) -> list[Event]:
    return list(TauBenchReader().read(path))


def said(path: Path) -> list[Said]:
    return [event for event in read(path) if isinstance(event, Said)]


def heads(path: Path) -> list[Head]:
    return [event.head for event in read(path) if isinstance(event, Opened)]


def test_each_trial_is_a_session_with_its_reward_and_customer() -> None:
    found = [(head.id, head.user, head.outcome) for head in heads(FIRST)]
    assert found == [
        ("tau-bench:ferry-gpt-4o-3.0", "noor_amin_1", 1.0),
        ("tau-bench:ferry-gpt-4o-3.1", "noor_amin_1", 0.0),
    ]


def test_an_error_is_a_failed_call() -> None:
    assert [(turn.answers, turn.failed) for turn in said(FIRST) if turn.role == "tool"] == [("call_m", True)]
    assert [(turn.answers, turn.failed) for turn in said(SECOND) if turn.role == "tool"] == [("call_f", True)]


def test_the_policy_is_a_system_prompt() -> None:
    assert said(FIRST)[0].noise == "system prompt"


def test_simulations_of_the_second_version_have_ids_times_and_rewards() -> None:
    (head,) = heads(SECOND)
    assert (head.id, head.outcome) == ("tau-bench:0d5e6c1a-0000-4000-8000-000000000001", 0.5)
    assert head.started_at is not None and head.ended_at is not None
    assert [str(call) for turn in said(SECOND) for call in turn.calls] == ['find_ticket {"name": "Noor"}']


def test_a_cut_off_file_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / FIRST.name
    path.write_bytes(FIRST.read_bytes()[:-60])
    events = read(path)
    assert len([event for event in events if isinstance(event, Opened)]) == 1
    assert isinstance(events[-1], Flaw)
