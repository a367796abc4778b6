"""What holds for any two texts, however odd."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.text.relation import RelationKind, relate

VOCABULARY = (
    "the user likes never deploy on fridays port 5433 moved to 6432 27:12 $40 might if tests/data 2.4 v3 also was gone "
    "only all no nicht ya años ne pas 端口 不 am 9 uhr every two weeks monday - , . ? ! ; :"
)
WORDS = st.sampled_from(sorted(set(VOCABULARY.split())))
SENTENCES = st.lists(WORDS, max_size=25).map(" ".join)
ANYTHING = st.one_of(st.text(max_size=200), SENTENCES)
# Letters whose upper case folds back to themselves; "ı" and its like are different letters, not another case.
PLAIN = st.one_of(SENTENCES, st.text(alphabet=string.ascii_letters + string.digits + " äöéñ.,:?'", max_size=80))
BLANKS = st.sampled_from([" ", "  ", "\n", "\t", " \n "])
FEW = settings(max_examples=150, deadline=None)


@FEW
@given(ANYTHING, ANYTHING)
def test_any_two_texts_are_related_somehow(old: str, new: str) -> None:
    found = relate(old, new)
    assert found.kind in RelationKind
    assert 0.0 <= found.conflict <= 1.0
    assert 0.0 <= found.confidence <= 1.0
    assert found.why


@FEW
@given(ANYTHING, ANYTHING)
def test_the_same_question_has_the_same_answer(old: str, new: str) -> None:
    assert relate(old, new) == relate(old, new)


@FEW
@given(ANYTHING)
def test_a_text_says_the_same_as_itself(text: str) -> None:
    found = relate(text, text)
    assert found.kind is RelationKind.SAME
    assert found.conflict < 0.5


@FEW
@given(PLAIN, PLAIN, BLANKS)
def test_case_and_spacing_do_not_matter(old: str, new: str, blank: str) -> None:
    plain = relate(old, new)
    assert relate(old.upper(), new) == plain
    assert relate(old, new.lower()) == plain
    assert relate(blank + old.replace(" ", blank), new + blank) == plain


@FEW
@given(ANYTHING, ANYTHING)
def test_the_kind_and_the_conflict_agree(old: str, new: str) -> None:
    found = relate(old, new)
    if found.kind in (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS):
        assert found.conflict >= 0.5
    else:
        assert found.conflict < 0.5
