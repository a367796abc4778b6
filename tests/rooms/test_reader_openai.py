"""ChatGPT's data export: the branch on screen, the tools it ran, and files too big or cut off."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

from reverie.harnesses.chat_exports import OpenAIChatReader
from reverie.transcripts.readers import Event, Flaw, Opened
from reverie.transcripts.session import Said

EXPORT = Path(__file__).parents[1] / "fixtures" / "transcripts" / "openai" / "conversations.json"


def read(path: Path = EXPORT) -> list[Event]:
    return list(OpenAIChatReader().read(path))


def said(events: list[Event]) -> list[Said]:
    return [event for event in events if isinstance(event, Said)]


def test_each_conversation_is_a_session_with_its_title_and_times() -> None:
    bread, cat = [event.head for event in read() if isinstance(event, Opened)]
    assert bread.id == "openai:6a0c1f3e-0000-4000-8000-00000000b0ed"
    assert (bread.title, bread.facts["model"], cat.title) == ("Bread that does not rise", "gpt-5", "Names for a cat")
    assert bread.started_at is not None and bread.ended_at is not None


def test_only_the_branch_on_screen_was_said() -> None:
    texts = [turn.text for turn in said(read())]
    assert "Give it twice the time: at 12 °C it needs 14 hours." in texts
    assert "Use more yeast." not in texts


def test_without_a_current_node_the_newest_branch_is_read() -> None:
    assert [turn.text for turn in said(read())[-2:]] == ["A name for a grey cat?", "Graphite."]


def test_custom_instructions_are_noise_and_thoughts_are_not_said() -> None:
    turns = said(read())
    assert turns[0].noise == "custom instructions"
    assert not any(turn.text == "14 h" for turn in turns)


def test_code_it_ran_is_a_call_and_its_output_says_how_it_ended() -> None:
    turns = said(read())
    assert [str(call) for turn in turns for call in turn.calls] == ["python 350/500", "python 350/0"]
    assert [(turn.name, turn.failed) for turn in turns if turn.role == "tool"] == [("python", False), ("python", True)]


def test_an_image_is_named_beside_the_words() -> None:
    assert "[image]\nCompute the hydration of this dough." in [turn.text for turn in said(read())]


def test_a_cut_off_export_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(EXPORT.read_bytes()[:-200])
    events = read(path)
    assert len([event for event in events if isinstance(event, Opened)]) == 1
    assert len([event for event in events if isinstance(event, Flaw)]) == 1


def test_something_else_in_the_list_is_reported_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([17, *json.loads(EXPORT.read_text())]))
    events = read(path)
    assert isinstance(events[0], Flaw)
    assert len([event for event in events if isinstance(event, Opened)]) == 2


def test_a_loop_in_the_tree_ends(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    conversation = json.loads(EXPORT.read_text())[1]
    conversation["mapping"]["r"]["parent"] = "v"
    path.write_text(json.dumps([conversation]))
    assert len(said(read(path))) == 2


def test_a_big_export_needs_little_memory(tmp_path: Path) -> None:
    path, conversation = tmp_path / "conversations.json", EXPORT.read_text()
    one = json.dumps(json.loads(conversation)[0] | {"title": "long " * 4000})
    copies = 9_000_000 // len(one)
    path.write_text("[" + ",".join([one] * copies) + "]")
    tracemalloc.start()
    opened = sum(isinstance(event, Opened) for event in OpenAIChatReader().read(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert opened == copies
    assert peak < 5_000_000
