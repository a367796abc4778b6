"""No file makes a reader raise. Real transcripts with something odd in them, through every reader.

The suite tries a few; `make soak` tries a hundred thousand, or REVERIE_FUZZ of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reverie.safety.redact import redact
from reverie.storage.session_rows import head_values, turn_row
from reverie.transcripts.files import FileLimits, limited
from reverie.transcripts.readers import SNIFFED_BYTES, Intake, readers
from tests.conftest import HomeMaker
from tests.odd_transcripts import DEEPEST, mutated, odd_database, odd_openclaw, odd_opencode
from tests.sizes import sized

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "transcripts"
SEEDS = sorted(path for path in TRANSCRIPTS.rglob("*") if path.suffix in (".json", ".jsonl", ".traj"))
PLAIN = json.dumps(
    {
        "id": "p",
        "user": "kim",
        "started_at": "2026-03-01",
        "outcome": 1,
        "cwd": "/w",
        "messages": [
            {"role": "user", "content": "Where is it?", "name": "kim"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Here."}],
                "tool_calls": [{"function": {"name": "ls"}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "a.txt", "timestamp": 1772000000},
        ],
    }
).encode()
DATABASES = (
    ("state.db", odd_database),
    ("opencode.db", odd_opencode),
    ("openclaw-agent.sqlite", odd_openclaw),
)
COUNT = int(os.environ.get("REVERIE_FUZZ", sized(1_500, 5_000, 100_000)))
PARTS = max(5, COUNT // 2_000)


def odd_files(folder: Path, random: Random, count: int) -> Iterator[Path]:
    """One after the other at the same few places: their names and what lies beside them tell readers something."""
    for number in range(count):
        if number % 20 == 0:
            name, make = DATABASES[number // 20 % len(DATABASES)]
            path = folder / f"{number % 2}" / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            make(path, random)
        else:
            seed = random.choice((None, *SEEDS))
            path = folder / (seed.relative_to(TRANSCRIPTS) if seed else Path("plain.json"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(mutated(seed.read_bytes() if seed else PLAIN, random))
        yield path


def read_through(path: Path, owner: str = "kim") -> int:
    """All that adding does with a file but the database; every text in it must be one that a database can hold."""
    start, turns = path.read_bytes()[:SNIFFED_BYTES], 0
    for reader in readers():
        if not reader.recognises(path, start):
            continue
        intake = Intake(owner, lambda text: (redact(text).text, {}))
        for reading in intake.sessions(reader.read(path)):
            for turn in reading.turns():
                turns += 1
                _storable(turn_row(turn))
            _storable((reading.head.id, reading.head.user, *head_values(reading.head).values()))
    return turns


def _storable(row: tuple[object, ...]) -> None:
    for value in row:
        if isinstance(value, str):
            assert "\0" not in value
            value.encode()
        if isinstance(value, int) and not isinstance(value, bool):
            assert -(2**63) <= value < 2**63


@pytest.mark.parametrize("part", range(PARTS))
def test_no_odd_transcript_makes_a_reader_fail(part: int, tmp_path: Path) -> None:
    random, turns = Random(part), 0
    for path in odd_files(tmp_path, random, COUNT // PARTS):
        before = random.getstate()
        try:
            with limited(FileLimits(seconds=20)):
                turns += read_through(path)
        except Exception as error:
            kept = tmp_path / f"failed{path.suffix}"
            kept.write_bytes(path.read_bytes())
            raise AssertionError(f"{path.relative_to(tmp_path)} of part {part}: {error!r}; kept as {kept}") from error
        assert random.getstate() == before
    assert turns > COUNT // PARTS  # most of them are still read


def test_odd_transcripts_are_added_with_the_others(homes: HomeMaker, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number, path in enumerate(odd_files(tmp_path / "logs", Random(99), 40)):
        path.rename(path.with_name(f"{number}-{path.name}"))
    (folder / "deep.json").write_text('{"messages": [{"role": "user", "content": ' + DEEPEST)
    (folder / "zz-good.json").write_bytes(PLAIN)
    home = homes(tmp_path / "home")
    added = home.sessions.add(folder)
    assert not [flaw for flaw in added.flaws if "Please report it" in flaw.why]
    assert home.sessions.get("p").turn(1).text == "Where is it?"
    assert any(flaw.path.endswith("deep.json") for flaw in added.flaws)
