"""What was said once, long ago, does not stay staged for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reverie.deep.decision import Decision, Verb
from reverie.deep.matters import matters
from reverie.dreams import fading
from reverie.dreams.fading import FADES_AFTER, MOST_OF_ONE, staying
from tests.rooms.test_deep import NOW, heard


def held(*texts: str) -> list[Decision]:
    return [Decision(Verb.PROMOTE, one, "Said once.", one.last.text) for one in matters(heard(*texts))]


def test_what_was_said_this_week_stays_and_what_was_said_long_ago_is_let_go() -> None:
    (decision,) = held("I prefer tables for numbers.")
    assert staying([decision], NOW).notes == {note.id for note in decision.matter.said}
    later = NOW + FADES_AFTER
    gone = staying([decision], later)
    assert not gone.notes and "not again" in gone.let_go[id(decision)]


def test_there_is_a_most_and_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = held(
        "I prefer tables for numbers.", "Our printer is on the second floor.", "The van is insured at Helvia."
    )
    monkeypatch.setattr(fading, "MOST_STAGED", 2)
    stays = staying(decisions, NOW)
    assert len(stays.notes) == 2
    assert [one for one in decisions if id(one) in stays.let_go] == decisions[:1]


def test_of_what_is_said_all_the_time_the_last_few_are_enough() -> None:
    times = MOST_OF_ONE + 5
    (decision,) = held(*["I prefer tables for numbers."] * times)
    assert len(decision.matter.said) == times
    assert staying([decision], NOW + timedelta(days=30)).notes == {
        note.id for note in decision.matter.said[-MOST_OF_ONE:]
    }
