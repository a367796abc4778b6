"""The diary: what a night did and left, in words a person uses."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie.deep.judging import NOT_OBEYED
from reverie.dreams.diary import diary
from reverie.dreams.dream import Dream, Fate, Judged, Read, Status
from reverie.kernel.origin import Origin
from reverie.rem.gates import SPENT, Gates, gated
from reverie.review.proposal import Score
from tests.rooms.test_rem import ORDER

AT = datetime(2026, 6, 15, 3, tzinfo=UTC)


def judged(verb: str, fate: Fate, why: str, reason: str = "Said once.", old: str = "") -> Judged:
    return Judged(("c1",), verb, fate, reason, why, "Always UTC.", "USER.md", old, 1, Origin.OWNER, ())


def told(*matters: Judged) -> str:
    read = (Read("ann", "s1", 1, 2),)
    return diary(Dream("drm_1", "hermes", "land", Status.COMPLETED, AT, sessions=read, noticed=3, judged=matters))


def test_verbs_are_plain_words() -> None:
    done = told(judged("promote", Fate.LANDED, "Landed."), judged("better_as_skill", Fate.WAITING, "It waits."))
    assert "**added** to USER.md" in done
    assert "**for a skill**, USER.md" in done
    assert "**to replace** in USER.md" in told(judged("supersede", Fate.WAITING, "It waits.", old="Always CET."))


def test_what_only_waits_its_turn_has_a_heading_of_its_own() -> None:
    page = told(judged("promote", Fate.HELD_BACK, f"Held back: {SPENT}."))
    assert "## Good, for another night" in page
    assert "not sure enough" not in page.partition("## ")[2]


def test_what_is_held_back_says_what_it_would_replace() -> None:
    page = told(judged("supersede", Fate.HELD_BACK, "Held back: unsure.", old="Always CET."))
    assert "“Always UTC.”, in the place of “Always CET.”: Held back" in page


def test_a_page_that_asked_to_be_remembered_is_told_of() -> None:
    page = told(judged("unsafe", Fate.NOT_KEPT, NOT_OBEYED, NOT_OBEYED))
    assert "1 page asked to be remembered; it was not." in page
    assert "## Not kept" not in page
    assert "noticed 2 things" in page


def test_a_score_just_below_its_gate_shows_enough_digits() -> None:
    assert "0.877 is below the gate of 0.88" in gated(ORDER, Score(0.877), Gates()).held_back
