"""What is read out of an answer: the JSON in it, whatever stands around it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import BadSetting
from reverie.llm.question import NotJson, json_in_answer
from reverie.llm.settings import overrides

VALUE = {"items": [{"op": "add", "text": "Uses {braces} and ```fences```."}]}
WRITTEN = json.dumps(VALUE)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f" {WRITTEN}\n",
        f"```json\n{WRITTEN}\n```",
        f"```\n{WRITTEN}\n```",
        f"~~~JSON\n{WRITTEN}\n~~~",
        f"Sure! Here it is:\n\n{WRITTEN}\n\nAnything else?",
        f"```json\n{WRITTEN}\n``` and more",
        f'<think>Perhaps {{"items": []}}? No.</think>\n{WRITTEN}',
        f"<thinking>\nhm [1]\n</thinking>```json\n{WRITTEN}\n```",
        f'Let me see {{"items": []}}.\n</think>\n\n{WRITTEN}',
        f"I looked at {{s1}} and [see below]: {WRITTEN}",
        json.dumps(VALUE, indent=2),
        f"\ufeff{WRITTEN}",
    ],
)
def test_thinking_prose_and_fences_are_skipped(text: str) -> None:
    assert next(json_in_answer(text)) == VALUE


def test_a_thought_that_is_quoted_in_the_answer_belongs_to_it() -> None:
    value = {"items": [{"text": "He wrote </think> in the log, and <think> before."}]}
    assert next(json_in_answer(json.dumps(value))) == value


def test_several_values_come_in_their_order() -> None:
    assert list(json_in_answer('Turn [1] and [2]: {"items": []}')) == [[1], [2], {"items": []}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("Sure!", "no complete JSON"),
        ("42", "no complete JSON"),
        ('{"items": [{"op": "add"}, {"op"', "no complete JSON"),
        ("<think>{}", "no complete JSON"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 100_000, "too deeply"),
        (f"[{'1' * 10_000}]", "too long"),
        ("x" * 2_000_000, "longer than"),
    ],
)
def test_what_holds_no_value_says_why(text: str, why: str) -> None:
    with pytest.raises(NotJson, match=why):
        list(json_in_answer(text))


def test_of_an_object_that_breaks_off_no_part_is_taken_for_the_whole() -> None:
    with pytest.raises(NotJson):
        list(json_in_answer('{"note": {"items": []}, "items": [{"op": "add", "text": "cut'))


def test_strictness_is_for_each_value_and_one_bad_item_is_one_bad_item() -> None:
    text = '{"items": [{"a": 1, "a": 2}, {"b": NaN, "c": -Infinity}, {"d": 1}]}'
    assert next(json_in_answer(text)) == {"items": [None, {"b": None, "c": None}, {"d": 1}]}


def test_half_a_character_cannot_reach_a_file() -> None:
    value = next(json_in_answer(r'{"text": "a\ud800b"}'))
    assert value == {"text": "a?b"}
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("piece", ["[", "{", '{"a":', '["', "</think>", "<think>", "{]", '{"a":1,'])
def test_hostile_text_is_read_in_reasonable_time(piece: str) -> None:
    started = time.monotonic()
    with pytest.raises(NotJson):
        list(json_in_answer(piece * (900_000 // len(piece))))
    assert time.monotonic() - started < 10


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        list(json_in_answer(text))
    except NotJson:
        return


def test_only_prompts_of_ours_can_be_overridden(tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "curate.md").write_text("mine")
    assert overrides(str(folder)) == {"curate": "mine"}
    (folder / "notice.md").write_text("of an earlier version")
    with pytest.raises(BadSetting, match=r"curate\.md or notes\.md"):
        overrides(str(folder))
