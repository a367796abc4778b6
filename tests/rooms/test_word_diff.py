"""What a proposal changes, word by word and in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.changes.headline import edit_hunks, headline, hunks, word_diff
from reverie.changes.ledger import Edit
from reverie.changes.proposal import Proposal, Suggestion, drawn_diff
from reverie.memory.operation import Add, Applied, Operation, Remove, Replace, applied, entry_hash

PORT = "Staging DB is db1.internal, port 5433"
MEMORY = f"{PORT}\n§\nStandup is at nine.\nIn the kitchen."
WHEN = datetime(2026, 5, 12, tzinfo=UTC)


def proposed(*operations: Operation, form: str = "hermes", before: str = MEMORY) -> Proposal:
    done = applied(before.encode(), form, operations)  # type: ignore[arg-type]
    assert isinstance(done, Applied)
    diff = drawn_diff("hermes", [Edit("MEMORY.md", done.before, done.after)], 0)
    suggestion = Suggestion("hermes", "MEMORY.md", operations)
    return Proposal("prop_1", suggestion, "hermes", diff, "", (), False, "", (), "", WHEN, WHEN)


@given(st.text(), st.text())
def test_both_sides_can_be_read_off_a_word_diff(old: str, new: str) -> None:
    spans = word_diff(old, new)
    assert "".join(one.text for one in spans if one.kind != "new") == old
    assert "".join(one.text for one in spans if one.kind != "gone") == new
    assert all(one.text for one in spans)


def test_only_the_words_that_differ_are_marked() -> None:
    marked = [(one.kind, one.text) for one in word_diff("port 5433, user shop", "port 6432, user shop") if one.text]
    assert marked == [("same", "port "), ("gone", "5433"), ("new", "6432"), ("same", ", user shop")]


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (Replace("MEMORY.md", entry_hash(PORT), PORT.replace("5433", "6432")), "DB is db1.internal, port 5433 → 6432"),
        (Replace("MEMORY.md", entry_hash(PORT), "No staging any more"), f"{PORT} → No staging any more"),
    ],
)
def test_a_replacement_is_told_by_what_differs_or_by_both_texts(operation: Operation, said: str) -> None:
    assert headline(proposed(operation), "ledgerly's memory") == f"Replace in ledgerly's memory: {said}"


def test_an_addition_and_a_removal_are_told_by_their_text() -> None:
    assert headline(proposed(Add("MEMORY.md", "Money is Decimal")), "it") == "Add to it: Money is Decimal"
    gone = Remove("MEMORY.md", entry_hash("Standup is at nine.\nIn the kitchen."))
    assert headline(proposed(gone), "it") == "Remove from it: Standup is at nine. In the kitchen."


def test_items_of_a_list_are_told_without_their_marks() -> None:
    notes = "# Notes\n\n- Tabs, not spaces\n- Standup is at nine\n"
    change = Replace("MEMORY.md", entry_hash("Tabs, not spaces"), "Spaces, not tabs")
    (hunk,) = hunks(proposed(change, form="list", before=notes))
    assert "".join(one.text for one in hunk.spans if one.kind != "new") == "Tabs, not spaces"
    assert "".join(one.text for one in hunk.spans if one.kind != "gone") == "Spaces, not tabs"


def test_a_change_of_files_is_shown_place_by_place_with_the_lines_around() -> None:
    lines = [f"line {number}\n" for number in range(40)]
    after = [*lines[:5], "line five\n", *lines[6:30], "line thirty\n", *lines[31:]]
    edit = Edit("deploy/SKILL.md", "".join(lines).encode(), "".join(after).encode())
    first, second = edit_hunks([edit])
    assert (first.document, first.at, second.at) == ("deploy/SKILL.md", 4, 29)
    assert [one.text for one in first.spans if one.kind != "same"] == ["5", "five"]
    assert first.spans[0].text.startswith("line 3\nline 4\n")


def test_a_long_text_against_a_long_text_is_compared_line_by_line() -> None:
    old = "\n".join(f"word {number} of many" for number in range(2_000))
    spans = word_diff(old, old.replace("word 1000 of", "word thousand of"))
    assert [one.text for one in spans if one.kind == "gone"] == ["word 1000 of many\n"]
