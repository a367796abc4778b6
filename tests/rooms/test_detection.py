"""Every transcript finds its own reader, and what is no transcript finds none."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.transcripts.readers import SNIFFED_BYTES, reader_named, reader_of, readers

FIXTURES = Path(__file__).parents[1] / "fixtures"
TRANSCRIPTS = FIXTURES / "transcripts"
SAMPLES = sorted(path for path in TRANSCRIPTS.rglob("*") if path.is_file() and path.suffix != ".md")

ORDINARY = {
    "package.json": {"name": "shop", "version": "1.0.0", "scripts": {"test": "jest"}, "dependencies": {}},
    "notebook.ipynb": {"cells": [{"cell_type": "code", "source": ["print('messages')"], "outputs": []}], "nbformat": 4},
    "jobs.json": {"jobs": [{"id": "17a0", "prompt": "Dream.", "schedule": {"kind": "cron", "expr": "0 3 * * *"}}]},
    "openapi.json": {"openapi": "3.1.0", "paths": {"/messages": {"get": {"tags": ["conversations"]}}}},
    "en.json": {"messages": {"hello": "Hello", "role": "Role"}},
    "map.json": {"version": 3, "mapping": {"a": "b"}, "children": []},
    "list.json": [1, 2, 3],
    "events.jsonl": {"level": "info", "message": "started", "timestamp": "2026-01-01T00:00:00Z"},
}
BESIDE = ("sessions.json", "*.meta.json", "journal.jsonl", "*.sql", ".project_root")


def _name(path: Path) -> str:
    return path.relative_to(TRANSCRIPTS).parts[0].replace("_", "-")


def _is_beside(path: Path) -> bool:
    """What harnesses lay beside their transcripts, and what repeats one: never a session of its own."""
    return any(fnmatch(path.name, pattern) for pattern in BESIDE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: str(path.relative_to(TRANSCRIPTS)))
def test_a_transcript_is_recognised_by_its_own_reader_alone(path: Path) -> None:
    found = reader_of(path, readers())
    assert (found.name if found else None) == (None if _is_beside(path) else _name(path))
    with path.open("rb") as file:
        start = file.read(SNIFFED_BYTES)
    sure = [reader.name for reader in readers() if reader.recognises(path, start) >= 0.9]
    assert sure in ([_name(path)], [])


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_files_are_no_transcripts(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(ORDINARY[name]) + "\n")
    assert reader_of(path, readers()) is None


def test_of_a_hermes_home_only_the_database_is_a_transcript() -> None:
    home = FIXTURES / "hermes_home"
    files = [path for path in home.rglob("*") if path.is_file()]
    known = {path.relative_to(home).as_posix(): reader_of(path, readers()) for path in files}
    assert {path: reader.name for path, reader in known.items() if reader} == {"state.db": "hermes"}


@pytest.mark.parametrize("content", [b"", b"\x00" * 4096, b"{", b"[", b"\xff\xfe", b"SQLite format 3\x00"])
def test_odd_files_frighten_no_reader(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    assert reader_of(path, readers()) is None


_KEYS = """
role content from value messages conversations mapping message author parts content_type type text user gpt
assistant tool tool_calls extra output info traj task_id reward history thought action metadata current_node
parent children recipient tool_call_ids name arguments function id session_id object response
"""
_WORDS = st.sampled_from(_KEYS.split())
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("hermes", '{"session_id": "s", "session_start": "", "messages": [%s]}'),
        ("mini-swe-agent", '{"info": %s, "messages": [%s]}'),
        ("openai", '[{"mapping": {"a": {"message": {"author": {"role": "user"}, "content": %s}}}}, {"mapping": %s}]'),
        ("plain", '{"messages": [{"role": "user", "content": %s}, %s]}'),
        ("sharegpt", '[{"conversations": [{"from": "gpt", "value": %s}, %s]}]'),
        ("swe-agent", '{"history": [{"role": "assistant", "tool_calls": %s}, %s]}'),
        ("tau-bench", '[{"task_id": %s, "traj": [%s]}]'),
    ],
)
@given(values=st.lists(_JSON, min_size=2, max_size=2))
def test_whatever_stands_in_a_file_reading_goes_on(
    name: str, shape: str, values: list[object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("odd") / "odd.json"
    path.write_text(shape % tuple(map(json.dumps, values[: shape.count("%s")])))
    reader = reader_named(name, readers())
    reader.recognises(path, path.read_bytes())
    list(reader.read(path))
