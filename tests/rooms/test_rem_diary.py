"""The diary: what a night did and left, in words a person uses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

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


def told(*matters: Judged, **more: Any) -> str:
    read = (Read("ann", "s1", 1, 2),)
    night = Dream("drm_1", "hermes", "land", Status.COMPLETED, AT, sessions=read, noticed=3, judged=matters)
    return diary(replace(night, **more))


def summary(*matters: Judged, **more: Any) -> str:
    return told(*matters, **more).splitlines()[2]


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


HELD = judged("promote", Fate.HELD_BACK, "Held back: unsure.")
KNOWN = judged("redundant", Fate.NOT_KEPT, "Not kept: USER.md says so already.")
PASSING = judged("ephemeral", Fate.NOT_KEPT, "Not kept: it holds for one day.")
OFTEN = replace(judged("promote", Fate.LANDED, "Landed."), sessions=4)


def test_the_first_line_counts_what_was_read_repeated_changed_and_staged() -> None:
    assert summary(OFTEN, HELD, HELD, duplicates=2, themes=1) == (
        "Read 1 session, noticed 3 things (2 duplicates) in 1 theme across sessions: "
        "1 change landed, 0 proposals waiting, 2 staged."
    )


def test_the_first_line_of_a_quiet_night_tells_its_themes_and_what_became_of_all() -> None:
    assert summary(HELD, KNOWN, PASSING, PASSING, duplicates=1, themes=1) == (
        "A quiet night: read 1 session, noticed 3 things (1 duplicate) in 1 theme across sessions, and changed nothing,"
        " because there were 1 matter staged (not sure enough yet), 1 matter known already and 2 matters not worth"
        " keeping."
    )


def test_themes_are_named_also_on_a_quiet_night() -> None:
    often = replace(HELD, sessions=4)
    assert "\nThemes, in how many sessions: “Always UTC.” (4).\n" in told(often)
    assert "Themes" not in told(HELD)
    assert told(*[often] * 7).count("(4)") == 4 and "(4), and 3 more." in told(*[often] * 7)


def test_what_was_kept_out_for_being_private_is_no_theme_with_a_name() -> None:
    assert "Themes" not in told(replace(PASSING, verb="sensitive", text="", sessions=3))


def test_pages_that_ask_in_several_sessions_are_no_theme() -> None:
    planted = replace(judged("unsafe", Fate.NOT_KEPT, NOT_OBEYED, NOT_OBEYED), sessions=2)
    assert "theme" not in summary(planted, themes=1)


def test_what_is_left_out_of_a_long_section_is_counted() -> None:
    assert "- and 3 more; `reverie explain last` tells of all" in told(*[HELD] * 15)
    page = told(flaws=tuple(f"{number}.jsonl: no JSON" for number in range(14)))
    assert page.count(".jsonl") == 12 and "- and 2 more" in page
    asked = told(dropped={f"reason {number}": 1 for number in range(13)}, enough="the cap")
    assert asked.count("not taken") == 12 and "- and 1 more" in asked
