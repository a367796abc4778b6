"""The diary: what a night did and left, in words a person uses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reverie.core.scope import Origin
from reverie.dreams.diary import diary
from reverie.dreams.dream import Dream, Fate, Judged, Read, Status
from reverie.transcripts.session import Evidence

AT = datetime(2026, 6, 15, 3, tzinfo=UTC)


def judged(verb: str, fate: Fate, why: str, reason: str = "Said once.", old: str = "") -> Judged:
    return Judged(("c1",), verb, fate, reason, why, "Always UTC.", "USER.md", old, 1, Origin.OWNER, ())


def told(*matters: Judged, **more: Any) -> str:
    read = (Read("ann", "s1", 1, 2),)
    night = Dream("drm_1", "hermes", "land", Status.COMPLETED, AT, sessions=read, noticed=3, judged=matters)
    return diary(replace(night, **more))


def summary(*matters: Judged, **more: Any) -> str:
    return told(*matters, **more).splitlines()[2]


HELD = judged("add", Fate.HELD_BACK, "The limit of 1 addition for one night is reached.")
KNOWN = judged("add", Fate.NOT_KEPT, "It is known already: “Always UTC.”")
LANDED = judged("add", Fate.LANDED, "Landed as chg_1.")


def test_verbs_are_plain_words() -> None:
    done = told(
        LANDED,
        judged("replace", Fate.LANDED, "Landed.", old="Always CET."),
        judged("remove", Fate.WAITING, "Waits for you.", old="Always CET."),
        judged("merge", Fate.WAITING, "Waits for you.", old="Always CET.; UTC."),
        judged("skill_new", Fate.WAITING, "Waits for you."),
    )
    for words in ("Added to", "Replaced in", "Remove from", "Merge in", "New skill"):
        assert f"- **{words}** USER.md" in done


def test_what_is_replaced_is_shown_as_it_was_and_as_it_is() -> None:
    page = told(judged("replace", Fate.LANDED, "Landed.", old="Always CET."))
    assert "  - was: Always CET.\n  - now: Always UTC.\n  - Said once. Landed.\n" in page
    removed = told(judged("remove", Fate.LANDED, "Landed.", old="Always CET."))
    assert "was: Always CET." in removed and "Always UTC." not in removed


def test_every_fate_has_a_heading_of_its_own_and_an_empty_one_has_none() -> None:
    page = told(*(judged("add", fate, "Why.") for fate in Fate))
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Changed",
        "## Waiting for you",
        "## Still waiting for your decision: 1",
        "## Withheld: nobody was asked",
        "## Not done",
        "## Held for another night",
        "## Not kept",
    ]
    assert [line for line in told(HELD).splitlines() if line.startswith("## ")] == ["## Held for another night"]


def test_what_is_held_back_says_what_it_would_replace() -> None:
    page = told(
        judged("replace", Fate.HELD_BACK, "The limit of 3 changes for one night is reached.", old="Always CET.")
    )
    assert "- “Always UTC.”, in the place of “Always CET.”: The limit of 3 changes" in page
    gone = replace(judged("remove", Fate.NOT_KEPT, "Nobody said so.", old="Always CET."), text="")
    assert "- Remove “Always CET.”: Nobody said so." in told(gone)


def test_the_first_line_counts_what_was_read_changed_held_and_not_kept() -> None:
    assert summary(LANDED, HELD, HELD, KNOWN) == (
        "Read 1 session, noticed 3 things: 1 change landed, 0 proposals waiting, 2 held, 1 not kept."
    )
    assert summary(LANDED, left=4).startswith("Read 1 session (4 more wait for another night), noticed")


def test_the_first_line_of_a_quiet_night_tells_what_became_of_all() -> None:
    assert summary(HELD, KNOWN, KNOWN) == (
        "A quiet night: read 1 session, noticed 3 things, and changed nothing (1 held, 2 not kept)."
    )
    assert summary(sessions=()) == "A quiet night: there was nothing new to read."


def test_what_was_kept_out_for_being_private_is_not_repeated() -> None:
    private = replace(judged("add", Fate.NOT_KEPT, "It speaks of health, and nobody asked."), text="")
    assert "- Something private: It speaks of health, and nobody asked." in told(private)


def test_what_rests_on_words_shows_where_they_stand_and_whose_they_are() -> None:
    words = [Evidence(f"s{number}", 3, "always UTC", Origin.MEMBER) for number in range(5)]
    page = told(replace(LANDED, evidence=(*words, Evidence("s9", 1, "beside", Origin.TOOL, "context"))))
    assert page.count("turn 3 (member): “always UTC”") == 3 and "beside" not in page


def test_what_is_left_out_of_a_long_section_is_counted() -> None:
    assert "- and 3 more; `reverie explain last` tells of all" in told(*[HELD] * 15)
    page = told(flaws=tuple(f"{number}.jsonl: no JSON" for number in range(14)))
    assert page.count(".jsonl") == 12 and "- and 2 more" in page
    asked = told(dropped={f"reason {number}": 1 for number in range(13)}, enough="the cap")
    assert asked.count("- reason") == 12 and "- and 1 more" in asked
    assert "- The model was not asked any more: the cap" in asked


def test_nothing_that_was_quoted_makes_a_line_or_a_heading_of_its_own() -> None:
    page = told(replace(LANDED, text="Always\n## Changed\nUTC.\x1b[2J"))
    assert page.count("\n## ") == 1 and "\x1b" not in page
