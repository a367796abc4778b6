"""The git history of targets and skills folders, for people: implements
`reverie.changes.projection.Projection`.

A skills folder that is in no repository has its history inside, so that `git log`, `git show`, `git revert` and
`git checkout` work there. Where someone's repository is already, and for memory, it is beside: `<Home>/history/…`.
Nothing about it is kept in the database: how far it is stands in its newest commit.

Where a setting asks for it, Changes are commits in a repository of the user's, too: one for each change that landed
since someone last committed the folder, on the branch that is checked out. It holds what Reverie changed and nothing
else: what the user has not committed yet stays so, also in the same file. A change that cannot be told apart from such
work, or whose file the user does not track, is left for them to commit.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from reverie.changes.drafts import Holder, three_way
from reverie.changes.ledger import RESTORE, Anchored, Change, ChangeQuery, Edit, HistoryRecords, Via
from reverie.changes.projection import Behind, Late, LedgerParted, Projected, Rebuilt, projected, still_to_project
from reverie.core.errors import BadInput, ReverieError
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Scope
from reverie.system.files import read_file
from reverie.system.git_repository import (
    BRANCH,
    MARK,
    OPTIONS,
    Executable,
    Git,
    GitFailed,
    GitRepository,
    RepositoryPlace,
    ToldCommit,
    changed,
    committed,
    holder_root,
    is_executable,
    opened,
    refuse_in_between,
    showable,
    told_in,
)

LONGEST_SLUG = 40
_NOT_OURS = (Via.FOUND, Via.OUTSIDE)


class GitProjection:
    """`holders` are the targets and skills folders there are now; a folder with a `root` may hold its own history."""

    def __init__(
        self,
        home_folder: Path,
        records: HistoryRecords,
        scope: Scope,
        holders: Callable[[], Iterable[Holder]],
        commit_in: Iterable[Path] = (),
    ) -> None:
        self._commit_in = {path.expanduser().resolve() for path in commit_in}
        self._folder = home_folder / "history"
        self._records = records
        self._scope = scope
        self._holders = holders
        self._shown: dict[str, int] = {}  # the number each was found or brought up to: asks git no more than it must
        self._first: dict[str, str] = {}

    def catch_up(self) -> Behind | None:
        """Bring every repository up to what landed. Says what is behind and why; never raises for git or the disk."""
        try:
            changed = list(self._with_changes())
        except (ReverieError, OSError) as error:
            return Behind((Late("targets and skills folders", "what landed last", str(error)),))
        late = [one for holder, newest in changed if (one := self._late(holder, newest))]
        return Behind(tuple(late)) if late else None

    def _late(self, holder: Holder, newest: Change) -> Late | None:
        if self._shown.get(holder.key) == newest.number:
            return None
        try:
            with opened(self._spot(holder)) as repository:
                self._bring_up(repository, holder)
                # Where the settings ask for it, in the repository of the user's that the folder lies in, too.
                root = holder_root(holder)
                if root in self._commit_in and root is not None and not repository.spot.inside:
                    own = repository_at(root, repository.git.lock, partial(is_executable, root))
                    if own is not None:
                        own.commit(self._recorded(holder))
        except (ReverieError, OSError) as error:
            return Late(holder.name, newest.id, str(error))
        self._shown[holder.key] = newest.number or 0
        return None

    def _bring_up(self, repository: GitRepository, holder: Holder) -> None:
        if not repository.is_there:
            repository.build(self._recorded(holder))
            return
        tip = repository.tip()
        last = tip.change if tip else None
        try:
            todo = still_to_project(self._recorded(holder, last.number - 1 if last else 0), last)
        except LedgerParted:
            # A backup may have been restored when the ledger had not come so far.
            if last is None or not any(row <= last.number for row in self._restores()):
                raise
            repository.build(self._recorded(holder), self._aside(holder))  # the backup was older than the commits
            return
        first = next(todo, None)
        if first is None:
            repository.finish()
        else:
            repository.add(chain([first], todo), tip.commit if tip else None)

    def _restores(self) -> list[int]:
        return [row.number for row in self._records.rows(self._scope) if row.kind == RESTORE]

    def rebuild(self, name: str | None = None, *, keep: bool = True) -> Rebuilt:
        """Make repositories anew from all Changes, of one holder or of all.

        An old one that is damaged, or holds commits or branches made by hand, is moved to `history/aside`; with
        `keep=False` (for erasure) nothing of it stays.
        """
        chosen = [holder for holder, _ in self._with_changes() if name in (None, holder.name, holder.key)]
        if name is not None and not chosen:
            raise BadInput(f"{name!r} has no changes.", expected="a target or skills folder that was changed")
        commits, kept = 0, list[Path]()

        def counted(holder: Holder) -> Iterator[Anchored]:
            nonlocal commits
            for one in self._recorded(holder):
                commits += 1
                yield one

        for holder in chosen:
            spot, identity = self._spot(holder), self._identity(holder)
            with opened(spot) as repository:
                worth = keep and repository.is_there and worth_keeping(repository, self._recorded(holder))
                aside = self._aside(holder) if worth else None
                repository.build(counted(holder), aside)
                # What was kept aside before goes, and one beside from when the folder was in someone's repository.
                others = (*self._folder.glob(f"*-{identity}"), *self._folder.glob(f"aside/{identity}.*"))
                for path in others if not keep else ():
                    if path != spot.work:
                        shutil.rmtree(path)
            self._shown.pop(holder.key, None)
            kept += [aside] if aside else []
        return Rebuilt(tuple(holder.name for holder in chosen), commits, tuple(kept))

    def purge(self) -> list[Path]:
        """Every repository made anew, with nothing kept of the old ones; those of places that are gone are removed.
        Returned are skills folders that lie in a repository of someone's own, which is not ours to rewrite."""
        self.rebuild(keep=False)
        holders = [holder for holder, _ in self._with_changes()]
        kept = {self._spot(holder).work for holder in holders}
        for path in (*self._folder.glob("*-*"), *self._folder.glob("aside")):
            if path.is_dir() and path not in kept:
                shutil.rmtree(path)
        roots = [root for holder in holders if (root := holder_root(holder)) is not None]
        return [root for root in roots if root not in kept and _repository_of(root) is not None]

    def remove_all(self) -> None:
        """Every repository of ours: they can be made anew from whatever Changes there are afterwards."""
        for holder, _ in self._with_changes():
            spot = self._spot(holder)
            with opened(spot) as repository:
                if repository.is_there:
                    shutil.rmtree(spot.work / ".git" if spot.inside else spot.work)
        self._shown.clear()
        self._first.clear()

    def verify(self) -> list[str]:
        """Faults in the git history of each target and folder that has Changes, in sentences."""
        every = list[str]()
        for holder, _ in self._with_changes():
            found = list[str]()
            try:
                with opened(self._spot(holder)) as repository:
                    if repository.is_there:
                        found = list(problems(repository, self._recorded(holder)))
                    if found and (restored := self._restores()):
                        found = list(problems(repository, self._recorded(holder), min(restored)))
            except (ReverieError, OSError) as error:
                found = [str(error).rstrip(".")]
            every += [f"The git history of {holder.name}: {said}." for said in found]
        return every

    def elsewhere(self) -> list[str]:
        """Where the trail of a skills folder is that lies in someone's own repository: nothing is committed there."""
        said = []
        for holder, _ in self._with_changes():
            root, spot = holder_root(holder), self._spot(holder)
            if root is not None and spot.work != root and (repository := _repository_of(root)) is not None:
                also = root in self._commit_in
                commits = "also commits what it changes: its whole" if also else "commits nothing: its"
                said.append(
                    f"{holder.name} lies in the repository {repository}, where Reverie {commits} git history is in "
                    f"{spot.work}"
                )
        return said

    def behind(self) -> list[str]:
        """Say how much git does not show yet, for each target and folder. That is no fault: it is shown with what lands
        next."""
        return [said for holder, newest in self._with_changes() if (said := self._not_shown(holder, newest))]

    def _not_shown(self, holder: Holder, newest: Change) -> str:
        if self._shown.get(holder.key) == newest.number:
            return ""
        try:
            with opened(self._spot(holder)) as repository:
                tip = repository.tip() if repository.is_there else None
        except (ReverieError, OSError):
            return ""  # `verify` says what is wrong with it
        last = tip.change if tip else None
        if last and next((one.change.id for one in self._recorded(holder, last.number - 1)), "") != last.change:
            return f"those of {holder.name} since the backup that was restored, whose commits went on past it"
        count = sum(1 for _ in self._recorded(holder, last.number if last else 0))
        return f"{count:,} of {holder.name}" if count else ""

    def _with_changes(self) -> Iterator[tuple[Holder, Change]]:
        """Each place once, though it can have several names."""
        for key, holder in {holder.key: holder for holder in self._holders()}.items():
            for newest in self._records.find(self._scope, ChangeQuery(target=key, limit=1)):
                yield holder, newest

    def _recorded(self, holder: Holder, after: int = 0) -> Iterator[Anchored]:
        return self._records.anchored(self._scope, holder.key, after)

    def _spot(self, holder: Holder) -> RepositoryPlace:
        identity = self._identity(holder)
        lock = self._folder / f"{identity}.lock"
        root = holder_root(holder)
        if root is None:
            return RepositoryPlace(self._beside(holder), False, lock, holder.key, lambda _: False)
        # A folder's repository is ours if it begins with our first Change: another Home's is not.
        if holder.key not in self._first:
            asked = ChangeQuery(target=holder.key, limit=1, oldest_first=True)
            self._first[holder.key] = self._records.find(self._scope, asked)[0].id
        first = self._first[holder.key]
        ours = (root / ".git").is_dir() and read_file(root / ".git" / MARK) == f"{first}\n".encode()
        inside = ours or (root.is_dir() and _repository_of(root) is None)
        work = root if inside else self._beside(holder)
        return RepositoryPlace(work, inside, lock, first, partial(is_executable, root))

    def _identity(self, holder: Holder) -> str:
        return sha256(canonical([self._scope.workspace, self._scope.user, holder.key]))[:12]

    def _beside(self, holder: Holder) -> Path:
        """The folder it has already, under whichever name it was made; else one with its name of now."""
        identity = self._identity(holder)
        slug = re.sub(r"[^a-z0-9]+", "-", holder.name.lower())[-LONGEST_SLUG:].strip("-") or "target"
        return next(self._folder.glob(f"*-{identity}"), self._folder / f"{slug}-{identity}")

    def _aside(self, holder: Holder) -> Path:
        folder, number = self._folder / "aside", 1
        while (path := folder / f"{self._identity(holder)}.{number}").exists():
            number += 1
        return path


