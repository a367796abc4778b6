"""The trained tagger: the file that ships, what it reads, and what happens without it."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

import pytest

from reverie.dreams.light import tagger
from reverie.dreams.light.tagger import KINDS, WHYS, tag_sentences

DATA = Path(__file__).parents[2] / "training" / "data"
SHIPPED = "96571ee5b7ca68b4504f9167a04b05e3c264578b17c5646fd87124d9998add46"


def test_the_file_that_ships_is_the_one_the_model_card_measures() -> None:
    written = (resources.files("reverie.text.weights") / "tagger.onnx").read_bytes()
    assert hashlib.sha256(written).hexdigest() == SHIPPED


@pytest.mark.parametrize(
    ("said", "kind", "above"),
    [
        ("Please always write dates as 2026-11-16 in our minutes.", "instruction", True),
        ("We moved the backups from tape to the new NAS in March.", "update", True),
        ("I never eat anything with coriander in it.", "preference", True),
        ("Hemos decidido usar solo SQLite.", "decision", True),
        ("can you run that once more?", "question", False),
        ("I'm so tired today", "emotion", False),
        ("what would happen if we dropped the index?", "question", False),
    ],
)
def test_a_fixed_set_of_turns_stands_on_the_same_side_on_every_machine(said: str, kind: str, above: bool) -> None:
    """With room to spare on both sides, so that a processor's rounding cannot tip one over."""
    reading = tag_sentences([said])[0].between(0, len(said))
    assert reading.keep > 0.5 if above else reading.keep < 0.1
    if above:
        assert reading.kind == kind


def test_reading_together_and_one_by_one_gives_the_same() -> None:
    said = ["We ship on Tuesdays.", "ok", "Could you check the invoice again, and never use the old letterhead?"]
    together = [one.between(0, 200) for one in tag_sentences(said)]
    alone = [tag_sentences([one])[0].between(0, 200) for one in said]
    for one, other in zip(together, alone, strict=True):
        assert one.keep == pytest.approx(other.keep, abs=0.05)
        assert (one.keep >= 0.5, one.kind) == (other.keep >= 0.5, other.kind)


def test_a_long_turn_is_read_to_its_end() -> None:
    said = "I ran the export once more.\n" * 200 + "From now on, always use metric units with me."
    read = tag_sentences([said])[0]
    assert read.ends[-1] == len(said)
    assert read.between(said.index("From now"), len(said)).kind == "instruction"
    assert tag_sentences([""])[0].between(0, 0).keep == 0.0


def test_without_the_trained_file_a_short_list_of_cues_reads_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger, "_loaded", lambda: "FileNotFoundError: tagger.onnx")
    said = "We never deploy on Fridays. Is that so?"
    read = tag_sentences([said])[0]
    assert (read.between(0, 27).kind, read.between(0, 27).keep > 0.5) == ("instruction", True)
    assert read.between(28, len(said)).keep == 0.0
    assert "tagger.onnx" in tagger.state()


def test_the_classes_are_those_the_training_data_has() -> None:
    rows = [json.loads(line) for path in DATA.glob("notice-*.jsonl") for line in path.read_text("utf-8").splitlines()]
    assert {one["kind"] for row in rows for one in row["keep"]} == set(KINDS)
    assert {row["why"] for row in rows if not row["keep"]} == set(WHYS)
