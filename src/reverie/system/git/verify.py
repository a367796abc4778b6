"""Whether a repository shows what happened: one commit for each Change, the last bytes, the ledger's own hashes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from reverie.changes.history.projection import Projected, projected
from reverie.changes.history.records import Anchored
from reverie.system.git.git import GitFailed
from reverie.system.git.repository import GitRepository, ToldCommit
from reverie.system.git.stream import BRANCH, showable

_Now = dict[str, str | None]


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
    past = {one.commit for one in told if one.change and _is_past(one.change, changes, restored)}
    told = [one for one in told if one.commit not in past]
    shown = max((one.change.number for one in told if one.change), default=0)
    yield from _of_commits(told, changes, shown)
    if not past:
        now: _Now = {}
        for one in every:
            if (one.change.number or 0) <= shown:  # what came later is not shown yet
                now |= {edit.document: _blob(edit.after) for edit in one.change.edits if showable(edit.document)}
        yield from _of_files(repository, now)


def _is_past(one: Projected, changes: dict[str, Projected], restored: int | None) -> bool:
    return restored is not None and one.change not in changes and one.number >= restored


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
    copies = set()
    for one in told:
        if one.change is None:
            continue
        change = one.change.change
        ours[change] += one.ours
        copies.add(change)
        if change not in changes:
            yield f"commit {one.commit[:12]} tells of {change}, which is not among the changes"
        elif changes[change] != one.change:
            yield f"commit {one.commit[:12]} tells of {change} by another row of the ledger than there is now"
    missing = (change for change, one in changes.items() if one.number <= shown and change not in copies)
    yield from (f"{change} has no commit" for change in missing)
    yield from (f"{change} has {count} commits" for change, count in ours.items() if count > 1)


def _of_files(repository: GitRepository, now: _Now) -> Iterator[str]:
    listed = repository.git("ls-tree", "-r", "-z", BRANCH).decode("utf-8", "surrogateescape").split("\0")[:-1]
    there = {path: meta.split(" ")[2] for meta, _, path in (one.partition("\t") for one in listed)}
    for document, blob in now.items():
        if blob != there.get(document):
            how = "is there" if blob is None else "is not there" if document not in there else "has other bytes"
            yield f"{document} {how} in the newest commit, unlike when it was last seen"
