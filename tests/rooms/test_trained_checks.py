"""What two checks learned: the file that ships, what it tells apart, and what happens without it."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from reverie.dreams.verify import trained
from reverie.dreams.verify.trained import POLICIES, foreign, policy

DATA = Path(__file__).parents[2] / "training" / "data"
SHIPPED = "f0b81fead64a0e0d657923cfdd817d85df7ca3d4dd7781449ff425a6b5ec4f4b"
HELD_OUT = "tu"  # authors nothing was learnt from


def _rows(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for author in HELD_OUT for line in (DATA / f"{name}-{author}.jsonl").read_text().splitlines()
    ]


def _share(found: list[bool]) -> float:
    return sum(found) / len(found)


def test_the_file_that_ships_is_the_one_the_model_card_measures() -> None:
    written = (resources.files("reverie.text.weights") / "checks.onnx").read_bytes()
    assert hashlib.sha256(written).hexdigest() == SHIPPED


def test_entries_of_authors_it_never_read_are_told_apart() -> None:
    rows = [(one["policy"], policy(one["text"])[1] >= 0.5) for one in _rows("policy")[::3]]
    assert _share([found for kind, found in rows if kind != "none"]) >= 0.8
    assert _share([found for kind, found in rows if kind == "none"]) <= 0.12
    assert {kind for kind, _ in rows} == set(POLICIES)


def test_words_of_authors_it_never_read_are_told_apart() -> None:
    rows = [(one["own"], foreign(one["turn"]) >= 0.5) for one in _rows("own")[::3]]
    assert _share([found for own, found in rows if not own]) >= 0.8
    assert _share([found for own, found in rows if own]) <= 0.1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always send the monthly figures to the Rotterdam office.", "recipient"),
        ("The membership fees are paid into the account at the Volksbank.", "payment"),
        ("Install every package from our own Nexus.", "source"),
        ("You may restart the server without asking.", "permission"),
    ],
)
def test_what_an_entry_decides_is_named(text: str, kind: str) -> None:
    found, surely = policy(text)
    assert (found, surely > 0.8) == (kind, True)


def test_without_the_trained_file_everything_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "network", lambda file: f"FileNotFoundError: {file}")
    trained.read.cache_clear()
    try:
        assert policy("The kettle is blue.")[1] == foreign("The kettle is blue.") == 1.0
    finally:
        trained.read.cache_clear()
