"""A model beside the bridge: what is doubtful, and how a rule would read. Answers were played by hand, and recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.store_diff import answer_of
from benchmarks.store_diff_played import SEEDS, Player, played
from benchmarks.store_edits import BEHAVIOUR
from reverie.app import open_home
from reverie.bridge.amendments import Batch
from reverie.bridge.draft import Drafted
from reverie.bridge.route import KeptOut
from reverie.core.errors import BadSetting
from reverie.testing.model_plays import OpenConnection, Refuses, Says
from reverie.testing.model_recordings import Recordings
from reverie.testing.model_server import Server, serving
from tests.conftest import NOON

ANSWERS = Path(__file__).parents[1] / "fixtures" / "bridge_answers"
SKILL = """\
---
name: release
description: How to cut and deploy a release.
version: 1.2.0
---

# Release

## Rules
- Deploy on Tuesdays, after the standup.
- Tag every release with the ticket number.
"""
OLD = """\
# Notes

- The lab orders gloves from the cheaper supplier.
- Thank the customer once, then say what happens next.
- Never leave the centrifuge running alone.
- The team in Lisbon starts at nine.
"""
NEW = """\
# Notes

- Gloves for the lab are bought where the quality is best.
- Thank customers one time and then tell them what will happen.
- Someone has to stay with the centrifuge as long as it runs.
- The team in Lisbon starts at nine.
- It has been agreed that nobody rolls a release back without telling the person on call.
- We met the new supplier on 2026-04-02.
"""


def settings(model: Server) -> dict[str, str | None]:
    return {"owner": "ann", "model": "openai:played", "model_url": model.openai_url, "model_key_name": "THE_KEY"}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.md").write_text(text)
    return str(tmp_path / "old"), str(tmp_path / "new")


def proposed(model: Server, tmp_path: Path, folders: tuple[str, str]) -> tuple[Batch, list[tuple[str, str]]]:
    """The batch, and each proposal: where it goes and what its diff adds."""
    with open_home(tmp_path / "home", now=NOON, settings=settings(model)) as home:
        skill = home.config.home / "skills" / "release" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(SKILL)
        batch = home.bridge.propose(*folders, target="home")
        return batch, [(one.suggestion.subject, _added(one.diff)) for one in home.review.waiting()]


def _added(diff: str) -> str:
    added = [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    return next(line.lstrip("-* ") for line in reversed(added) if line.strip())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sk-test-abcdefgh")


def test_a_well_played_model_settles_what_is_doubtful_and_words_it_like_the_skill(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    with serving(recordings := Recordings(ANSWERS)) as model:
        batch, waiting = proposed(model, tmp_path, folders)
    assert not recordings.missing, recordings.advice
    kept_out = [(one.difference.after, one.reason) for one in batch.results if isinstance(one, KeptOut)]
    assert kept_out == [], "what may only be reworded is shown, not proposed, unless the model takes it for a change"
    assert sorted(waiting) == [
        ("MEMORY.md", "Gloves for the lab are bought where the quality is best."),
        ("MEMORY.md", "We met the new supplier on 2026-04-02."),
        ("release", "Never roll a release back without telling the person on call."),
    ]


def test_a_model_is_told_of_every_skill_however_many_there_are(tmp_path: Path, folders: tuple[str, str]) -> None:
    """Which skill a sentence belongs to is seldom seen by its words."""
    rules = "".join(f"- Rule {number} of this skill is long, so that not all of them fit.\n" for number in range(40))
    for name in (f"skill-{number}" for number in range(120)):
        path = tmp_path / "home" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n\n# {name}\n\n## Rules\n{rules}")
    with serving(Says('{"items": []}')) as model:
        proposed(model, tmp_path, folders)
    (request,) = model.requests
    assert all(f"About skill-{number}." in json.dumps(request.body) for number in range(120))


def item(text: str, words: str = "We met the new supplier on 2026-04-02.", turn: int = 2) -> dict[str, object]:
    return {
        "op": "add",
        "document": "MEMORY.md",
        "text": text,
        "evidence": [{"session": "s1", "turn": turn, "words": words}],
    }


@pytest.mark.parametrize(
    ("play", "note"),
    [
        (Says(json.dumps({"items": [item("We meet the supplier every Monday at 9:15 in room 204.")]})), False),
        (Says(json.dumps({"items": [item("We met the supplier.", "We met no supplier at all.")]})), False),
        (Says(json.dumps({"items": [item("We met the supplier.", turn=77)]})), False),
        (Says("I would rather not."), True),
        (Refuses(401), True),
    ],
)
def test_what_a_model_makes_up_is_not_used_and_the_memorys_own_sentence_stands(
    play: OpenConnection, note: bool, tmp_path: Path, folders: tuple[str, str]
) -> None:
    with serving(play) as model:
        batch, waiting = proposed(model, tmp_path, folders)
    assert bool(batch.note) is note
    assert ("MEMORY.md", "We met the new supplier on 2026-04-02.") in waiting and len(waiting) == 2
    assert sum(isinstance(one, Drafted) for one in batch.results) == len(waiting)


def test_what_a_model_took_is_on_the_ledger(tmp_path: Path, folders: tuple[str, str]) -> None:
    with serving(Says('{"items": []}')) as model, open_home(tmp_path / "home", settings=settings(model)) as home:
        home.bridge.propose(*folders, target="home")
        spent = home.spending()
    assert spent["tokens"] > 0, spent  # type: ignore[operator]


def test_a_played_model_finds_what_changed_in_generated_stores_and_reports_no_rewording() -> None:
    """One store of six; benchmarks/store_diff_played.py has the rest."""
    player, told = Player(), Counter[tuple[bool, str]]()
    for case, diff in played(SEEDS[:1], 1, player):
        told.update((kind in BEHAVIOUR, answer_of(diff, kind, old, new)) for kind, old, new in case.done)
    changes = sum(number for (changed, _), number in told.items() if changed)
    assert told[True, "found"] >= 0.95 * changes and told[False, "reported"] <= 2, (told, player.new)


def test_a_diff_asks_the_model_only_if_told_to_and_leaves_open_what_it_does_not_answer(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    with serving(Refuses(401)) as model, open_home(tmp_path / "home", settings=settings(model)) as home:
        plain = home.bridge.diff(*folders)
        assert not model.requests
        asked = home.bridge.diff(*folders, ask=True)
    assert asked.note and asked.differences == plain.differences


def test_a_diff_that_is_to_ask_needs_a_model(tmp_path: Path, folders: tuple[str, str]) -> None:
    with open_home(tmp_path / "home") as home, pytest.raises(BadSetting, match="No model is set"):
        home.bridge.diff(*folders, ask=True)
