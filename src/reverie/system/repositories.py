"""The repository a folder of this machine is in. Only looked at, as Claude Code does it; git itself is not called."""

from __future__ import annotations

from pathlib import Path

from reverie.transcripts.projects import project_name

_LONGEST = 4096  # of the small files git points with


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
        return file.read(_LONGEST).strip()
