"""Everything that was learned and decided, in a folder that needs no Reverie to be read.

<folder>/README.md              what is what
         <target or skills>/    the files as they are, each folder a git repository with one commit for each change
         stores/<store>/…       memory stores, one file for each memory
         rules.jsonl            every rule in force: since when, on what evidence, approved by whom
         changes.jsonl          every change, with the text before and after
         proposals.jsonl        everything a person was asked, and what they answered
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from reverie.changes.drafts import Holder
from reverie.changes.ledger import Anchored
from reverie.core.errors import BadInput
from reverie.core.ids import json_ready, slug
from reverie.system.files import make_folder, replace_file
from reverie.system.git_projection import is_executable, root_of
from reverie.system.git_repository import RepositoryPlace, opened

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
