"""Files that outlive full disks, failing disks, kills and swapped names. The faults are real; nothing is patched.

A small C library, loaded before libc, makes the n-th call of a kind fail, fall short or kill the process. Where there
is no compiler those tests are skipped.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from reverie.core.errors import NoSpace, NotFound, NotPermitted, ReverieError, StillLocked
from reverie.system.files import (
    flocked,
    flocked_folder,
    make_folder,
    read_file,
    remove_file,
    replace_file,
    sync_folder,
)
from reverie.system.shared_files import HeldFiles

OLD, NEW = b"old\n" * 700, b"new!\n" * 800
ROOT = os.geteuid() == 0
NOBODY = 65534

CHILD = """
import os, resource, sys
from pathlib import Path
from reverie.system.files import read_file, remove_file, replace_file

path, fault, uid, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.environ["FAULT"] = fault
try:
    replace_file(path, b"new!\\n" * 800)
    said = "written"
except Exception as error:
    said = f"{type(error).__name__}: {error}"
os.environ.pop("FAULT")
print(said)
"""

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO, FAILS, FALLS_SHORT };

/* FAULT=fsync:2:5 lets the second fsync fail with errno 5; 0 in its place kills, -1 writes only half. */
static int fault(const char *call) {
    static int seen;
    char name[32];
    int when, code;
    const char *wanted = getenv("FAULT");
    if (!wanted || sscanf(wanted, "%31[^:]:%d:%d", name, &when, &code) != 3 || strcmp(name, call)) return NO;
    if (++seen != when) return NO;
    if (code == 0) raise(SIGKILL);
    if (code < 0) return FALLS_SHORT;
    errno = code;
    return FAILS;
}
int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    return fault("fsync") ? -1 : real(fd);
}
ssize_t write(int fd, const void *bytes, size_t size) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    int how = fault("write");
    return how == FAILS ? -1 : real(fd, bytes, how == FALLS_SHORT ? size / 2 : size);
}
int renameat(int from, const char *old, int to, const char *name) {
    int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
    return fault("renameat") ? -1 : real(from, old, to, name);
}
"""


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("faults are put in by a library that a C compiler on Linux has to make")
    source = tmp_path_factory.mktemp("shim") / "faults.c"
    source.write_text(SHIM)
    made = source.with_suffix(".so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"], check=True, timeout=60)
    return made


