"""One repository of history, held: what its newest commit tells of, commits added, all of it made anew, and whether it
shows what happened. And everything that was learned and decided, exported into a folder of such repositories.

Commits go onto `main`, whatever is checked out. History is one line, and a branch or a detached HEAD that someone made
by hand is theirs: it is not moved, and neither are its index and files. Commits made by hand on `main` stay where they
are, and ours come on top. While a merge, a rebase or another git is at work there, we wait for the next time.

Inside a skills folder only `.git` is ours: files are never written, they are what landed already. Beside it, in the
Home, the files are a copy for reading, and whatever else is in their way is overwritten.

The lock file says what was begun: the commit that `main` was at. A run that finds it there was preceded by one that
was killed; as every git we start holds the lock too, none of them is alive then, and what it left is cleared away.

What is exported needs no Reverie to be read:

    <folder>/README.md              what is what
             <target or skills>/    the files as they are, each folder a git repository with one commit for each change
             stores/<store>/…       memory stores, one file for each memory
             rules.jsonl            every rule in force: since when, on what evidence, approved by whom
             changes.jsonl          every change, with the text before and after
             proposals.jsonl        everything a person was asked, and what they answered
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from reverie.changes.drafts import Holder
from reverie.changes.ledger import Anchored
from reverie.changes.projection import Projected, projected, read_back
from reverie.core.errors import BadInput, StillLocked
from reverie.core.ids import json_ready, slug
from reverie.system.files import make_folder, replace_file, sync_folder
from reverie.system.git import BRANCH, OPTIONS, OURS, Executable, Git, GitFailed, showable, stream

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


def root_of(holder: Holder) -> Path | None:
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


def problems(repository: GitRepository, recorded: Iterable[Anchored], restored: int | None = None) -> Iterator[str]:
    """`restored` is the row of the ledger that tells of a backup that was put back: commits may have gone on past it.
    They are what was lost with the home, and no fault; the next change makes the history anew and keeps them aside."""
    try:
        repository.git("fsck", "--strict", "--no-dangling", "--no-progress")
        told = list(repository.told())
    except GitFailed as error:
        yield f"it is damaged: {error}"
        return
    every = list(recorded)
    changes = {one.change.id: projected(one) for one in every}
    past = {
        one.commit
        for one in told
        if one.change and restored is not None and one.change.change not in changes and one.change.number >= restored
    }
    told = [one for one in told if one.commit not in past]
    shown = max((one.change.number for one in told if one.change), default=0)
    yield from _of_commits(told, changes, shown)
    if not past:
        now: dict[str, str | None] = {}
        for one in every:
            if (one.change.number or 0) <= shown:  # what came later is not shown yet
                now |= {edit.document: _blob(edit.after) for edit in one.change.edits if showable(edit.document)}
        listed = repository.git("ls-tree", "-r", "-z", BRANCH).decode("utf-8", "surrogateescape").split("\0")[:-1]
        there = {path: meta.split(" ")[2] for meta, _, path in (one.partition("\t") for one in listed)}
        for document, blob in now.items():
            if blob != there.get(document):
                how = "is there" if blob is None else "is not there" if document not in there else "has other bytes"
                yield f"{document} {how} in the newest commit, unlike when it was last seen"


def worth_keeping(repository: GitRepository, recorded: Iterable[Anchored]) -> bool:
    """Whether a repository has to be kept when a new one takes its place: it is damaged, holds work done by hand, or
    tells of changes that the database does not know (an older one was put back)."""
    try:
        repository.git("fsck", "--strict", "--no-dangling", "--no-progress")
        branches = repository.git("for-each-ref", "--format=%(refname)").decode("utf-8", "replace").split()
        told = list(repository.told("--all"))
    except GitFailed:
        return True
    if branches != [BRANCH] or not all(one.ours for one in told):
        return True
    return not {one.change.change for one in told if one.change} <= {one.change.id for one in recorded}


def _blob(content: bytes | None) -> str | None:
    """Git's name for these bytes."""
    if content is None:
        return None
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def _of_commits(told: Iterable[ToldCommit], changes: dict[str, Projected], shown: int) -> Iterator[str]:
    """A copy made by hand of a commit of ours is no second one; where ours is gone, the copy stands for it."""
    ours: Counter[str] = Counter()
    for one in told:
        if one.change is None:
            continue
        change = one.change.change
        ours[change] += one.ours
        if change not in changes:
            yield f"commit {one.commit[:12]} tells of {change}, which is not among the changes"
        elif changes[change] != one.change:
            yield f"commit {one.commit[:12]} tells of {change} by another row of the ledger than there is now"
    missing = (change for change, one in changes.items() if one.number <= shown and change not in ours)
    yield from (f"{change} has no commit" for change in missing)
    yield from (f"{change} has {count} commits" for change, count in ours.items() if count > 1)


README = """\
# What your agents learned

Exported by Reverie. Nothing here needs Reverie to be read.

- Each folder is a place agents read, as it is; `git log -p` in it tells every change, who approved it and why.
- `stores/` holds memory stores, one file for each memory.
- `rules.jsonl`: every rule in force. `changes.jsonl`: every change. `proposals.jsonl`: every question and its answer.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    repositories: tuple[str, ...]
    memories: int
    rows: Mapping[str, int]


def new_folder(folder: Path) -> Path:
    folder = folder.resolve()  # git is run in folders of its own
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already.", expected="a folder that is empty or not there yet")
    make_folder(folder)
    replace_file(folder / "README.md", README.encode())
    return folder


def export_history(folder: Path, holder: Holder, recorded: Iterable[Anchored]) -> str:
    """A repository of one target or skills folder: its files, and one commit for each change."""
    name = holder.name if holder.name.isidentifier() or holder.name.replace("-", "").isalnum() else slug(holder.name)
    root, lock = root_of(holder), folder / f".{name}.lock"
    executable = partial(is_executable, root) if root else lambda _: False
    spot = RepositoryPlace(folder / name, False, lock, holder.key, executable)
    with opened(spot) as repository:
        repository.build(recorded)
    lock.unlink()
    return name


def export_store(folder: Path, store: str, texts: Mapping[str, str]) -> int:
    """One file for each memory, at its path."""
    for path, text in texts.items():
        parts = [part if part not in ("", ".", "..") else "_" for part in PurePosixPath(path.lstrip("/")).parts]
        file = folder / "stores" / slug(store) / Path(*(part.replace("\0", "_") for part in parts or ["_"]))
        make_folder(file.parent)
        replace_file(file, text.encode("utf-8", "surrogateescape"))
    return len(texts)


def export_rows(folder: Path, name: str, rows: Iterable[object]) -> int:
    lines = [json.dumps(json_ready(row), ensure_ascii=False).encode("utf-8", "replace") + b"\n" for row in rows]
    replace_file(folder / f"{name}.jsonl", b"".join(lines))
    return len(lines)
