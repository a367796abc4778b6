"""Changes of ours as commits in a repository of the user's, where a setting asks for that.

The whole trail is beside, in `history/`, in any case. Here one commit is made for each change that landed since someone
last committed the folder, on the branch that is checked out. It holds what Reverie changed and nothing else: what the
user has not committed yet stays so, also in the same file. A change that cannot be told apart from such work, or whose
file the user does not track, is left for them to commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reverie.changes.drafts import three_way
from reverie.changes.history.change import Edit, Via
from reverie.changes.history.records import Anchored
from reverie.core.errors import StillLocked
from reverie.system.git.git import Git, GitFailed
from reverie.system.git.repository import UNDER_WAY, told_in
from reverie.system.git.stream import OPTIONS, Executable, committed, showable

_NOT_OURS = (Via.FOUND, Via.OUTSIDE)
_NO_SUCH_FILE = "000000"


@dataclass(frozen=True, slots=True)
class OwnRepository:
    """`below` is where in the repository the skills folder lies; `git` is at work in the repository itself."""

    git: Git
    below: str
    executable: Executable

    def commit(self, recorded: Iterable[Anchored]) -> None:
        """Commit what is not there yet. Doing it twice does nothing more."""
        for name in UNDER_WAY:
            if (self.git.folder / name).exists():
                raise StillLocked(
                    f"Another git is at work in {self.git.work}, or stopped half-way: there is a {name}.",
                    next_step="Finish it there; `git status` says what it is.",
                )
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
            head = self._content(path)
            after = _onto(head, edit)
            if after == head and head != edit.after:
                return ()
            if after != head and not (head is None and self._is_ignored(path)):
                made.append(Edit(path, head, after))
        return tuple(made)

    def _content(self, path: str) -> bytes | None:
        listed = self.git("ls-tree", "-z", "HEAD", "--", path)
        return self.git("cat-file", "blob", listed.split()[2].decode()) if listed else None

    def _is_ignored(self, path: str) -> bool:
        try:
            self.git("check-ignore", "-q", "--", path)
        except GitFailed:
            return False
        return True

    def _add(self, one: Anchored, edits: tuple[Edit, ...], branch: str) -> None:
        """The index follows where it says what was committed; what else is staged stays so."""
        staged = {path: mode for mode, path in self._staged(edits)}
        before = self.git("rev-parse", "HEAD").decode().strip()
        names = len(self.below) + 1 if self.below != "." else 0
        feed = committed(one, edits, branch, before, lambda path: self.executable(path[names:]))
        self.git("fast-import", *OPTIONS, feed=(b"feature done\n", *feed, b"done\n"))
        changed = self.git("diff-tree", "-r", "-z", before, branch).split(b"\0")[:-1]
        lines = []
        for meta, path in zip(changed[::2], changed[1::2], strict=True):
            old_mode, mode, old, name, _ = meta.lstrip(b":").split(b" ")
            held = staged.get(path.decode("utf-8", "surrogateescape"))
            if held == (None if old_mode.decode() == _NO_SUCH_FILE else old.decode()):
                lines.append(b"%b %b\t%b\0" % (mode, name, path))
        if lines:
            self.git("update-index", "-z", "--index-info", feed=lines)

    def _staged(self, edits: Iterable[Edit]) -> Iterator[tuple[str, str]]:
        listed = self.git("ls-files", "-s", "-z", "--", *(edit.document for edit in edits))
        for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            meta, _, path = line.partition("\t")
            yield meta.split(" ")[1], path


def _onto(head: bytes | None, edit: Edit) -> bytes | None:
    """The committed text with our change in it; as it is where that cannot be worked out."""
    if head == edit.before:
        return edit.after
    if head is None or edit.before is None or edit.after is None:
        return head
    both = three_way(edit.before, head, edit.after)
    return head if both is None else both


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
