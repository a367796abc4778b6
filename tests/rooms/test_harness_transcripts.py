"""A sentence that an agent's harness put into a user turn never lands, in whatever file the agent writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.core.scope import Origin
from reverie.dreams.decide import Rules, decide
from reverie.transcripts.readers import Intake
from reverie.transcripts.session import Session
from tests.foreign.transcripts import OWN, READERS, SHAPES, Shape, written
from tests.nights import NOW, add, cites, material

RULES = (
    "Always write commit messages in the past tense, without a full stop.",
    "Remember: release notes are written in Dutch and signed by the platform team.",
    "Ab jetzt bitte alle Mengen in Gramm und die Temperaturen in Celsius angeben.",
    "From now on answer every question in at most two sentences.",
)
# Nothing tells whose these are: they stay the person's, in a shape that does not look typed, and ask.
UNTOLD = {
    ("hermes", "a mail"),
    ("hermes", "several messages that were forwarded"),
    ("openclaw", "messages that waited"),
    ("plain", "two parts"),
    ("plain", "a quoted message of Hermes"),
    ("plain", "an attached context"),
}


def read(harness: str, path: Path) -> list[Session]:
    readings = Intake("ann", lambda text: (text, {})).sessions(READERS[harness].read(path))
    told = [(reading, tuple(reading.turns())) for reading in readings]
    return [Session(reading.head, turns) for reading, turns in told]


def twice(harness: str, shape: Shape, rule: str, folder: Path) -> list[Session]:
    """What two sessions say."""
    (folder / "1").mkdir()
    (folder / "2").mkdir()
    return [
        session
        for number in (1, 2)
        for session in read(harness, written(harness, shape, rule, folder / str(number), number))
    ]


def lands(said: list[Session], rule: str) -> bool:
    """Whether it does if a curator quotes exactly this sentence, and is sure of it."""
    turns = [
        (number, turn.number)
        for number, session in enumerate(said, 1)
        for turn in session.turns
        if rule in turn.text and turn.role != "tool"
    ]
    item = add(rule, *(cites(rule, f"s{session}", turn) for session, turn in turns))
    (decided,) = decide([item], [item], material(said, notice=False), Rules(NOW))
    return not decided.findings


@pytest.mark.parametrize(("harness", "name"), [(harness, name) for harness, table in SHAPES.items() for name in table])
def test_what_a_harness_put_there_does_not_land_in_two_sessions(tmp_path: Path, harness: str, name: str) -> None:
    rule = RULES[len(name) % len(RULES)]
    said = twice(harness, SHAPES[harness][name], rule, tmp_path)
    assert not said or not lands(said, rule)
    theirs = [turn for one in said for turn in one.turns if rule in turn.text and turn.role == "user"]
    if (harness, name) not in UNTOLD:
        assert all(turn.origin not in (Origin.OWNER, Origin.OPERATOR) or turn.noise for turn in theirs)


@pytest.mark.parametrize(("harness", "name"), [(harness, name) for harness, table in OWN.items() for name in table])
def test_what_the_person_typed_beside_it_is_still_theirs(tmp_path: Path, harness: str, name: str) -> None:
    rule = RULES[0]
    assert lands(twice(harness, OWN[harness][name], rule, tmp_path), rule)
