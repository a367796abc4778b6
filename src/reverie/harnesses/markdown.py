"""Lists in Markdown files: their items are entries of a target.

Every byte of a list that is no item stays as it is. Claude Code, OpenClaw, AGENTS.md, the Home's own memory
(`memory/MEMORY.md` and `USER.md`, as small as Hermes keeps them) and any folder someone names are of this kind. One
folder has one key under every name, so that a document has one history whichever target it was changed on.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from reverie.core.errors import BadInput
from reverie.memory.target import Held, Place
from reverie.memory.targets import HomePlaces
from reverie.system.files import PATIENCE_SECONDS, flocked, flocked_folder, read_file
from reverie.system.shared_files import HeldFiles, has_displaced_files, modified_at

Listed = Callable[[Path], Sequence[Place]]
# Characters of a file that is read whole in every session: above it Claude Code warns that it will impact performance.
# (Seen in 2.1.197, for the smallest contexts.) Other agents know no limit; that many words are no less there.
INSTRUCTIONS_LIMIT = 40_000
_NAME = re.compile(r"\w[\w .,()+@=-]{0,199}\.md")


class FolderTarget:
    """Documents that are files of one folder, held by a lock on the folder itself, which leaves nothing in it. So one
    document of a folder is held at a time."""

    folder: Path

    def read(self, document: str) -> bytes | None:
        return read_file(self._path(document))

    @contextmanager
    def held(self, document: str) -> Iterator[Held]:
        self._path(document)
        with flocked_folder(self.folder, PATIENCE_SECONDS):
            yield HeldFiles(self._path, self._alone)

    def has_displaced(self, document: str) -> bool:
        return has_displaced_files(self._path(document))

    def written_at(self, document: str) -> datetime | None:
        return modified_at(self._path(document))

    def _alone(self, document: str) -> AbstractContextManager[None]:
        """The lock of the tools that write the file, for the exchange."""
        return flocked(self._path(document).with_name(f"{document}.lock"), PATIENCE_SECONDS)

    def _path(self, document: str) -> Path:
        raise NotImplementedError


@dataclass(eq=False)
class MarkdownTarget(FolderTarget):
    """`listed` names the documents each time they are asked for; the folder is made real once, when it is named.

    These folders are other people's, and few of their tools have a lock; `lock_files` takes `MEMORY.md.lock` while a
    file is exchanged.

    `agent_folder` is there if the agent that reads it is used on this machine; `harness` is that agent, by the name of
    the reader of its transcripts; `skills` is where it reads the skills of this person.
    """

    name: str
    folder: Path
    reach: str
    listed: Listed
    lock_files: bool = False
    is_ready: Callable[[], bool] = bool
    agent_folder: Path | None = None
    harness: str = ""
    skills: Path | None = None

    def __post_init__(self) -> None:
        self.folder = real(self.folder)
        self.key = f"markdown:{self.folder}"

    @property
    def ready(self) -> bool:
        """Whether its tool reads the first of its documents as soon as there is one."""
        return self.is_ready()

    def places(self) -> list[Place]:
        return list(self.listed(self.folder))

    def _alone(self, document: str) -> AbstractContextManager[None]:
        return super()._alone(document) if self.lock_files else nullcontext()

    def _path(self, document: str) -> Path:
        if not _NAME.fullmatch(document):
            raise BadInput(f"A document cannot be named {document!r}.", expected="the name of a .md file")
        return self.folder / document


def own_instructions(title: str, document: str) -> Place:
    purpose = f"The person's own instructions to {title}, for everything they do. Read in every session."
    return Place(document, "list", INSTRUCTIONS_LIMIT, purpose=purpose)


def agent_target(name: str, harness: str, title: str, folder: Path, listed: Listed) -> MarkdownTarget:
    """What an agent that is used here reads in every session."""
    reach, skills = f"every {title} session of this user", folder / "skills"
    return MarkdownTarget(name, folder, reach, listed, agent_folder=folder, harness=harness, skills=skills)


def fixed(*places: Place) -> Listed:
    return lambda _: places


def existing_places(*places: Place) -> Listed:
    """Those that are there; the first of them where none is. A link beside its target is not a document of its own."""

    def listed(folder: Path) -> Sequence[Place]:
        return [place for place in places if _is(folder / place.document, stat.S_ISREG)] or places[:1]

    return listed


def every_file(*first: Place, others: Place) -> Listed:
    """All .md files of a folder by name, behind the ones that come first. What holds of one of them, `others` says."""

    def listed(folder: Path) -> Sequence[Place]:
        known = {place.document for place in first}
        names = sorted(name for name in names_in(folder) if _NAME.fullmatch(name) and name not in known)
        return [*first, *(replace(others, document=name) for name in names if _is(folder / name, stat.S_ISREG))]

    return listed


def real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def names_in(folder: Path) -> list[str]:
    """Nothing, where there is no folder or none that may be looked into."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def folders_in(folder: Path, named: re.Pattern[str]) -> list[Path]:
    """The folders there whose names are as they should be."""
    return [folder / name for name in names_in(folder) if named.fullmatch(name) and is_folder(folder / name)]


def is_folder(path: Path) -> bool:
    return _is(path, stat.S_ISDIR, follow=True)


def is_file(path: Path) -> bool:
    """Or a link in the place of one: to be refused with a reason by who reads it."""
    return _is(path, stat.S_ISREG, follow=True)


def _is(path: Path, kind: Callable[[int], bool], *, follow: bool = False) -> bool:
    try:
        return kind(path.stat(follow_symlinks=follow).st_mode)
    except OSError:
        return False


_NOTES = "Notes for agents: environment, projects, conventions, tools. Read in every prompt this home builds."
_PERSON = "Who the person is and how they want to be treated. Read in every prompt this home builds."


def home_targets(where: HomePlaces) -> Iterator[MarkdownTarget]:
    places = Place("MEMORY.md", "list", 2200, purpose=_NOTES), Place("USER.md", "list", 1375, purpose=_PERSON)
    reach = "every prompt this home builds"
    yield MarkdownTarget("home", where.home / "memory", reach, fixed(*places), lock_files=True)
