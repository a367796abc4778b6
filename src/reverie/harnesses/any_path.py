"""Targets by their path, and instructions in files that are only read.

`./notes/rules.md`, a folder of .md files, `agents:<project folder>`, a Hermes home. The name of such a target is the
whole path, so that it finds the same place from anywhere. Whoever may name a path may read and write there: a server
hands no stranger's words to `by_path`.

Instructions agents are given as files are SOUL.md, AGENTS.md, CLAUDE.md, or any a setting names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.core.errors import NotPermitted
from reverie.harnesses.hermes.folder import HermesTarget, is_hermes_home
from reverie.harnesses.markdown import (
    Listed,
    MarkdownTarget,
    every_file,
    existing_places,
    fixed,
    is_file,
    is_folder,
    real,
)
from reverie.memory.target import CONTEXT_FILES, SHARED, Place, Target, context_of, files_named
from reverie.skills.edits import rules_of
from reverie.system.files import read_file, repository_root
from reverie.transcripts.session import project_name

_SHARED = "Instructions to every agent that works in {}, shared with all who have them. Read in every session there."
INSTRUCTIONS = {
    "AGENTS.md": _SHARED,
    "CLAUDE.md": _SHARED,
    "CLAUDE.local.md": "One person's own instructions to Claude Code for {}, not shared. Read in every session there.",
}
LIST = Place("", "list", purpose="A list someone keeps. Who reads it is not known: whoever is given it.")


def by_path(name: str) -> Target | None:
    """None when it is no path, or leads nowhere. The key of a target that was found by its path finds it again."""
    if not name.isprintable():
        return None
    kind, _, rest = name.partition(":")
    match kind if rest else "":
        case "agents":
            return _of_project(_path(rest), lambda places: existing_places(*places))
        case "markdown":
            return _of_project(_path(rest), lambda places: every_file(places[0], others=LIST))
        case "hermes":
            return _hermes(_path(rest))
    path = _path(name)
    if path.suffix == ".md" and is_file(path):
        return _in_folder(path.parent, path.name)
    return _in_folder(path) if "/" in name or name in (".", "..") else None


def _path(text: str) -> Path:
    path = Path(text)
    try:
        return path.expanduser().absolute()
    except RuntimeError:  # the home of someone who is not known here
        return path.absolute()


def _of_project(folder: Path, listed: Callable[[Sequence[Place]], Listed]) -> Target | None:
    if not is_folder(folder):
        return None
    folder = real(folder)
    project = repository_root(str(folder))
    name = project_name(project) or project
    places = [
        Place(document, "list", audience=name, audience_path=project, purpose=purpose.format(name))
        for document, purpose in INSTRUCTIONS.items()
    ]
    return MarkdownTarget(f"agents:{folder}", folder, f"every agent that works in {folder}", listed(places))


def _hermes(home: Path) -> Target | None:
    return HermesTarget(real(home), str(real(home))) if is_hermes_home(home) else None


def _in_folder(folder: Path, document: str = "") -> Target | None:
    """Hermes' files are no lists: written as if they were, they would be damaged."""
    if not is_folder(folder):
        return None
    folder = real(folder)
    hermes = _hermes(folder.parent if folder.name == "memories" else folder)
    if hermes is not None:
        return hermes
    path = folder / document
    listed = fixed(replace(LIST, document=document)) if document else every_file(others=LIST)
    return MarkdownTarget(str(path), folder, f"whoever is given {path}", listed)


IN_A_PROJECT = (*SHARED, *CONTEXT_FILES["project"])
_LARGEST = 1_000_000


def instructions_in(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Each line or item with the file it stands in. A folder is a project; what is not there says nothing."""
    for path in paths:
        for file in files_named(path, IN_A_PROJECT) if path.is_dir() else [path]:
            try:
                small = file.is_file() and file.stat().st_size <= _LARGEST
                text = (read_file(file) or b"").decode("utf-8", "replace") if small else ""
            except (OSError, NotPermitted):
                continue  # what may not be read is told to no agent of this user either
            for rule in rules_of(text.splitlines(keepends=True)):
                yield str(file), rule.text


def context_files_beside(target: Target) -> list[Path]:
    """The context files of a target's harness that are no documents of the target itself."""
    folder, names = context_of(target)
    listed = {place.document for place in target.places()}
    found = [path for path in files_named(folder, names) if path.relative_to(folder).as_posix() not in listed]
    return list(dict.fromkeys((*getattr(target, "instructions", ()), *found)))
