"""Disks that are full, that fail, or that may not be written. The error is clean, and nothing is half done."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie.changes.land import Landed
from reverie.core.errors import NotPermitted, ReverieError
from reverie.memory.operation import Add
from tests.faults.driving import driven
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, House, broken, build, entries, left_behind, works
from tests.faults.killing import forked
from tests.faults.tallying import FULL, Tally, spread

ROOT = os.geteuid() == 0
NOBODY = 65534
EVERY = 1_000_000
TEXT = "Money is Decimal. " * 20


def tried(house: House) -> str:
    """A write in a process of its own: `landed`, or the error as its caller sees it."""

    def work(say: Callable[[object], None]) -> None:
        with house.opened() as home:
            try:
                outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, TEXT.strip())])
                say("landed" if isinstance(outcome, Landed) else f"not done: {outcome}")
            except ReverieError as error:
                say(f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 — that nobody explained it is what is looked for
                say(f"crash: {type(error).__name__}: {error}")

    (said, _), _ = forked(work)
    return said[-1] if said else "crash: not a word"


def looked_at(house: House, said: str, tally: Tally, where: str) -> None:
    """Once the fault is over: complete-old or complete-new, as it was said, nothing left, and the next write works."""
    tally.points += 1
    new = f"{MEMORY}\n§\n{TEXT.strip()}".encode()
    found = house.memory.read_bytes()
    if found not in (MEMORY.encode(), new):
        tally.torn.append(f"{where}: {found!r}")
    if said == "landed" and found != new:
        tally.lost.append(f"{where}: it was said to have landed")
    if said.startswith(("crash", "not done")) or ("Nothing was changed" in said and found == new):
        tally.other.append(f"{where}: {said}")
    tally.torn += [f"{where}: left {name}" for name in left_behind(house)]
    with house.opened() as home:
        list(home.memory.entries("hermes"))
        tally.manual += [f"{where}: {one}" for one in works(house, home)]


# ---- F3: full --------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=False)
    if done.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(not ROOT or shutil.which("mount") is None, reason="only root can mount a small disk")
def test_a_full_disk_loses_nothing_and_works_again_when_there_is_room(tallied: Tallied, tmp_path: Path) -> None:
    """The disk is filled up to so many bytes: now the database does not fit, now the file, now neither."""
    tally = tallied("F3", "a write on a disk with so much room left, then with room again")
    rooms = [kilobytes * 1024 for kilobytes in range(0, 264, 4)]
    built = build(tmp_path / "disk" / "house")
    built.folder.rename(tmp_path / "stored")
    (tmp_path / "disk").rmdir()
    with small_disk(tmp_path / "disk", "2m") as disk:
        for room in rooms if FULL else spread(rooms, 8):
            house = House(tmp_path / "stored").copied(disk / "house")
            filler = disk / "filler"
            free = shutil.disk_usage(disk).free
            filler.write_bytes(b"x" * max(0, free - room))
            said = tried(house)
            filler.unlink()
            looked_at(house, said, tally, f"{room} bytes left")
            shutil.rmtree(house.folder)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("scenario", ["write", "propose", "recover-intended"] if FULL else ["write"])
def test_a_disk_that_fills_up_at_any_write_loses_nothing(tallied: Tallied, scenario: str) -> None:
    tally = tallied("F3", "no space from the n-th write on, SQLite's included")
    driven(tally, "tracing", "full", scenario, EVERY if FULL else 5)


# ---- F4: short writes ------------------------------------------------------------------------------------------------


def test_a_limit_on_file_sizes_tears_nothing(tallied: Tallied, tmp_path: Path) -> None:
    """Under RLIMIT_FSIZE a write is cut short before the next one fails."""
    tally = tallied("F4", "files may grow to n bytes: writes fall short, then fail")
    built = build(tmp_path / "house")
    built.folder.rename(tmp_path / "stored")
    size = (tmp_path / "stored" / "home" / "reverie.db").stat().st_size
    limits = [*range(1, 600, 50), *range(4096, 40_000, 4096), size, *range(size, size + 200_000, 24_576)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in limits if FULL else spread(limits, 8):
        house = House(tmp_path / "stored").copied(tmp_path / "house")
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            said = tried(house)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        looked_at(house, said, tally, f"limit {limit}")


# ---- F5: input and output fail ---------------------------------------------------------------------------------------


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("what", ["sync", "read", "write"] if FULL else ["sync,read,write"])
@pytest.mark.parametrize("scenario", ["write", "propose", "undo"] if FULL else ["write"])
def test_a_disk_that_fails_once_is_never_reported_as_success(tallied: Tallied, what: str, scenario: str) -> None:
    tally = tallied("F5", "EIO at the n-th read, write or sync, SQLite's included")
    driven(tally, "tracing", what, scenario, EVERY if FULL else 3)


# ---- F6: may not be written ------------------------------------------------------------------------------------------


def refused(house: House, tally: Tally, named: Path) -> None:
    """The message names what may not be written, and it is as it was, and works when it may."""
    before = house.memory.read_bytes()
    with house.opened() as home:
        tally.points += 1
        with pytest.raises(NotPermitted, match=str(named)):
            home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "not now")])
        assert house.memory.read_bytes() == before
        assert left_behind(house) == []
        assert broken(home) == []


def allowed_again(house: House, tally: Tally) -> None:
    with house.opened() as home:
        tally.manual += works(house, home)
    assert "not now" not in entries(house)


@pytest.mark.skipif(not ROOT or shutil.which("chattr") is None, reason="only root can make a file immutable")
@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_file_or_folder_that_is_immutable_is_named(tallied: Tallied, house: House, which: str) -> None:
    tally = tallied("F6", "an immutable file or folder, a disk mounted read-only, no right to write")
    (house.memory.parent / f"{DOCUMENT}.lock").touch()
    target = house.memory if which == "file" else house.memory.parent
    if subprocess.run(["chattr", "+i", str(target)], check=False, capture_output=True).returncode:
        pytest.skip("this file system knows no immutable files")
    try:
        refused(house, tally, house.memory)
    finally:
        subprocess.run(["chattr", "-i", str(target)], check=True)
    allowed_again(house, tally)


@pytest.mark.skipif(not ROOT or shutil.which("mount") is None, reason="only root can mount read-only")
def test_a_disk_mounted_read_only_is_named(tallied: Tallied, house: House) -> None:
    tally = tallied("F6", "an immutable file or folder, a disk mounted read-only, no right to write")
    place = str(house.hermes)
    if subprocess.run(["mount", "--bind", place, place], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        refused(house, tally, house.memory.parent)
    finally:
        subprocess.run(["umount", place], check=True)
    allowed_again(house, tally)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may enter, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="rv-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_belongs_to_others_is_named(
    tallied: Tallied, open_folder: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    """As someone who is not root: mode bits bind."""
    tally = tallied("F6", "an immutable file or folder, a disk mounted read-only, no right to write")
    monkeypatch.setenv("HOME", str(open_folder))
    house = build(open_folder / "house")
    target = house.memory if which == "file" else house.memory.parent
    if ROOT:
        for path in [house.folder, *house.folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    mode = target.stat().st_mode
    target.chmod(mode & ~0o222)

    def work(say: Callable[[object], None]) -> None:
        if ROOT:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        refused(house, tally, house.memory)
        say("refused")

    (said, _), _ = forked(work)
    tally.points += 1
    target.chmod(mode)
    assert said == ["refused"]
    allowed_again(house, tally)