def written_by_a_child(path: Path, fault: str = "", shim: Path | None = None, uid: int = 0, limit: int = 0) -> str:
    """What became of a write in a process of its own: `written`, the error, or nothing when it was killed."""
    environment = {**os.environ, **({"LD_PRELOAD": str(shim)} if shim else {})}
    command = [sys.executable, "-c", CHILD, str(path), fault, str(uid), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.stdout.strip()


def beside(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.iterdir() if one != path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "MEMORY.md"
    path.parent.mkdir()
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


# ---- what a write does ------------------------------------------------------------------------------------------


def test_a_write_replaces_the_whole_file_and_keeps_its_mode(file: Path) -> None:
    replace_file(file, NEW)
    assert (file.read_bytes(), file.stat().st_mode & 0o777, beside(file)) == (NEW, 0o640, [])
    replace_file(file, b"")
    assert file.read_bytes() == b""


def test_a_new_file_is_its_owners_alone_and_so_is_every_folder_made_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "USER.md"
    make_folder(path.parent)
    replace_file(path, NEW)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {folder.stat().st_mode & 0o777 for folder in (path.parent, path.parent.parent)} == {0o700}


def test_what_is_not_there_is_read_as_nothing_and_removed_without_ado(tmp_path: Path) -> None:
    for path in (tmp_path / "none.md", tmp_path / "no" / "folder.md"):
        assert read_file(path) is None
        remove_file(path)
    with pytest.raises(NotFound, match="no could not be opened"):
        replace_file(tmp_path / "no" / "folder.md", NEW)


def test_a_removed_file_is_gone(file: Path) -> None:
    remove_file(file)
    assert read_file(file) is None
    sync_folder(file.parent)


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
def test_owner_and_group_stay_who_they_were(file: Path) -> None:
    os.chown(file, 12345, 12346)
    replace_file(file, NEW)
    assert (file.stat().st_uid, file.stat().st_gid, file.stat().st_mode & 0o777) == (12345, 12346, 0o640)


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
def test_the_rights_of_a_group_we_are_not_in_are_not_given_to_ours(open_folder: Path) -> None:
    path = open_folder / "MEMORY.md"
    path.write_bytes(OLD)
    path.chmod(0o664)
    os.chown(path, NOBODY, 12346)
    assert written_by_a_child(path, uid=NOBODY) == "written"
    assert (path.read_bytes(), path.stat().st_gid, path.stat().st_mode & 0o777) == (NEW, NOBODY, 0o604)


# ---- disks that are full or fail --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "said", "content"),
    [
        (f"write:1:{errno.ENOSPC}", "NoSpace", OLD),
        (f"write:1:{errno.EDQUOT}", "NoSpace", OLD),
        (f"write:1:{errno.EIO}", "DiskFailed", OLD),
        (f"fsync:1:{errno.EIO}", "DiskFailed", OLD),
        (f"fsync:1:{errno.ENOSPC}", "NoSpace", OLD),
        (f"renameat:1:{errno.EIO}", "DiskFailed", OLD),
        (f"renameat:1:{errno.EPERM}", "NotPermitted", OLD),
        (f"fsync:2:{errno.EIO}", "NotSynced", NEW),
        (f"fsync:2:{errno.EINVAL}", "written", NEW),
        ("write:1:-1", "written", NEW),
    ],
)
def test_a_fault_leaves_a_whole_file_and_a_true_account(
    file: Path, shim: Path, fault: str, said: str, content: bytes
) -> None:
    heard = written_by_a_child(file, fault, shim)
    assert heard.partition(":")[0] == said
    assert said == "written" or str(file) in heard
    assert (file.read_bytes(), beside(file)) == (content, [])
    assert written_by_a_child(file) == "written"


@pytest.mark.parametrize("fault", ["write:1:0", "fsync:1:0", "renameat:1:0", "fsync:2:0"])
def test_a_write_killed_at_any_step_leaves_a_whole_file_and_is_swept_an_hour_later(
    file: Path, shim: Path, fault: str
) -> None:
    assert written_by_a_child(file, fault, shim) == ""
    assert file.read_bytes() == (NEW if fault == "fsync:2:0" else OLD)
    left = beside(file)
    assert len(left) == (0 if fault == "fsync:2:0" else 1)
    replace_file(file, NEW)
    assert beside(file) == left  # it is young: someone may be writing it
    for name in left:
        os.utime(file.with_name(name), (time.time() - 3700,) * 2)
    replace_file(file, NEW)
    assert beside(file) == []


def test_nothing_but_our_own_leavings_is_swept(file: Path, tmp_path: Path) -> None:
    others = ["notes.tmp", ".mem_x.tmp", ".reverie-.tmp", ".reverie-dd/", ".reverie-ff.tmp"]
    for name in others[:-2]:
        file.with_name(name).write_text("mine")
    file.with_name(".reverie-dd").mkdir()
    file.with_name(".reverie-ff.tmp").symlink_to(tmp_path / "far")
    for path in file.parent.iterdir():
        os.utime(path, (1, 1), follow_symlinks=False)
    replace_file(file, NEW)
    assert beside(file) == sorted(name.strip("/") for name in others)


def test_a_limit_on_file_sizes_tears_nothing(file: Path) -> None:
    heard = written_by_a_child(file, limit=len(NEW) // 2)
    assert heard.startswith("NoSpace")
    assert (file.read_bytes(), beside(file)) == (OLD, [])


def test_the_limit_met_by_this_very_process_is_explained(file: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(NoSpace, match=r"Nothing was changed\. Make room"):
            replace_file(file, NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if not ROOT or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk needs root and the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_file_and_takes_the_new_one_when_there_is_room(small_disk: Path) -> None:
    path, ballast = small_disk / "MEMORY.md", small_disk / "ballast"
    path.write_bytes(OLD)
    with suppress(OSError):
        ballast.write_bytes(b"x" * 65536)
    with pytest.raises(NoSpace, match=r"MEMORY\.md could not be written: No space left"):
        replace_file(path, NEW)
    assert (path.read_bytes(), beside(path)) == (OLD, ["ballast"])
    ballast.unlink()
    replace_file(path, NEW)
    assert path.read_bytes() == NEW


# ---- what may not be written ------------------------------------------------------------------------------------


def test_a_disk_mounted_read_only_is_named(small_disk: Path) -> None:
    path = small_disk / "MEMORY.md"
    path.write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for write in (lambda: replace_file(path, NEW), lambda: remove_file(path)):
        with pytest.raises(NotPermitted, match=r"MEMORY\.md could not be .*: Read-only file system"):
            write()
    with pytest.raises(NotPermitted, match="Read-only"):
        make_folder(small_disk / "new")
    assert path.read_bytes() == OLD


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that a user without rights reaches, and owns where we may give it away."""
    folder = Path(tempfile.mkdtemp(prefix="rv-files-"))
    folder.chmod(0o755)
    if ROOT:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(("of_folder", "of_file"), [(0o555, 0o644), (0o755, 0o444)])
def test_a_read_only_folder_or_file_is_refused_by_name(open_folder: Path, of_folder: int, of_file: int) -> None:
    path = open_folder / "MEMORY.md"
    path.write_bytes(OLD)
    path.chmod(of_file)
    if ROOT:
        os.chown(path, NOBODY, NOBODY)
    open_folder.chmod(of_folder)
    heard = written_by_a_child(path, uid=NOBODY if ROOT else 0)
    assert heard.startswith(f"NotPermitted: {path} could not be written: Permission denied")
    assert (path.read_bytes(), beside(path)) == (OLD, [])


def test_a_file_that_is_immutable_is_refused_by_name(file: Path) -> None:
    chattr = shutil.which("chattr")
    if not ROOT or not chattr or subprocess.run([chattr, "+i", file], capture_output=True, check=False).returncode:
        pytest.skip("making a file immutable needs root, chattr and a file system that can")
    try:
        with pytest.raises(NotPermitted, match="not permitted"):
            replace_file(file, NEW)
        with pytest.raises(NotPermitted, match="not permitted"):
            remove_file(file)
        assert (file.read_bytes(), beside(file)) == (OLD, [])
    finally:
        subprocess.run([chattr, "-i", file], check=True)


def irregular(kind: str, path: Path) -> None:
    match kind:
        case "link":
            path.symlink_to(path.parent / "victim")
        case "dangling link":
            path.symlink_to(path.parent / "nowhere")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            try:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("making a device needs root")


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder", "device"])
def test_what_is_no_regular_file_is_neither_read_nor_written_nor_removed_nor_locked(tmp_path: Path, kind: str) -> None:
    (tmp_path / "victim").write_bytes(OLD)
    path = tmp_path / "MEMORY.md"
    irregular(kind, path)
    before = path.lstat().st_ino

    def lock() -> None:
        with flocked(path, 1):
            raise AssertionError("locked")

    touches: list[Callable[[], object]] = [
        lambda: read_file(path),
        lambda: replace_file(path, NEW),
        lambda: remove_file(path),
        lock,
    ]
    for touch in touches:
        with pytest.raises(NotPermitted, match=r"MEMORY\.md is a link, or no regular file"):
            touch()
    assert path.lstat().st_ino == before
    assert {one.name for one in tmp_path.iterdir()} == {"victim", "MEMORY.md"}
    assert (tmp_path / "victim").read_bytes() == OLD


def test_a_file_with_two_names_is_not_parted(file: Path) -> None:
    other = file.with_name("AGENTS.md")
    other.hardlink_to(file)
    for touch in (lambda: replace_file(file, NEW), lambda: remove_file(file)):
        with pytest.raises(NotPermitted, match="one of 2 names"):
            touch()
    assert file.read_bytes() == other.read_bytes() == OLD
    assert read_file(file) == OLD
    other.unlink()
    replace_file(file, NEW)


# ---- names that are swapped meanwhile ---------------------------------------------------------------------------


def test_a_folder_that_is_a_link_is_not_written_through(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file.parent)
    with pytest.raises(NotPermitted, match="link is a link, or no folder"):
        replace_file(link / file.name, NEW)
    assert read_file(link / file.name) == OLD


def swapping(first: Path, second: Path, name: Path, stop: threading.Event) -> None:
    while not stop.is_set():
        for other in (first, second):
            with suppress(OSError):
                name.rename(other.with_suffix(".was"))
            with suppress(OSError):
                other.rename(name)
            with suppress(OSError):
                other.with_suffix(".was").rename(second if other is first else first)


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_name_swapped_for_a_link_all_the_time_never_leads_to_the_victim(tmp_path: Path, swapped: str) -> None:
    victims, folder = tmp_path / "victims", tmp_path / "memories"
    victims.mkdir()
    folder.mkdir()
    (victims / "MEMORY.md").write_bytes(OLD)
    (folder / "MEMORY.md").write_bytes(b"")
    name, target = (folder, victims) if swapped == "folder" else (folder / "MEMORY.md", victims / "MEMORY.md")
    spare = tmp_path / "spare"
    spare.symlink_to(target)
    stop = threading.Event()
    swapper = threading.Thread(target=swapping, args=(tmp_path / "real", spare, name, stop))
    swapper.start()
    refused = written = tries = 0
    until = time.monotonic() + 60
    while (tries < 300 or not (refused and written)) and time.monotonic() < until:
        tries += 1
        try:
            replace_file(folder / "MEMORY.md", NEW)
            written += 1
        except ReverieError:
            refused += 1
    stop.set()
    swapper.join()
    assert refused and written
    assert [(one.name, one.read_bytes()) for one in victims.iterdir()] == [("MEMORY.md", OLD)]


def test_what_is_written_goes_into_the_folder_that_was_read(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    held = HeldFiles(lambda document: file.parent / document)
    assert held.read("MEMORY.md") == OLD
    file.parent.rename(tmp_path / "aside")
    other.rename(file.parent)
    with pytest.raises(NotPermitted, match="exchanged"):
        held.write("MEMORY.md", NEW, OLD)
    assert list(file.parent.iterdir()) == []
    assert (tmp_path / "aside" / "MEMORY.md").read_bytes() == OLD


# ---- locks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", [flocked, flocked_folder])
def test_a_lock_that_is_not_let_go_is_named_when_patience_ends(
    tmp_path: Path, lock: Callable[..., AbstractContextManager[None]]
) -> None:
    path = tmp_path / "place"
    with lock(path):
        start = time.monotonic()
        with pytest.raises(StillLocked, match=f"{path} is locked by another program"), lock(path, 0.2):
            raise AssertionError("locked twice")
        assert 0.2 <= time.monotonic() - start < 5
    with lock(path, 0.2):
        pass


def test_locking_a_folder_leaves_nothing_in_it(tmp_path: Path) -> None:
    with flocked_folder(tmp_path / "new"):
        assert list((tmp_path / "new").iterdir()) == []


def test_a_lock_file_thrown_away_meanwhile_protects_nobody_and_is_not_relied_on(tmp_path: Path) -> None:
    path, entered = tmp_path / "MEMORY.md.lock", threading.Event()

    def wait() -> None:
        with flocked(path, 10):
            entered.set()

    with flocked(path):
        waiter = threading.Thread(target=wait)
        waiter.start()
        time.sleep(0.2)
        path.unlink()
        with flocked(path):  # a third, on the file of that name now
            pass
        third = flocked(path)
        third.__enter__()
    assert not entered.wait(0.3)  # the waiter has the lock of the old file and asks for the new one
    third.__exit__(None, None, None)
    assert entered.wait(5)
    waiter.join()


def test_what_a_killed_write_left_beside_is_gone_after_the_next_one_and_a_live_ones_is_not(tmp_path: Path) -> None:
    words = "import sys; from pathlib import Path; from reverie.system.files import OpenFolder; print(OpenFolder("
    words += f"Path({str(tmp_path)!r})).prepared('MEMORY.md', b'said in confidence'), end='')"
    left = tmp_path / subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout
    writing = tmp_path / ".reverie-0a.tmp"
    with writing.open("wb") as live:
        fcntl.flock(live, fcntl.LOCK_EX)
        for path in (left, writing):
            os.utime(path, (time.time() - 60, time.time() - 60))
        replace_file(tmp_path / "MEMORY.md", b"new")
        assert not left.exists() and writing.exists()
