"""A folder of skills on disk: `**/SKILL.md` and flat `*.md` files, under one lock of ours.

Links are never followed and nothing outside the root is ever touched. Folders are opened one below the other from the
root, so that a folder swapped for a link meanwhile leads nowhere else; where the system has no `/proc` every folder on
the way is looked at just before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path, PurePosixPath

from reverie.core.errors import BadInput, NotFound, NotPermitted, ReverieError
from reverie.memory.target import Displaced, Held
from reverie.safety.scan import MOST_FILES
from reverie.skills.skill import MAIN, checked_document
from reverie.system.files import PATIENCE_SECONDS, flocked_folder
from reverie.system.shared_files import DisplacedFile, HeldFiles, has_displaced_files, is_kept

MOST_BYTES = 64 * 1024 * 1024  # of one skill
DEEPEST = 12
SCRIPT_MODE = 0o700
_OPEN = Path("/proc/self/fd")


class SkillFolder:
    """`name` is what people type; `key` is the same folder under every name, with links to it resolved."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder = self.root = root.expanduser().resolve()
        self.name = name
        self.key = f"skills:{self.root}"
        self.reach = f"every agent that is given the skills in {self.root.name}, when a task calls for one"

    def subjects(self) -> list[str]:
        """The skills there are, sorted. Hidden folders are skipped: the archive, a hub's quarantine, git."""
        return sorted(_subjects(self.root, "", 0))

    def files(self, subject: str) -> dict[str, bytes]:
        """Every regular file of a skill by its path below the root; nothing when there is no such skill. A retired one
        is found under `.archive/<name>`. Links are left out, and so is what git keeps."""
        checked_document(subject)
        if subject.endswith(".md"):
            content = self.read(subject)
            return {} if content is None else {subject: content}
        found: dict[str, bytes] = {}
        size = 0
        for document in _documents(self.root, subject):
            checked_document(document)
            content = self.read(document)
            if content is not None:
                found[document] = content
                size += len(content)
            if len(found) > MOST_FILES or size > MOST_BYTES:
                raise BadInput(
                    f"The skill {subject!r} is too large.",
                    expected=f"at most {MOST_FILES:,} files and {MOST_BYTES // 2**20} MB",
                    next_step="Move what is no part of the skill out of its folder.",
                )
        return found

    def read(self, document: str) -> bytes | None:
        return _HeldSkills(self.root).read(document)

    def has_displaced(self, subject: str) -> bool:
        """Whether files are kept beside those of a skill that theirs displaced."""
        if subject.endswith(".md"):
            return has_displaced_files(self.root / subject)
        return any(True for _ in _documents(self.root, subject, kept=True))

    @contextmanager
    def held(self, subject: str) -> Iterator[Held]:
        """Take our lock, on the folder itself: it may lie in someone's repository, and nothing is left in it. Other
        programs do not know it: what is read under it is what counts."""
        checked_document(subject)
        with flocked_folder(self.root, PATIENCE_SECONDS):
            yield _HeldSkills(self.root)


class _HeldSkills:
    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def _files(self, document: str) -> Iterator[HeldFiles]:
        with _pinned(self._root, checked_document(document)) as path:
            yield HeldFiles(lambda _: path)

    def read(self, document: str) -> bytes | None:
        with suppress(NotFound), self._files(document) as files:
            return files.read(document)
        return None

    def write(self, document: str, content: bytes | None, expected: bytes | None) -> bool:
        document = checked_document(document)
        if ".git" in document.split("/"):
            raise NotPermitted(f"{document!r} is not a file of a skill.", next_step="Name a file of a skill.")
        if content is None:
            return self._taken_away(document, expected)
        folder, _, name = document.rpartition("/")
        with _opened(self._root, folder, make=True) as handle, self._files(document) as files:
            new = not os.access(name, os.F_OK, dir_fd=handle, follow_symlinks=False)
            done = files.write(document, content, expected)
            if done and new and content.startswith(b"#!"):
                # So that a script that moves to the archive and back can still be run.
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
                try:
                    os.fchmod(file, SCRIPT_MODE)
                finally:
                    os.close(file)
            return done

    def alone(self, document: str) -> AbstractContextManager[None]:
        return nullcontext()

    def displaced(self, document: str) -> list[Displaced]:
        found = list[DisplacedFile]()
        with suppress(NotFound), self._files(document) as files:
            found = files.with_news(document)
        return [Displaced(one.base, one.content, partial(self._recorded, document, one)) for one in found]

    def clean_displaced(self, document: str, clean: Callable[[bytes], bytes]) -> int:
        with suppress(NotFound), self._files(document) as files:
            return files.clean_displaced(document, clean)
        return 0

    def _recorded(self, document: str, kept: DisplacedFile) -> None:
        with self._files(document) as files:
            files.recorded(document, kept)

    def _taken_away(self, document: str, expected: bytes | None) -> bool:
        try:
            with self._files(document) as files:
                if not files.write(document, None, expected):
                    return False
        except NotFound:
            return expected is None
        for folder in list(PurePosixPath(document).parents)[:-1]:
            above = folder.parent.as_posix()
            try:
                with _opened(self._root, "" if above == "." else above) as handle:
                    os.rmdir(folder.name, dir_fd=handle)
            except (OSError, ReverieError):  # it holds something else, or is gone already
                break
        return True


