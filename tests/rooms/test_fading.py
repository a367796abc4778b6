"""What was staged long ago does not stay so for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from reverie.deep.decision import Decision, Verb
from reverie.deep.matters import matters
from reverie.dreams import fading
from reverie.dreams.fading import FADES_AFTER, MOST_OF_ONE, staying
from tests.rooms.test_deep import NOW, heard


def held(*texts: str) -> list[Decision]:
    return [Decision(Verb.PROMOTE, one, "Said once.", one.last.text) for one in matters(heard(*texts))]


def staged(decision: Decision, days: int) -> dict[str, datetime]:
    """By a night that many days ago."""
    return {note.id: NOW - timedelta(days=days) for note in decision.matter.every}


def test_what_was_staged_this_week_stays_and_what_was_staged_long_ago_is_let_go() -> None:
    (decision,) = held("I prefer tables for numbers.")
    assert staying([], [decision], staged(decision, 7), NOW).notes == {note.id for note in decision.matter.said}
    gone = staying([], [decision], staged(decision, FADES_AFTER.days + 1), NOW)
    assert not gone.notes and gone.let_go[id(decision)] == "Let go: it was staged 91 days ago, and not said again."


def test_what_was_said_long_ago_and_is_first_read_tonight_stays() -> None:
    (decision,) = held("I prefer tables for numbers.")
    assert staying([], [decision], {}, NOW + timedelta(days=400)).let_go == {}


def test_what_is_said_again_begins_anew() -> None:
    (decision,) = held("I prefer tables for numbers.", "I prefer tables for numbers.")
    first = {decision.matter.said[0].id: NOW - timedelta(days=200)}
    assert len(staying([], [decision], first, NOW).notes) == 2


def test_what_only_waits_its_turn_is_never_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = held("I prefer tables for numbers.", "Our printer is on the second floor.")
    monkeypatch.setattr(fading, "MOST_STAGED", 1)
    stays = staying([first], [second], staged(first, 1000), NOW)
    assert stays.notes == {first.matter.last.id}
    assert list(stays.let_go) == [id(second)]


def test_there_is_a_most_and_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = held(
        "I prefer tables for numbers.", "Our printer is on the second floor.", "The van is insured at Helvia."
    )
    monkeypatch.setattr(fading, "MOST_STAGED", 2)
    stays = staying([], decisions, {}, NOW)
    assert len(stays.notes) == 2
    assert [one for one in decisions if id(one) in stays.let_go] == decisions[:1]


def test_of_what_is_said_all_the_time_the_last_few_are_enough() -> None:
    times = MOST_OF_ONE + 5
    (decision,) = held(*["I prefer tables for numbers."] * times)
    assert len(decision.matter.said) == times
    assert staying([], [decision], {}, NOW + timedelta(days=30)).notes == {
        note.id for note in decision.matter.said[-MOST_OF_ONE:]
    }
