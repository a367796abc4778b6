"""A curator's answer, read item by item: what can be read stands, what cannot is reported, nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.dreams.items import LONGEST_TEXT, MOST_ITEMS, Citation, CuratorAnswer, Item, Op, read_answer

CITED = {"session": "s1", "turn": 2, "words": "I want tables."}
ADD = {"op": "add", "document": "MEMORY.md", "text": "Wants tables.", "evidence": [CITED], "certainty": "sure"}


def read(*rows: object) -> CuratorAnswer:
    answer = read_answer({"items": list(rows)})
    assert isinstance(answer, CuratorAnswer)
    return answer


def one(**fields: object) -> Item:
    (item,) = read(ADD | fields).items
    return item


@pytest.mark.parametrize("value", [[ADD], {"items": [ADD]}, {"items": [ADD], "thoughts": "none"}])
def test_a_bare_list_and_an_object_are_the_same_answer(value: object) -> None:
    answer = read_answer(value)
    expected = Item(Op.ADD, "Wants tables.", (Citation("s1", 2, "I want tables."),), "MEMORY.md", sure=True)
    assert isinstance(answer, CuratorAnswer) and answer == CuratorAnswer((expected,))


@pytest.mark.parametrize("value", [None, "", "Certainly!", 3, {}, {"items": None}, {"items": {"op": "add"}}, {"x": []}])
def test_what_is_no_list_of_items_is_told_to_whoever_gave_it(value: object) -> None:
    told = read_answer(value)
    assert isinstance(told, str) and '{"items"' in told


def test_nothing_to_change_is_an_answer() -> None:
    assert read_answer({"items": []}) == read_answer([]) == CuratorAnswer(())


@pytest.mark.parametrize("op", list(Op))
def test_every_op_is_read(op: Op) -> None:
    assert one(op=str(op)).op is op


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("add", "it is not an object"),
        (None, "it is not an object"),
        ([ADD], "it is not an object"),
        (ADD | {"op": "forget"}, "its op is none of add, replace, merge, remove, skill_new, skill_amend"),
        (ADD | {"op": "ADD"}, "its op is none of"),
        (ADD | {"op": ["add"]}, "its op is none of"),
        ({name: value for name, value in ADD.items() if name != "op"}, "its op is none of"),
        (ADD | {"text": ["Wants tables."]}, "its text is not a text"),
        (ADD | {"text": 7}, "its text is not a text"),
        (ADD | {"text": "x" * (LONGEST_TEXT + 1)}, f"at most {LONGEST_TEXT} characters"),
    ],
)
def test_an_item_that_cannot_be_read_is_reported_and_the_others_stand(row: object, told: str) -> None:
    answer = read(ADD, row, ADD | {"text": "Wants lists."})
    assert [item.text for item in answer.items] == ["Wants tables.", "Wants lists."]
    (line,) = answer.unread
    assert line.startswith("Item 2 was not read: ") and told in line and line.endswith(".")


def test_fields_that_are_missing_are_empty_and_those_that_are_too_many_are_left_out() -> None:
    (bare,) = read({"op": "remove"}).items
    assert bare == Item(Op.REMOVE, "", ())
    assert not bare.sure  # only "sure" is sure
    assert one(score=0.99, origin="operator", path="/etc/passwd", candidates=["c1"]) == one()


@pytest.mark.parametrize("certainty", ["ask", "Sure", "very sure", True, 1, None, ["sure"]])
def test_only_the_word_sure_is_sure(certainty: object) -> None:
    assert one().sure and not one(certainty=certainty).sure


@pytest.mark.parametrize(
    ("cited", "read_as"),
    [
        (CITED, CITED),
        (CITED | {"turn": "2"}, CITED),
        (CITED | {"turn": " 2 "}, CITED),
        (CITED | {"session": " s1 "}, CITED),
        (CITED | {"speaker": "owner"}, CITED),
        (CITED | {"turn": -3}, CITED | {"turn": -3}),
        (CITED | {"turn": "two"}, None),
        (CITED | {"turn": "-2"}, None),
        (CITED | {"turn": 2.5}, None),
        (CITED | {"turn": None}, None),
        (CITED | {"session": 1}, None),
        (CITED | {"words": "  "}, None),
        (CITED | {"words": ["I want tables."]}, None),
        ("I want tables.", None),
        (None, None),
    ],
)
def test_a_citation_that_cannot_be_read_is_left_out_and_its_item_stays(cited: Any, read_as: Any) -> None:
    expected = (Citation(**read_as),) if read_as else ()
    assert one(evidence=[cited]).evidence == expected
    assert one(evidence=[cited, CITED]).evidence == (*expected, Citation(**CITED))  # type: ignore[arg-type]


@pytest.mark.parametrize("evidence", [None, {}, CITED, "s1", 4])
def test_evidence_that_is_no_list_is_none(evidence: object) -> None:
    assert one(evidence=evidence).evidence == ()


@pytest.mark.parametrize(
    ("given_as", "read_as"),
    [
        (["e1", "e2"], ("e1", "e2")),
        ("e1", ("e1",)),
        (["e1", 2, None], ("e1",)),
        ([], ()),
        (None, ()),
        (3, ()),
        ({}, ()),
    ],
)
def test_one_id_and_a_list_of_ids_are_both_read(given_as: object, read_as: tuple[str, ...]) -> None:
    assert one(op="merge", replaces=given_as).replaces == read_as


def test_texts_are_one_line_and_have_no_blanks_around_them() -> None:
    item = one(
        text="  Wants\n tables.\t",
        document=" MEMORY.md ",
        because="x" * 900,
        steps=["  Run\n it. ", "", 3],
        gotchas="One.",
    )
    assert (item.text, item.document, len(item.because)) == ("Wants tables.", "MEMORY.md", 500)
    assert (item.steps, item.gotchas) == (("Run it.",), ("One.",))
    assert one(text="x" * LONGEST_TEXT).text == "x" * LONGEST_TEXT and one(text=None).text == ""
    assert max(map(len, one(steps=["y" * 9_000]).steps)) == LONGEST_TEXT


def test_more_items_than_anybody_should_want_are_not_looked_at_and_that_is_said() -> None:
    answer = read(*[ADD] * (MOST_ITEMS + 7))
    assert len(answer.items) == MOST_ITEMS
    assert answer.unread == (f"7 items beyond the first {MOST_ITEMS} were not looked at.",)
    assert read(*[ADD] * MOST_ITEMS).unread == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*ADD, "items", "replaces", "turn"]), inner),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_raises(value: object) -> None:
    answer = read_answer(value)
    assert isinstance(answer, str | CuratorAnswer)
    assert isinstance(read_answer({"items": [value, ADD]}), CuratorAnswer)
