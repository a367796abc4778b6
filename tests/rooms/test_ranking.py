"""Which turn is shown first, and that the reasons given for it are the reasons."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.search.search import HEAD, Ranked, RankedTurn, TurnKey, rank, spread_over_sessions


def _turn(session: str, number: int, lexical: float, role: str = "assistant", user: str = "ann") -> RankedTurn:
    return RankedTurn(TurnKey(user, session, number), role, lexical)


def _order(
    candidates: Sequence[RankedTurn], similarities: Sequence[float | None] | None = None
) -> list[tuple[str, int]]:
    known = similarities if similarities is not None else [None] * len(candidates)
    return [(row.key.session_id, row.key.turn) for row in rank(candidates, known)]


def test_better_words_come_first() -> None:
    assert _order([_turn("a", 1, 2.0), _turn("b", 1, 9.0), _turn("c", 1, 5.0)]) == [("b", 1), ("c", 1), ("a", 1)]


def test_what_a_person_said_comes_before_the_same_words_of_an_assistant() -> None:
    assert _order([_turn("a", 1, 8.0), _turn("b", 1, 8.0, "user")])[0] == ("b", 1)


def test_a_person_does_not_outrank_a_far_better_match() -> None:
    assert _order([_turn("a", 1, 8.0), _turn("b", 1, 3.0, "user")])[0] == ("a", 1)


def test_an_answer_beside_its_question_comes_before_one_that_stands_alone() -> None:
    asked, answer, alone = _turn("a", 4, 8.0), _turn("a", 5, 4.0), _turn("b", 5, 4.0)
    order = _order([asked, answer, alone])
    assert order.index(("a", 5)) < order.index(("b", 5))


def test_neighbours_are_of_the_same_session_of_the_same_person() -> None:
    rows = rank([_turn("a", 4, 8.0, user="ann"), _turn("a", 5, 4.0, user="bob")], [None, None])
    assert not any(name == "neighbours" for row in rows for name, _ in row.why)


def test_a_session_about_the_subject_lifts_its_turns() -> None:
    about = [_turn("a", number, 5.0) for number in (1, 9, 17)]
    assert _order([_turn("b", 1, 5.0), *about])[-1] == ("b", 1)


def test_meaning_decides_between_equal_words() -> None:
    assert _order([_turn("a", 1, 5.0), _turn("b", 1, 5.0)], [0.02, 0.31])[0] == ("b", 1)


def test_a_turn_whose_vector_is_not_filled_yet_is_neither_first_nor_last_for_it() -> None:
    candidates = [_turn(name, 1, 5.0) for name in ("near", "new", "far")]
    assert _order(candidates, [0.3, None, 0.0]) == [("near", 1), ("new", 1), ("far", 1)]


def test_before_any_vector_is_filled_words_alone_decide() -> None:
    rows = rank([_turn("a", 1, 2.0), _turn("b", 1, 9.0)], [None, None])
    assert [row.key.session_id for row in rows] == ["b", "a"]
    assert not any(name == "meaning" for row in rows for name, _ in row.why)


def test_nothing_found_is_nothing_ranked() -> None:
    assert rank([], []) == []


def test_the_same_hits_in_another_order_rank_the_same() -> None:
    candidates = [_turn(name, number, 5.0) for name in "abc" for number in (1, 2, 3)]
    assert _order(candidates) == _order(candidates[::-1])


scores = st.floats(min_value=0.01, max_value=50)
likeness = st.none() | st.floats(min_value=-1, max_value=1)


@given(st.lists(st.tuples(scores, likeness, st.sampled_from(["user", "assistant", "tool"])), min_size=1, max_size=40))
def test_the_reasons_add_up_to_the_score(rows: list[tuple[float, float | None, str]]) -> None:
    candidates = [_turn(f"s{place % 5}", place, score, role) for place, (score, _, role) in enumerate(rows)]
    ranked = rank(candidates, [near for _, near, _ in rows])
    assert {row.key for row in ranked} == {candidate.key for candidate in candidates}
    for row in ranked:
        assert row.score == pytest.approx(sum(value for _, value in row.why), abs=1e-3)


def _ranked(session: str, number: int, score: float) -> Ranked:
    return Ranked(TurnKey("ann", session, number), score, (("words", score),))


def test_one_long_session_cannot_fill_a_page() -> None:
    long = [_ranked("long", number, 1 - number / 100) for number in range(1, 31)]
    others = [_ranked(f"other{number}", 1, 0.1) for number in range(5)]
    shown = spread_over_sessions(long + others, 20)
    assert [row.key.session_id for row in shown[:HEAD]] == ["long"] * HEAD
    assert {row.key.session_id for row in shown[HEAD : HEAD + 5]} == {row.key.session_id for row in others}
    assert len(shown) == 20


def test_the_best_hits_keep_their_order_whatever_the_page() -> None:
    rows = [_ranked("a" if number % 3 else f"b{number}", number, 1 / (number + 1)) for number in range(40)]
    assert (
        spread_over_sessions(rows, 20)[:HEAD]
        == spread_over_sessions(rows, 5) + spread_over_sessions(rows, 10)[5:]
        == rows[:HEAD]
    )