def _subjects(root: Path, below: str, depth: int) -> Iterator[str]:
    """A folder with SKILL.md in it is one skill with all that is below. Files named in capitals, such as README.md or
    Hermes' DESCRIPTION.md, are about the folder they are in."""
    folders, names = _entries(root, below)
    if below and not set(names).isdisjoint(MAIN):
        yield below
        return
    lead = f"{below}/" if below else ""
    yield from (
        f"{lead}{name}"
        for name in names
        if name.endswith(".md") and not name.startswith(".") and not name[:-3].isupper()
    )
    if depth < DEEPEST:
        for name in folders:
            if not name.startswith("."):
                yield from _subjects(root, f"{lead}{name}", depth + 1)


def _documents(root: Path, folder: str, depth: int = 0, *, kept: bool = False) -> Iterator[str]:
    """All regular files below a skill's folder; or those that they displaced."""
    folders, names = _entries(root, folder)
    yield from (f"{folder}/{name}" for name in names if is_kept(name) is kept)
    if depth < DEEPEST:
        for name in folders:
            if name != ".git":
                yield from _documents(root, f"{folder}/{name}", depth + 1, kept=kept)


def _entries(root: Path, folder: str) -> tuple[list[str], list[str]]:
    """The names of the folders and of the regular files in a folder, sorted; none where there is no such folder."""
    folders, files = [], []
    try:
        with _opened(root, folder) as handle, os.scandir(handle) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except NotFound:
        return [], []
    return sorted(folders), sorted(files)


@contextmanager
def _opened(root: Path, folder: str, *, make: bool = False) -> Iterator[int]:
    """A folder below the root, every folder on the way a real one, held open while it is used."""
    with ExitStack() as opened:
        handle = _handle(root, None, root, make)
        opened.callback(os.close, handle)
        for part in filter(None, folder.split("/")):
            handle = _handle(part, handle, root / folder, make)
            opened.callback(os.close, handle)
        yield handle


def _handle(name: Path | str, above: int | None, whole: Path, make: bool) -> int:
    try:
        if make and above is not None:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=above)
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except FileNotFoundError as error:
        raise NotFound(f"There is no {whole}.") from error
    except OSError as error:
        raise NotPermitted(
            f"{whole} could not be opened: {name!s} is a link, no folder, or not ours to open.",
            expected="a folder of its own",
            next_step="A link is not followed; give the folder it points to as a skills folder of its own.",
        ) from error


@contextmanager
def _pinned(root: Path, document: str) -> Iterator[Path]:
    """The path of a document whose last folder is named in a folder that is held open: `HeldFiles` refuses a link in
    the place of the last one, and no other can be exchanged. What goes wrong is told of the real path."""
    real = root / document
    above = PurePosixPath(document).parent.parent.as_posix()
    if "/" not in document or not _OPEN.is_dir():
        with _opened(root, document.rpartition("/")[0]):
            yield real
        return
    with _opened(root, "" if above == "." else above) as handle:
        pinned = _OPEN / str(handle) / real.parent.name / real.name
        try:
            yield pinned
        except ReverieError as error:
            found = error.found.replace(str(pinned), str(real)).replace(str(pinned.parent), str(real.parent))
            raise type(error)(found, expected=error.expected, next_step=error.next_step) from error
