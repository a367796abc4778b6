"""The memory of a Hermes home, as Hermes' own tool would find it afterwards."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.core.errors import BadInput, NotPermitted
from reverie.harnesses.hermes.folder import HermesTarget
from reverie.memory.operation import Add, Applied, Remove, Replace, Unfit, applied, entry_hash

BEFORE = "Project demo uses pytest with xdist\n§\nStaging DB host is db-stage.internal\nport 5433\n§\nCI runs on GitHub"


@pytest.fixture
def hermes(tmp_path: Path) -> Path:
    memories = tmp_path / "memories"
    memories.mkdir()
    (memories / "MEMORY.md").write_text(BEFORE)
    (memories / "MEMORY.md").chmod(0o640)
    return tmp_path


def changed(before: bytes) -> bytes:
    old = entry_hash("Staging DB host is db-stage.internal\nport 5433")
    operations = [Replace("MEMORY.md", old, "Staging DB is db2.internal:6432"), Add("MEMORY.md", "Money is Decimal")]
    outcome = applied(before, "hermes", operations, 2200)
    assert isinstance(outcome, Applied)
    return outcome.after


def rewrite(hermes: Path, document: str, change: Callable[[bytes], bytes | None]) -> None:
    with HermesTarget(hermes).held(document) as held:
        before = held.read(document)
        while not held.write(document, change(before or b""), before):  # someone else saved meanwhile
            before = held.read(document)


def test_a_change_touches_its_entries_and_nothing_else(hermes: Path) -> None:
    rewrite(hermes, "MEMORY.md", changed)
    path = hermes / "memories" / "MEMORY.md"
    assert path.read_text().split("\n§\n") == [
        "Project demo uses pytest with xdist",
        "Staging DB is db2.internal:6432",
        "CI runs on GitHub",
        "Money is Decimal",
    ]
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in path.parent.iterdir()) == ["MEMORY.md", "MEMORY.md.lock"]


def test_a_document_that_is_not_there_yet_is_made_for_its_owner_alone(hermes: Path) -> None:
    target = HermesTarget(hermes)
    assert target.read("USER.md") is None
    rewrite(hermes, "USER.md", lambda before: before + b"Prefers short answers")
    path = hermes / "memories" / "USER.md"
    assert path.read_bytes() == b"Prefers short answers"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_document_can_be_taken_away_again(hermes: Path) -> None:
    for _ in range(2):
        rewrite(hermes, "MEMORY.md", lambda before: None)
        assert HermesTarget(hermes).read("MEMORY.md") is None


def test_hermes_own_lock_is_waited_for_and_what_it_wrote_meanwhile_is_kept(hermes: Path) -> None:
    path = hermes / "memories" / "MEMORY.md"
    handle = os.open(path.with_name("MEMORY.md.lock"), os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    writer = threading.Thread(target=rewrite, args=(hermes, "MEMORY.md", changed))
    writer.start()
    time.sleep(0.2)
    assert path.read_text() == BEFORE
    path.write_text(BEFORE + "\n§\nwritten by Hermes")
    os.close(handle)
    writer.join(10)
    assert "written by Hermes" in path.read_text()
    assert "Money is Decimal" in path.read_text()


def test_limits_come_from_hermes_configuration(hermes: Path) -> None:
    assert [place.budget for place in HermesTarget(hermes).places()] == [2200, 1375]
    (hermes / "config.yaml").write_text("model:\n  memory_char_limit: 1\nmemory:\n  memory_char_limit: 9000\n")
    assert [place.budget for place in HermesTarget(hermes).places()] == [9000, 1375]


def test_a_link_is_not_followed_and_other_names_are_refused(hermes: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (hermes / "memories" / "USER.md").symlink_to(victim)
    with pytest.raises(NotPermitted):
        rewrite(hermes, "USER.md", lambda before: b"overwritten")
    assert victim.read_text() == "mine"
    for name in ("../config.yaml", "SOUL.md", ""):
        with pytest.raises(BadInput):
            HermesTarget(hermes).read(name)


def test_removing_every_entry_leaves_an_empty_document(hermes: Path) -> None:
    def emptied(before: bytes) -> bytes:
        entries = before.decode().split("\n§\n")
        outcome = applied(before, "hermes", [Remove("MEMORY.md", entry_hash(entry)) for entry in entries])
        assert isinstance(outcome, Applied)
        return outcome.after

    rewrite(hermes, "MEMORY.md", emptied)
    assert (hermes / "memories" / "MEMORY.md").read_bytes() == b""


def test_memories_that_lie_behind_a_link_are_written_where_they_are(hermes: Path, tmp_path: Path) -> None:
    (hermes / "memories").rename(tmp_path / "synced")
    (hermes / "memories").symlink_to(tmp_path / "synced")
    rewrite(hermes, "MEMORY.md", changed)
    assert "Money is Decimal" in (tmp_path / "synced" / "MEMORY.md").read_text()
    assert (hermes / "memories").is_symlink()


def test_a_folder_swapped_for_a_link_while_it_is_held_is_not_followed(hermes: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "MEMORY.md").write_text(BEFORE)
    with HermesTarget(hermes).held("MEMORY.md") as held:
        after = changed(held.read("MEMORY.md") or b"")
        (hermes / "memories").rename(hermes / "aside")
        (hermes / "memories").symlink_to(victim)
        with pytest.raises(NotPermitted):
            held.write("MEMORY.md", after, BEFORE.encode())
    assert (victim / "MEMORY.md").read_text() == (hermes / "aside" / "MEMORY.md").read_text() == BEFORE


def test_limits_are_read_however_the_section_is_written(hermes: Path) -> None:
    (hermes / "config.yaml").write_text("memory: {memory_char_limit: '9000', user_char_limit: 800}  # ours\nother: 1\n")
    assert [place.budget for place in HermesTarget(hermes).places()] == [9000, 800]
    (hermes / "config.yaml").write_text("memory:\n  # memory_char_limit: 1\n  user_char_limit: 900\n")
    assert [place.budget for place in HermesTarget(hermes).places()] == [2200, 900]


def test_settings_that_cannot_be_read_are_named(hermes: Path) -> None:
    (hermes / "config.yaml").mkdir()
    with pytest.raises(NotPermitted, match=r"config\.yaml could not be read"):
        HermesTarget(hermes).places()


@pytest.mark.parametrize("text", ["a\r§\rb", "a\r\nb", "a\n§", "§\na", "§", "a\n§\nb", "half \ud800 a character"])
def test_a_text_that_hermes_would_read_otherwise_is_unfit(text: str) -> None:
    assert isinstance(applied(BEFORE.encode(), "hermes", [Add("MEMORY.md", text)], 2200), Unfit)


@pytest.mark.parametrize(
    ("config", "asks"),
    [
        ("memory:\n  write_approval: true\n", True),
        ("memory: {memory_char_limit: 2200, write_approval: 'on'}\n", True),
        ("memory:\n  write_approval: false  # not true\n", False),
        ("skills:\n  write_approval: true\n", False),
        ("", False),
    ],
)
def test_a_hermes_that_wants_its_memory_approved_is_known_by_its_settings(
    hermes: Path, config: str, asks: bool
) -> None:
    (hermes / "config.yaml").write_text(config)
    assert bool(HermesTarget(hermes).approval) is asks
