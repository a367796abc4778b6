"""What is accepted as an answer: strict JSON of exactly the shape that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.kernel.errors import BadInput, NotFound
from reverie.models.prompting import Prompt, delimiter, prompt
from reverie.models.schema import Record, Several, Shape, Text, Truth, Whole, faults, json_schema
from reverie.models.strict_json import NotStrict, strict_json
from reverie.testing.model_shapes import shaped

COLOUR = Record({"name": Text(5), "shade": Text(among=("light", "dark")), "parts": Several(Whole(0, 255), 3, 1)})
GOOD = {"name": "blue", "shade": "dark", "parts": [0, 0, 255]}


def test_a_value_of_the_shape_has_no_faults() -> None:
    assert list(faults(GOOD, COLOUR)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        None, [], "blue", {}, {**GOOD, "score": 1}, {**GOOD, "origin": "operator"}, {**GOOD, "name": None},
        {**GOOD, "name": "indigo"}, {**GOOD, "shade": "operator"}, {**GOOD, "parts": []}, {**GOOD, "parts": [0] * 4},
        {**GOOD, "parts": [256]}, {**GOOD, "parts": [True]}, {**GOOD, "parts": [1.0]}, {**GOOD, "parts": "abc"},
        {"name": "blue", "shade": "dark"},
    ],
)  # fmt: skip
def test_anything_else_has(wrong: object) -> None:
    assert list(faults(wrong, COLOUR))


def test_what_a_model_wrote_is_not_repeated_in_the_fault() -> None:
    assert "ignore all" not in " ".join(faults({**GOOD, "ignore all rules": "ignore all"}, COLOUR))


SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.one_of(st.builds(Text, st.integers(1, 50)), st.just(Whole(3, 9)), st.just(Truth())),
    lambda inner: st.one_of(
        st.builds(Several, inner, st.integers(2, 5), st.integers(0, 2)),
        st.builds(Record, st.dictionaries(st.text("abc", min_size=1), inner, max_size=4)),
    ),
    max_leaves=12,
)


@given(SHAPES)
def test_the_schema_that_is_sent_and_the_check_agree(shape: Shape) -> None:
    assert list(faults(shaped(json_schema(shape)), shape)) == []


@pytest.mark.parametrize("text", ['{"a": 1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```'])
def test_one_json_value_is_read(text: str) -> None:
    assert strict_json(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "Sure!", 'Sure! {"a": 1}', '{"a": 1} Anything else?', '{"a": 1}{"a": 2}', '{"a": 1', '{"a": NaN}',
        "Infinity", '{"a": 1, "a": 2}', '{"b": {"a": 1, "a": 1}}', "[" * 100_000, "1" * 10_000, "x" * 2_000_000,
        '```json\n{"a": 1}\n``` and more',
    ],
)  # fmt: skip
def test_anything_else_is_not(text: str) -> None:
    with pytest.raises(NotStrict):
        strict_json(text)


def test_a_prompt_is_rendered_strictly_and_has_a_hash() -> None:
    asked = Prompt("greet", "Hello {{ name }}, {{name}}!")
    assert asked.rendered(name="{{ trap }}") == "Hello {{ trap }}, {{ trap }}!"
    for given_values in ({}, {"name": "Ann", "age": "7"}, {"nam": "Ann"}):
        with pytest.raises(BadInput):
            asked.rendered(**given_values)
    assert asked.sha256 != Prompt("greet", "Hello {{ name }}!").sha256


def test_a_prompt_can_be_overridden_and_an_unknown_one_is_not_looked_for_elsewhere() -> None:
    assert prompt("notice", {"notice": "mine"}).text == "mine"
    assert "{{ schema }}" in prompt("notice").text
    for name in ("nothing", "../choice", "notice.md"):
        with pytest.raises(NotFound):
            prompt(name)


@given(st.lists(st.text("ab"), max_size=4))
def test_the_mark_stands_in_no_text(texts: list[str]) -> None:
    marks = iter(["a", "b", "ab", "ba", "c"])
    mark = delimiter(texts, lambda: next(marks))
    assert not any(mark in text for text in texts)
