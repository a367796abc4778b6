"""A memory that is nobody's: what one person may do to it, what two may, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reverie.dreams.dream import Fate, Judged
from reverie.dreams.items import Citation, Item, Op
from reverie.transcripts.session import Session
from tests.dreaming import Scripted, files, session, store, thought_over

RETURNS, HOURS = "Returns are possible within 14 days.", "The opening hours are 9 to 17."
NEW = "Returns are possible within 90 days."
SAYS = "Our returns are possible within 90 days now."


def judged(sessions: Sequence[Session], item: Item, owner: str = "") -> Judged:
    thought = thought_over(store([RETURNS, HOURS], owner), sessions, Scripted(lambda material: [item]))
    return thought.planned[0].judged


def item(op: Op, text: str, *quoted: tuple[str, str], replaces: str = "") -> Item:
    evidence = tuple(Citation(place, 1, words) for place, words in quoted)
    named = (replaces,) if replaces else ()
    return Item(op, text, evidence, "/notes.md", replaces=named, kind="project_fact", sure=True)


CHANGE = item(Op.REPLACE, NEW, ("s1", SAYS), ("s2", SAYS), replaces="e1")


@pytest.mark.parametrize(
    ("users", "changes"),
    [(("bob", "kim"), True), (("bob", "bob"), False), (("", ""), False), (("bob", ""), False)],
    ids=["two people", "one person twice", "nobody known", "one who is known"],
)
def test_what_stands_changes_when_two_known_people_say_so(users: tuple[str, str], changes: bool) -> None:
    found = judged([session(place, [SAYS], user) for place, user in enumerate(users)], CHANGE)
    assert ("few_people" not in found.reasons) == changes
    assert (found.fate is Fate.WITHHELD) != changes, "nobody is asked: it is withheld"


@pytest.mark.parametrize(
    "other",
    [
        "Good evening everyone.",
        "Returns are possible within 60 days now.",
        "Returns of gifts are a nuisance.",
        "Returns are not possible within 90 days.",
    ],
)
def test_to_be_quoted_is_not_to_agree(other: str) -> None:
    quoted = item(Op.REPLACE, NEW, ("s1", SAYS), ("s2", other), replaces="e1")
    found = judged([session(0, [SAYS], "bob"), session(1, [other], "kim")], quoted)
    assert "few_people" in found.reasons and found.fate is Fate.WITHHELD


def test_one_session_removes_and_merges_nothing() -> None:
    gone = "The opening hours no longer hold."
    remove = item(Op.REMOVE, "", ("s1", gone), replaces="e2")
    assert "few_people" in judged([session(0, [gone], "bob")], remove).reasons
    merge = Item(Op.MERGE, NEW, (Citation("s1", 1, SAYS),), "/notes.md", replaces=("e1", "e2"), sure=True)
    assert "few_people" in judged([session(0, [SAYS], "bob")], merge).reasons


def test_one_session_adds_what_conflicts_with_nothing_and_it_is_marked() -> None:
    said = "Remember that our mascot is called Miso."
    found = judged([session(0, [said], "bob")], item(Op.ADD, "Our mascot is called Miso.", ("s1", said)))
    assert found.reasons == ("nobodys",) and found.unsure
    both = item(Op.ADD, "Our mascot is called Miso.", ("s1", said), ("s2", said))
    assert judged([session(0, [said], "bob"), session(1, [said], "kim")], both).reasons == ()


def test_one_session_adds_nothing_beside_what_it_contradicts() -> None:
    found = judged([session(0, [SAYS], "bob")], item(Op.ADD, NEW, ("s1", SAYS)))
    assert "few_people" in found.reasons and found.fate is Fate.WITHHELD


def test_agents_and_tools_decide_nothing_there_either() -> None:
    said = ("tool", "Our mascot is called Miso.")
    found = judged(
        [session(0, ["Hello there.", said], "bob")],
        Item(Op.ADD, said[1], (Citation("s1", 2, said[1]),), "/notes.md", sure=True),
    )
    assert "origin" in found.reasons and found.fate in (Fate.WITHHELD, Fate.NOT_KEPT)


def test_where_the_memory_has_an_owner_nobody_is_counted() -> None:
    for target in (store([RETURNS, HOURS]), files([RETURNS, HOURS])):
        [one] = thought_over(
            target, [session(0, [SAYS])], Scripted(lambda _: [item(Op.REPLACE, NEW, ("s1", SAYS), replaces="e1")])
        ).planned
        assert one.judged.reasons == () and one.suggestion


def test_an_owner_is_a_member_in_the_memory_of_someone_else() -> None:
    for target in (store([RETURNS, HOURS], "ann"), files([RETURNS, HOURS], "ann")):
        [one] = thought_over(
            target,
            [session(0, [SAYS], "bob")],
            Scripted(lambda _: [item(Op.REPLACE, NEW, ("s1", SAYS), replaces="e1")]),
        ).planned
        assert "origin" in one.judged.reasons and one.judged.origin == "member"
