"""ShareGPT lists and Hermes's trajectories: calls and results out of the text, thoughts left out."""

from __future__ import annotations

from pathlib import Path

from reverie.harnesses.chat_exports import ShareGPTReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Head, Said

FOLDER = Path(__file__).parents[1] / "fixtures" / "transcripts" / "sharegpt"


def read(name: str) -> list[Event]:
    return list(ShareGPTReader().read(FOLDER / name))


def said(name: str) -> list[Said]:
    return [event for event in read(name) if isinstance(event, Said)]


def heads(name: str) -> list[Head]:
    return [event.head for event in read(name) if isinstance(event, Opened)]


def test_a_conversation_keeps_its_id_and_one_without_is_named_by_its_place() -> None:
    assert [head.id for head in heads("chats.json")] == ["sharegpt:knots_0", "sharegpt:chats-2"]
    assert [turn.role for turn in said("chats.json")] == ["system", "user", "assistant", "user", "assistant"]


def test_an_unknown_speaker_is_reported() -> None:
    assert [event.where for event in read("chats.json") if isinstance(event, Flaw)] == ["session 2, message 3"]


def test_a_trajectory_says_whether_it_was_completed() -> None:
    assert [head.outcome for head in heads("trajectory_samples.jsonl")] == [1.0]
    (batch,) = heads("batch_0.jsonl")
    assert (batch.id, batch.outcome) == ("sharegpt:batch_0-41", 0.0)
    assert batch.facts == {"model": "hermes-4-70b", "toolsets": "web, vision"}
    assert batch.started_at is not None


def test_thoughts_are_not_said() -> None:
    assert not any("speed" in turn.whole or "<think>" in turn.whole for turn in said("trajectory_samples.jsonl"))


def test_calls_and_results_come_out_of_the_text() -> None:
    turns = said("trajectory_samples.jsonl")
    assert (turns[2].text, [str(call) for call in turns[2].calls]) == (
        "Running them.",
        ['terminal {"command": "make test"}'],
    )
    assert (turns[3].answers, turns[3].name, turns[3].failed) == ("call_a", "terminal", True)
    assert [call.name for call in turns[4].calls] == ["terminal", "read_file"]


def test_several_results_in_one_message_stay_one_turn() -> None:
    both = said("trajectory_samples.jsonl")[5]
    assert (both.role, both.answers, both.failed) == ("tool", None, None)
    assert both.text.endswith("test:\n\tpytest")


def test_the_list_of_tools_is_noise_and_a_person_s_system_prompt_is_not() -> None:
    assert said("trajectory_samples.jsonl")[0].noise == "system prompt"
    assert said("chats.json")[0].noise is None


def test_a_call_that_is_not_json_stays_in_the_words(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"conversations": [{"from": "gpt", "value": "Hm <tool_call>{oops</tool_call>"}]}\n')
    (turn,) = [event for event in ShareGPTReader().read(path) if isinstance(event, Said)]
    assert (turn.text, turn.calls) == ("Hm <tool_call>{oops</tool_call>", ())
