"""What was staged long ago does not stay so for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reverie.dreams.brief.select_sessions import noted
from reverie.dreams.light.candidate import Noted
from reverie.dreams.run import think
from reverie.dreams.run.think import EXPIRES_AFTER, MOST_STAGED, staged
from tests.dreaming import NIGHT, session

SAID = ("I prefer tables for numbers.", "I prefer tabs over spaces.", "Please remember that the van is insured.")


def heard(*said: str) -> list[Noted]:
    """Each in a session of its own, one day after the other."""
    kept = [noted(session(day, [words]), "ann", lambda day=day: f"cand_{day}") for day, words in enumerate(said)]
    return [one for notes in kept for one in notes]


def test_what_was_staged_this_week_stays_and_what_was_staged_long_ago_is_let_go() -> None:
    (one,) = heard(SAID[0])
    assert staged([one], {one.id: NIGHT - timedelta(days=7)}, NIGHT) == {one.id}
    assert staged([one], {one.id: NIGHT - EXPIRES_AFTER}, NIGHT) == {one.id}
    assert staged([one], {one.id: NIGHT - EXPIRES_AFTER - timedelta(days=1)}, NIGHT) == frozenset()


def test_what_was_said_long_ago_and_is_first_read_tonight_stays() -> None:
    (one,) = heard(SAID[0])
    assert staged([one], {}, NIGHT + timedelta(days=400)) == {one.id}


def test_what_is_said_again_begins_anew() -> None:
    first, again = heard(SAID[0], SAID[0])
    assert staged([first, again], {first.id: NIGHT - timedelta(days=200)}, NIGHT) == {again.id}


def test_there_is_a_most_and_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_STAGED == 400
    oldest, *newer = heard(*SAID)
    assert len(newer) == 2
    monkeypatch.setattr(think, "MOST_STAGED", 2)
    assert staged([*newer, oldest], {}, NIGHT) == {one.id for one in newer}
