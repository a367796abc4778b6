"""Power lost at any moment: whatever was not synced by then may be gone, in any combination."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.system.files import remove_file, replace_file
from tests.faults.driving import driven
from tests.faults.fixtures import Tallied
from tests.faults.power import Record, Said, Write, contents
from tests.faults.tallying import FULL
from tests.sizes import sized

OLD, NEW = b"old\n" * 700, b"new!\n" * 800


def recorded(folder: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> Record:
    """What is asked of the system while it is done. Every call is really made; a copy of it is kept."""
    record, handles = Record(contents(folder)), dict[int, str]()
    opening, writing, syncing, renaming, removing = os.open, os.write, os.fsync, os.rename, os.unlink

    def at(name: Any, dir_fd: int | None) -> str:
        return str(name) if dir_fd is None else f"{handles[dir_fd]}/{name}"

    def open_(name: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        handle = opening(name, flags, mode, dir_fd=dir_fd)
        handles[handle] = at(name, dir_fd)
        if flags & os.O_CREAT:
            record.opened(handles[handle])
        return handle

    def write(handle: int, content: Any) -> int:
        done = writing(handle, content)
        file = record.files[handles[handle]]
        before = sum(len(one.content) for one in record.steps if isinstance(one, Write) and one.file == file)
        record.steps.append(Write(file, before, bytes(content[:done])))
        return done

    def fsync(handle: int) -> None:
        syncing(handle)
        record.synced(handles[handle])

    def rename(old: Any, new: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        renaming(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        record.renamed(at(old, src_dir_fd), at(new, dst_dir_fd))

    def unlink(name: Any, *, dir_fd: int | None = None) -> None:
        removing(name, dir_fd=dir_fd)
        record.removed(at(name, dir_fd))

    with monkeypatch.context() as patched:
        for name, watched in (("open", open_), ("write", write), ("fsync", fsync), ("rename", rename)):
            patched.setattr(os, name, watched)
        patched.setattr(os, "unlink", unlink)
        act()
    record.steps.append(Said("done", ""))
    return record


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (None, NEW), (OLD, None)])
def test_a_file_is_the_old_or_the_new_after_a_power_cut_and_the_new_once_that_was_said(
    tallied: Tallied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None, after: bytes | None
) -> None:
    tally = tallied("F2", "power cut at any step of replacing or removing one file; unsynced steps lost in any order")
    path = tmp_path / "MEMORY.md"
    if before is not None:
        path.write_bytes(before)
    act = (lambda: remove_file(path)) if after is None else (lambda: replace_file(path, after))
    for disk, said in recorded(tmp_path, monkeypatch, act).disks():
        tally.points += 1
        found = disk.get(str(path))
        if found not in (before, after):
            tally.torn.append(f"{len(found or b'')} bytes")
        if said and found != after:
            tally.lost.append("it was said to be there")


@pytest.mark.parametrize("scenario", ["write", "propose", "undo", "recover-written"] if FULL else ["propose"])
@pytest.mark.timeout(7200)
def test_a_change_outlives_a_power_cut_with_its_history(tallied: Tallied, scenario: str) -> None:
    """Files and SQLite together: no disk a cut could leave has a text without its Change, or half of either."""
    tally = tallied("F2", "power cut at any system call of a change, files and SQLite together")
    driven(tally, "power", scenario, 1500 if FULL else sized(8, 16))
