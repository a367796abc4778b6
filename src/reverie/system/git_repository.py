"""Git by its command line, Changes as the input of `git fast-import`, and one repository of history, held: what its
newest commit tells of, commits added, and all of it made anew.

No setting of the user or the machine takes part, no hook runs, and no variable that leads git elsewhere is handed on.
Only plumbing is called: porcelain asks settings of the repository that can name programs to run.

Commits go onto `main`, whatever is checked out. History is one line, and a branch or a detached HEAD that someone made
by hand is theirs: it is not moved, and neither are its index and files. Commits made by hand on `main` stay where they
are, and ours come on top. While a merge, a rebase or another git is at work there, we wait for the next time.

Inside a skills folder only `.git` is ours: files are never written, they are what landed already. Beside it, in the
Home, the files are a copy for reading, and whatever else is in their way is overwritten.

The lock file says what was begun: the commit that `main` was at. A run that finds it there was preceded by one that
was killed; as every git we start holds the lock too, none of them is alive then, and what it left is cleared away.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.changes.drafts import Holder
from reverie.changes.ledger import Anchored, Edit
from reverie.changes.projection import Projected, commit_message, printable_line, read_back
from reverie.core.errors import ReverieError, StillLocked
from reverie.system.files import make_folder, sync_folder

OURS = "Reverie"  # the committer of every commit that tells of a Change
_SETTINGS = {
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.fsync": "committed,reference,index",
    "core.fsyncMethod": "fsync",
    "core.hooksPath": os.devnull,
    "commit.gpgSign": "false",
    "gc.auto": "0",
}
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_COMMITTER_NAME": OURS,
    "GIT_COMMITTER_EMAIL": "",
}
BRANCH = "refs/heads/main"
OPTIONS = ("--quiet", "--done", "--date-format=raw")  # without a `done` at the end nothing counts: we were killed
_GITS_OWN = re.compile(r"(?:\.git|git~1)[ .]*(?::.*)?", re.IGNORECASE)
Executable = Callable[[str], bool]
MARK = "reverie"  # a file in `.git` that says whose history it is
WAIT_SECONDS = 5.0  # a landing waits no longer for another one's projection
LONGEST_RUN_SECONDS = 600  # what was left later than this after a run began is not of that run
LEFT_BEHIND_SECONDS = 3600  # a lock of someone else's git that is older belongs to nobody
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the tree with nothing in it
_ON_MAIN = f"ref: {BRANCH}\n"
_NEW, _OLD = ".git.reverie-new", ".git.reverie-old"
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", f"{BRANCH}.lock")
_HALF_WRITTEN = ("objects/pack/tmp_*", "objects/??/tmp_*")
_NO_SUCH_FILE = b"000000"
_UNDER_WAY = ("index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_MANY_LOOSE = 8  # in one of 256 folders, so about 2,000 objects in all
_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tautocrlf = false
\tfsync = committed,reference
\tfsyncMethod = fsync
"""
# Bytes are exact in commands given by hand, too, whatever a .gitattributes among the documents says.
_ATTRIBUTES = "* -text -ident -filter !eol !working-tree-encoding\n"
_EXCLUDED = f".reverie-*.tmp\n.reverie-*.kept\n{_NEW}\n{_OLD}\n"


class GitFailed(ReverieError):
    """Git is not there, or did not do what it was asked. What it said is in the message."""


@dataclass(frozen=True, slots=True)
class Git:
    """`lock` is an open lock file that every git started here holds as well: when it is free, none of them runs."""

    folder: Path
    work: Path
    lock: int

    def __call__(self, *words: str, feed: Iterable[bytes] = ()) -> bytes:
        """Run it to the end and return what it printed. `feed` is written to it while it runs."""
        git = shutil.which("git")
        if git is None:
            raise GitFailed("git was not found.", next_step="Install git; what landed meanwhile is shown then.")
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [git, f"--git-dir={self.folder}", f"--work-tree={self.work}", *settings, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=_ENVIRONMENT,
                pass_fds=(self.lock,),
                cwd=self.work,
            )
            printed = _fed(process, feed)
            if process.returncode != 0:
                said.seek(0)
                told = (line.strip() for line in said.read().decode("utf-8", "replace").splitlines())
                lines, code = [line for line in told if line], process.returncode
                first = next((line for line in lines if line.startswith(("fatal:", "error:"))), "".join(lines[:1]))
                ended = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
                why = f": {first.removeprefix('fatal: ').rstrip('.')}" if first else " without a word"
                raise GitFailed(f"`git {words[0]}` {ended}{why}.")
            return printed


def _fed(process: subprocess.Popen[bytes], feed: Iterable[bytes]) -> bytes:
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):  # it ended early, and its exit code says why
            for part in feed:
                process.stdin.write(part)
        return process.communicate()[0]
    finally:
        if process.poll() is None:  # what was to be written could not be read: half of it must not count
            process.kill()
            process.communicate()


