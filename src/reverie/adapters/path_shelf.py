"""A shelf by its path: `./notes/rules.md`, a folder of .md files, `agents:<project folder>`, a Hermes home.

Its name is the whole path, so that it finds the same place from anywhere. Whoever may name a path may read and write
there: a server hands no stranger's words to `by_path`.
"""

from __future__ import annotations

from pathlib import Path

from reverie.adapters.hermes_shelf import HermesShelf, is_hermes_home
from reverie.adapters.markdown_shelf import (
    Listed,
    MarkdownShelf,
    every_file,
    fixed,
    is_file,
    is_folder,
    present,
    real,
)
from reverie.memory.shelf import Place, Shelf

INSTRUCTIONS = tuple(Place(name, "list") for name in ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"))


def by_path(name: str) -> Shelf | None:
    """None when it is no path, or leads nowhere. The key of a shelf that was found by its path finds it again."""
    if not name.isprintable():
        return None
    kind, _, rest = name.partition(":")
    match kind if rest else "":
        case "agents":
            return _of_project(_path(rest), present(*INSTRUCTIONS))
        case "markdown":
            return _of_project(_path(rest), every_file(INSTRUCTIONS[0]))
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


def _of_project(folder: Path, listed: Listed) -> Shelf | None:
    if not is_folder(folder):
        return None
    folder = real(folder)
    return MarkdownShelf(f"agents:{folder}", folder, f"every agent that works in {folder}", listed)


def _hermes(home: Path) -> Shelf | None:
    return HermesShelf(real(home), str(real(home))) if is_hermes_home(home) else None


def _in_folder(folder: Path, document: str = "") -> Shelf | None:
    """Hermes' files are no lists: written as if they were, they would be damaged."""
    if not is_folder(folder):
        return None
    folder = real(folder)
    hermes = _hermes(folder.parent if folder.name == "memories" else folder)
    if hermes is not None:
        return hermes
    path = folder / document
    listed = fixed(Place(document, "list")) if document else every_file()
    return MarkdownShelf(str(path), folder, f"whoever is given {path}", listed)
