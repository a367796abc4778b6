"""A question about a kind of thing is answered by one of its members."""

from __future__ import annotations

import pytest

from reverie.app import Home
from reverie.text.tokens import kinds, terms, with_members


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many musical instruments do I own?", "I finally set up the drums in the garage."),
        ("Do I have siblings?", "My sisters are visiting on Sunday."),
        ("What kitchen appliance did I buy?", "The new fryer arrived today."),
    ],
)
def test_a_question_about_a_kind_finds_a_member(home: Home, question: str, answer: str) -> None:
    for number, text in enumerate(("The meeting was moved.", answer, "Please write a poem about rain.")):
        home.sessions.add({"id": f"s{number}", "messages": [{"role": "user", "content": text}]})
    assert home.search(question, limit=1)[0].text == answer


def test_what_was_asked_for_itself_counts_more_than_a_member() -> None:
    asked = with_members(terms("Which instrument do I play?"))
    itself = next(term for term in asked if "instrument" in term.forms)
    members = next(term for term in asked if "guitar" in term.forms)
    assert itself.weight > members.weight


def test_a_question_without_a_kind_stays_as_it_is() -> None:
    asked = terms("When did Priya call?")
    assert with_members(asked) == asked


def test_no_kind_is_a_member_of_itself_or_has_none() -> None:
    for name, members in kinds().items():
        assert members
        assert len(set(members)) == len(members), name