def stream(recorded: Iterable[Anchored], onto: str | None, executable: Executable) -> Iterator[bytes]:
    """Commits on top of the commit `onto`, or from the beginning."""
    yield b"feature done\n"
    for one in recorded:
        shown = [edit for edit in one.change.edits if showable(edit.document)]
        yield from committed(one, shown, BRANCH, onto, executable)
        onto = None
    yield b"done\n"


def showable(document: str) -> bool:
    """Whether git takes such a path. What it keeps for itself, or could be taken for that on some disk, it does not."""
    parts = "".join(char for char in document if unicodedata.category(char) != "Cf").replace("\\", "/").split("/")
    return "\0" not in document and not any(part in ("", ".", "..") or _GITS_OWN.fullmatch(part) for part in parts)


def committed(
    recorded: Anchored, edits: Iterable[Edit], branch: str, onto: str | None, executable: Executable
) -> Iterator[bytes]:
    """One commit that tells of a Change and makes these edits."""
    change = recorded.change
    at = max(0, int((change.settled_at or change.intended_at).timestamp()))
    # No address is made up for anyone.
    author = re.sub(r"[<>]", "", printable_line(change.grounds.actor)).strip(" .,:;\"'\\") or "unknown"
    yield f"commit {branch}\nauthor {author} <> {at} +0000\n".encode()
    yield f"committer {OURS} <> {at} +0000\n".encode()
    yield _exactly(commit_message(recorded).encode())
    if onto is not None:
        yield f"from {onto}\n".encode()
    for edit in sorted(edits, key=lambda edit: edit.after is not None):  # a folder can take the place of a file
        if edit.after is None:
            yield b"D " + _quoted(edit.document) + b"\n"
            continue
        mode = b"100755" if executable(edit.document) else b"100644"
        yield b"M " + mode + b" inline " + _quoted(edit.document) + b"\n"
        yield _exactly(edit.after)
    yield b"\n"


