"""What a person sees of a long turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.search.finder import passage

FILLER = "Nothing of interest happened that day. " * 40


def test_a_short_text_is_shown_whole() -> None:
    assert passage("We moved to port 6432.", "which port?", 100) == "We moved to port 6432."


def test_a_long_text_is_shown_where_it_answers() -> None:
    shown = passage(
        f"{FILLER}By the way, the staging database moved to port 6432. {FILLER}", "which port is staging?", 200
    )
    assert "port 6432" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_text_that_shares_nothing_is_shown_from_its_beginning() -> None:
    assert passage(f"Dear all. {FILLER}", "zebra", 100).startswith("Dear all.")


@given(st.text(max_size=400), st.text(max_size=40), st.integers(1, 80))
def test_what_is_shown_stands_in_the_text_and_is_not_too_long(text: str, question: str, width: int) -> None:
    shown = passage(text, question, width)
    assert shown.strip("…") in text or shown == text
    assert len(shown) <= max(width + 2, len(shown) if len(text) <= width else 0)
