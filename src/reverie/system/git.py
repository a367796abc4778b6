"""Git by its command line, Changes as the input of `git fast-import`, and which repository a folder is in.

No setting of the user or the machine takes part, no hook runs, and no variable that leads git elsewhere is handed on.
Only plumbing is called: porcelain asks settings of the repository that can name programs to run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reverie.changes.ledger import Anchored, Edit
from reverie.changes.projection import commit_message, printable_line
from reverie.core.errors import ReverieError
from reverie.transcripts.session import project_name

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
_LONGEST_POINTER = 4096  # of the small files git points with


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


def repository_root(folder: str) -> str:
    """The folder that has the `.git`, of a worktree the main one's; the folder itself where there is none.

    What is not there any more is looked for above. A home folder is no project, also if it is kept in git.
    """
    path = Path(folder)
    if not path.is_absolute() or "\0" in folder:
        return folder
    for above in (path, *path.parents):
        if project_name(str(above)) is None:
            break
        try:
            if (above / ".git").is_dir():
                return str(above)
            if (above / ".git").is_file():
                return str(_main_of(above))
        except OSError:  # a folder nobody may look into, or a name too long to be one
            break
    return folder


def _main_of(worktree: Path) -> Path:
    """Where git says its main folder is. A submodule is a repository of its own, and so is what points to itself."""
    pointer = _small(worktree / ".git")
    if not pointer.startswith("gitdir:"):
        return worktree
    own = (worktree / pointer.removeprefix("gitdir:").strip()).resolve()
    if not (own / "commondir").is_file():
        return worktree
    common = (own / _small(own / "commondir")).resolve()
    listed = own.parent == common / "worktrees" and _small(own / "gitdir") == str(worktree.resolve() / ".git")
    return common.parent if listed and common.name == ".git" else worktree


def _small(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_LONGEST_POINTER).strip()