def _repository_of(root: Path) -> Path | None:
    return next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)


@dataclass(frozen=True, slots=True)
class OwnRepository:
    """`below` is where in the repository the skills folder lies; `git` is at work in the repository itself."""

    git: Git
    below: str
    executable: Executable

    def commit(self, recorded: Iterable[Anchored]) -> None:
        """Commit what is not there yet. Doing it twice does nothing more."""
        refuse_in_between(self.git)
        try:
            branch = self.git("symbolic-ref", "-q", "HEAD").decode().strip()
        except GitFailed:
            return  # no branch is checked out: nobody would find the commit
        if not self.git("for-each-ref", branch):
            return  # nothing was ever committed: the first commit is the user's
        there = {one.change.change for one in told_in(self.git, "HEAD", "--", self.below) if one.change}
        last = self.git("rev-list", "-1", "--format=%ct", "HEAD", "--", self.below)
        since = int((last or self.git("rev-list", "-1", "--format=%ct", "HEAD")).split()[-1])
        for one in recorded:
            change = one.change
            when = (change.settled_at or change.intended_at).timestamp()
            if change.grounds.via in _NOT_OURS or change.id in there or when < since:
                continue
            if edits := self._edits(change.edits):
                self._add(one, edits, branch)

    def _edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """From what is committed to that with our change in it; none where they do not go together."""
        made = []
        for edit in edits:
            path = f"{self.below}/{edit.document}" if self.below != "." else edit.document
            if not showable(path):
                continue
            listed = self.git("ls-tree", "-z", "HEAD", "--", path)
            head = self.git("cat-file", "blob", listed.split()[2].decode()) if listed else None
            after = edit.after if head == edit.before else head
            if head != edit.before and not (head is None or edit.before is None or edit.after is None):
                both = three_way(edit.before, head, edit.after)
                after = head if both is None else both
            if after == head and head != edit.after:
                return ()
            if after != head and not (head is None and self._is_ignored(path)):
                made.append(Edit(path, head, after))
        return tuple(made)

    def _is_ignored(self, path: str) -> bool:
        try:
            self.git("check-ignore", "-q", "--", path)
        except GitFailed:
            return False
        return True

    def _add(self, one: Anchored, edits: tuple[Edit, ...], branch: str) -> None:
        """The index follows where it says what was committed; what else is staged stays so."""
        listed = self.git("ls-files", "-s", "-z", "--", *(edit.document for edit in edits))
        lines = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
        staged = {path: meta.split(" ")[1] for meta, _, path in (line.partition("\t") for line in lines)}
        before = self.git("rev-parse", "HEAD").decode().strip()
        names = len(self.below) + 1 if self.below != "." else 0
        feed = committed(one, edits, branch, before, lambda path: self.executable(path[names:]))
        self.git("fast-import", *OPTIONS, feed=(b"feature done\n", *feed, b"done\n"))
        follow = [line for line, path, old in changed(self.git, before, branch) if staged.get(path) == old]
        if follow:
            self.git("update-index", "-z", "--index-info", feed=follow)


def repository_at(root: Path, lock: int, executable: Executable) -> OwnRepository | None:
    """The repository of someone's own that a folder lies in."""
    for folder in (root, *root.parents):
        mark = folder / ".git"
        if mark.is_dir():
            return OwnRepository(Git(mark, folder, lock), root.relative_to(folder).as_posix(), executable)
        if mark.is_file():  # a work tree of its own, or a submodule: the file says where the repository is
            named = mark.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
            return OwnRepository(Git(folder / named, folder, lock), root.relative_to(folder).as_posix(), executable)
    return None


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
