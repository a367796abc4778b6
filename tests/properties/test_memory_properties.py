"""Memory documents: whatever bytes they hold, reading loses nothing and an edit touches one entry."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import (
    Add,
    Applied,
    Conflicted,
    OverBudget,
    Remove,
    Replace,
    Unfit,
    applied,
    entry_hash,
    read_alone,
)

FORMS = st.sampled_from(list(FORMATS))
SHARDS = [
    "§",
    "\n§\n",
    "\r\n§\r\n",
    "- ",
    "* ",
    "1. ",
    "  ",
    "\n",
    "\n\n",
    "```\n",
    "# Title\n",
    "word",
    "é",
    "\t",
    "\r\n",
]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SHARDS), max_size=20).map("".join))
CONTENT = st.one_of(TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=60))
STATEMENTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(FORMS, CONTENT)
def test_reading_and_joining_gives_the_same_bytes(form: FormatName, content: bytes) -> None:
    assert FORMATS[form].read(content).to_bytes() == content


@given(FORMS, CONTENT, STATEMENTS)
def test_what_was_added_is_read_back_and_the_rest_is_as_it_was(form: FormatName, content: bytes, text: str) -> None:
    before = FORMATS[form].read(content).entries
    outcome = applied(content, form, [Add("d", text)])
    if isinstance(outcome, Unfit):
        return
    assert isinstance(outcome, Applied)
    after = FORMATS[form].read(outcome.after).entries
    if form == "page":  # it goes to the list that speaks of the same things
        assert sorted(after) == sorted((*before, *read_alone([text], form)))
    else:
        assert after == ((text,) if form == "whole" else (*before, text))


@given(FORMS, CONTENT, STATEMENTS, st.integers(0, 30))
def test_a_replacement_changes_one_entry_and_no_other(form: FormatName, content: bytes, text: str, which: int) -> None:
    before = FORMATS[form].read(content).entries
    if not before:
        return
    old = before[which % len(before)]
    place = before.index(old)
    outcome = applied(content, form, [Replace("d", entry_hash(old), text)])
    if isinstance(outcome, Unfit):
        return
    assert isinstance(outcome, Applied)
    now = (*before[:place], *read_alone([text], form), *before[place + 1 :])
    assert FORMATS[form].read(outcome.after).entries == now


@given(FORMS, CONTENT, st.integers(0, 30))
@example(form="page", content=b". 0. x", which=0)  # what follows would begin a list
@example(form="page", content=b".\t0.\t0", which=1)  # a number is no sentence of its own, also at the end
def test_a_removal_takes_one_entry_and_no_other(form: FormatName, content: bytes, which: int) -> None:
    before = FORMATS[form].read(content).entries
    if not before:
        return
    old = before[which % len(before)]
    place = before.index(old)
    outcome = applied(content, form, [Remove("d", entry_hash(old))])
    assert isinstance(outcome, Applied)
    assert FORMATS[form].read(outcome.after).entries == before[:place] + before[place + 1 :]


@given(FORMS, CONTENT, STATEMENTS)
def test_a_stale_operation_changes_nothing(form: FormatName, content: bytes, text: str) -> None:
    stale = Replace("d", entry_hash(text + " which nobody wrote"), text)
    assert isinstance(applied(content, form, [Add("d", "fine"), stale]), Conflicted | Unfit)


@given(STATEMENTS, st.integers(0, 30))
def test_the_budget_binds_the_result(text: str, budget: int) -> None:
    outcome = applied(b"", "hermes", [Add("d", text)], budget)
    assert isinstance(outcome, (Applied if len(text) <= budget else OverBudget) | Unfit)