def _exactly(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    safe = b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' or byte == 127 else bytes([byte]) for byte in raw)
    return b'"' + safe + b'"'


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """Where a repository is. `inside`: in a folder of skills, whose files are not ours to write."""

    work: Path
    inside: bool
    lock: Path
    mark: str
    executable: Executable


@dataclass(frozen=True, slots=True)
class ToldCommit:
    """A commit, who made it, and the Change it tells of, if it is one of ours or a copy of one."""

    commit: str
    committer: str
    change: Projected | None

    @property
    def ours(self) -> bool:
        return self.committer == OURS and self.change is not None


def told_in(git: Git, *which: str) -> Iterator[ToldCommit]:
    """The Changes that commits tell of, newest first."""
    for found in git("rev-list", "--format=%cn%n%B%x00", *which).split(b"\0\n")[:-1]:
        head, committer, text = found.decode("utf-8", "replace").split("\n", 2)
        yield ToldCommit(head.removeprefix("commit "), committer, read_back(text))


def refuse_in_between(git: Git) -> None:
    for name in _UNDER_WAY:
        if (git.folder / name).exists():
            raise StillLocked(
                f"Another git is at work in {git.work}, or stopped half-way: there is a {name}.",
                next_step="Finish it there; `git status` says what it is.",
            )


def changed(git: Git, since: str, to: str) -> Iterator[tuple[bytes, str, str | None]]:
    """What one commit changes of another: the line of the index for each path, the path, and the old name of its bytes,
    None where there was none."""
    told = git("diff-tree", "-r", "-z", since, to).split(b"\0")[:-1]
    for meta, path in zip(told[::2], told[1::2], strict=True):
        old_mode, mode, old, name, _ = meta.lstrip(b":").split(b" ")
        line = b"%b %b\t%b\0" % (mode, name, path)
        yield line, path.decode("utf-8", "surrogateescape"), None if old_mode == _NO_SUCH_FILE else old.decode()


def holder_root(holder: Holder) -> Path | None:
    root: Path | None = getattr(holder, "root", None)
    return root


def is_executable(root: Path, document: str) -> bool:
    """A Change has no modes: a script that can be run now could be run before."""
    return os.access(root / document, os.X_OK)


@contextmanager
def opened(spot: RepositoryPlace) -> Iterator[GitRepository]:
    """Hold a repository; what a killed run left is cleared away first. It need not be there yet."""
    make_folder(spot.lock.parent)
    handle = os.open(spot.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise StillLocked("Another Reverie is at work on it.", next_step="It is caught up later.") from None
            time.sleep(0.01)
        repository = GitRepository(spot, Git(spot.work / ".git", spot.work, handle))
        repository.sweep()
        yield repository
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class GitRepository:
    spot: RepositoryPlace
    git: Git

    @property
    def is_there(self) -> bool:
        return self.git.folder.is_dir()

    # ---- looking -----------------------------------------------------------------------------------------------------

    def tip(self) -> ToldCommit | None:
        """The newest commit of `main`, and the last Change that has a commit there, be it that one or an older one.

        Commits by hand can be on top of ours, copies of ours among them: then the highest number counts.
        """
        wanted = "--format=%(objectname)%00%(committername)%00%(contents)"
        said = self.git("for-each-ref", wanted, BRANCH).decode("utf-8", "replace")
        if not said:
            if (self.git.folder / BRANCH).exists():
                raise GitFailed(f"{self.git.folder / BRANCH} is damaged.", next_step="Make the git history anew.")
            return None
        commit, committer, text = said.split("\0", 2)
        newest = ToldCommit(commit, committer, read_back(text))
        if newest.ours:
            return newest
        changes = [one.change for one in self.told() if one.change]
        return replace(newest, change=max(changes, key=lambda change: change.number, default=None))

    def told(self, which: str = BRANCH) -> Iterator[ToldCommit]:
        """Every commit there is, newest first."""
        return told_in(self.git, which)

    # ---- adding ------------------------------------------------------------------------------------------------------

    def add(self, recorded: Iterable[Anchored], onto: str | None) -> None:
        """One commit for each, and the index after them."""
        refuse_in_between(self.git)
        some = self.git.folder / "objects" / "17"
        if some.is_dir() and len(list(some.iterdir())) >= _MANY_LOOSE:  # one file for each object is dear in thousands
            self.git("repack", "-d", "-q")
        base = self._begun or onto or EMPTY
        self._begin(base)
        self.git("fast-import", *OPTIONS, feed=stream(recorded, onto, self.spot.executable))
        self._show(base)
        self._end()

    def finish(self) -> None:
        """Do what a killed run did not come to: its commits are there, the index is not yet."""
        if self._begun:
            refuse_in_between(self.git)
            self._show(self._begun)
            self._end()

    def _show(self, base: str) -> None:
        """Make the index say what `main` says, for all that changed since `base`; what else is staged stays so."""
        if (self.git.folder / "HEAD").read_text() != _ON_MAIN:
            return
        if not self.spot.inside:
            self.git("read-tree", "--reset", "-u", BRANCH)
            if base == EMPTY:
                self.git("clean", "-ffdxq")
            return
        since = base if (self.git.folder / "index").exists() else EMPTY
        self.git("update-index", "-z", "--index-info", feed=[line for line, _, _ in changed(self.git, since, BRANCH)])

    # ---- making anew -------------------------------------------------------------------------------------------------

    def build(self, recorded: Iterable[Anchored], aside: Path | None = None) -> None:
        """Make a new one from the beginning, then put it in the place of the old, which goes `aside` or is removed."""
        make_folder(self.spot.work)
        new = replace(self.git, folder=self.spot.work / _NEW)
        self._begin(EMPTY)
        _lay_out(new.folder, self.spot.mark)
        try:
            new("fast-import", *OPTIONS, feed=stream(recorded, None, self.spot.executable))
        except BaseException:
            shutil.rmtree(new.folder, ignore_errors=True)
            raise
        if self.is_there and aside is not None:
            make_folder(aside.parent)
            shutil.move(self.git.folder, aside)
        elif self.is_there:
            self.git.folder.rename(self.spot.work / _OLD)
        new.folder.rename(self.git.folder)
        sync_folder(self.spot.work)
        shutil.rmtree(self.spot.work / _OLD, ignore_errors=True)
        self._show(EMPTY)
        self._end()

    # ---- what was begun ----------------------------------------------------------------------------------------------

    @property
    def _begun(self) -> str:
        return os.pread(self.git.lock, len(EMPTY), 0).decode("ascii", "replace")

    def _begin(self, base: str) -> None:
        os.pwrite(self.git.lock, base.encode(), 0)

    def _end(self) -> None:
        os.ftruncate(self.git.lock, 0)

    def sweep(self) -> None:
        for name in (_NEW, _OLD):
            if (self.spot.work / name).is_dir():
                shutil.rmtree(self.spot.work / name)
        began = os.fstat(self.git.lock).st_mtime if self._begun else None
        left = _HALF_WRITTEN if began else ()
        for path in (found for pattern in (*_LOCKS, *left) for found in self.git.folder.glob(pattern)):
            made = path.lstat().st_mtime
            ours = began is not None and began - 2 <= made <= began + LONGEST_RUN_SECONDS
            if ours or made < time.time() - LEFT_BEHIND_SECONDS:
                path.unlink(missing_ok=True)


def _lay_out(folder: Path, mark: str) -> None:
    """An empty repository, as `gitrepository-layout` describes it; what no git rewrites is synced here."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (folder / name).mkdir(parents=True)
    texts = {"HEAD": _ON_MAIN, "config": _CONFIG, "info/attributes": _ATTRIBUTES, "info/exclude": _EXCLUDED}
    for name, text in {**texts, MARK: f"{mark}\n"}.items():
        with (folder / name).open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    for name in ("refs/heads", "refs", "objects/pack", "objects", "info", "."):
        sync_folder(folder / name)
