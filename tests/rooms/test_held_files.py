"""One file exchanged while others may write to it: what is expected there is replaced, anything else stays."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie.core.ids import sha256
from reverie.system.shared_files import HeldFiles, has_displaced_files

OLD, NEW, THEIRS = b"old\n", b"new\n", b"saved by someone else\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memories" / "MEMORY.md"
    path.parent.mkdir()
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def held(file: Path, meanwhile: Callable[[], object] = lambda: None) -> HeldFiles:
    """`meanwhile` happens while the owner's lock is waited for."""

    @contextmanager
    def alone(_: str) -> Iterator[None]:
        meanwhile()
        yield

    return HeldFiles(lambda document: file.parent / document, alone)


def content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def beside(file: Path) -> list[str]:
    return [path.name for path in file.parent.iterdir() if path != file]


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (None, NEW), (OLD, None), (None, None), (OLD, b"")])
def test_what_is_expected_is_replaced_and_nothing_is_left_beside(
    file: Path, before: bytes | None, after: bytes | None
) -> None:
    if before is None:
        file.unlink()
    assert held(file).write(file.name, after, before)
    assert content(file) == after
    assert beside(file) == []
    if before is not None and after is not None:
        assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("after", [NEW, None])
@pytest.mark.parametrize("theirs", [THEIRS, None])
def test_what_someone_saved_or_took_away_meanwhile_stays_so(
    file: Path, after: bytes | None, theirs: bytes | None
) -> None:
    other = held(file, lambda: file.write_bytes(theirs) if theirs is not None else file.unlink())
    assert not other.write(file.name, after, OLD)
    assert content(file) == theirs
    assert beside(file) == []


def test_a_file_that_someone_made_meanwhile_stays(file: Path) -> None:
    file.unlink()
    assert not held(file, lambda: file.write_bytes(THEIRS)).write(file.name, NEW, None)
    assert content(file) == THEIRS
    assert beside(file) == []


def test_a_displaced_file_is_kept_while_someone_can_write_to_it_and_no_longer(file: Path) -> None:
    ours = held(file)
    with file.open("ab") as editor:
        assert ours.write(file.name, NEW, OLD)
        assert has_displaced_files(file) and ours.displaced(file.name) == []
        editor.write(THEIRS)
        editor.flush()
        (late,) = ours.displaced(file.name)
        assert (late.base, late.content) == (sha256(OLD), OLD + THEIRS)
        late.recorded()
        assert has_displaced_files(file) and ours.displaced(file.name) == []
        editor.write(THEIRS)
        editor.flush()
        (later,) = ours.displaced(file.name)
        assert (later.base, later.content) == (sha256(OLD + THEIRS), OLD + THEIRS + THEIRS)
    later.recorded()
    assert not has_displaced_files(file) and beside(file) == []


def test_who_only_reads_the_old_file_keeps_nothing(file: Path) -> None:
    with file.open("rb") as reader:
        assert held(file).write(file.name, NEW, OLD)
        assert reader.read() == OLD
        assert beside(file) == []


def test_a_file_that_was_prepared_and_never_used_is_no_news(file: Path) -> None:
    """What a kill between the preparation and the exchange leaves."""
    left = file.with_name("left")
    left.write_bytes(NEW)
    mark = sha256(file.name)[:16]
    left.rename(file.with_name(f".reverie-{mark}-{sha256(OLD)}-{left.stat().st_ino:x}-00000000.kept"))
    assert has_displaced_files(file)
    assert held(file).displaced(file.name) == []
    assert (content(file), beside(file)) == (OLD, [])


def test_a_second_name_of_the_file_that_a_kill_left_is_no_news(file: Path) -> None:
    """Where names cannot be exchanged the old file has two names for a moment."""
    os.link(file, file.with_name(f".reverie-{sha256(file.name)[:16]}-{sha256(OLD)}-0-00000000.kept"))
    assert held(file).displaced(file.name) == []
    assert held(file).write(file.name, NEW, OLD)
    assert (content(file), beside(file)) == (NEW, [])


def test_a_link_under_the_name_of_a_displaced_file_is_left_alone(file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    name = f".reverie-{sha256(file.name)[:16]}-{sha256(OLD)}-0-00000000.kept"
    file.with_name(name).symlink_to(secret)
    assert held(file).displaced(file.name) == []
    assert held(file).write(file.name, NEW, OLD)
    assert (beside(file), secret.read_bytes()) == ([name], b"secret")
