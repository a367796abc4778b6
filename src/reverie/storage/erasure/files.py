"""Files of the Home and beside targets, without what is to go: implements `reverie.erasure.records.Derived`.

Views, git and the index are made anew; every other file of the Home is looked through. Settings are the owner's own to
change, and are named instead. Backups are read through and named; beside each lies what a restore has to leave out.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from reverie.core.errors import BadInput, ReverieError
from reverie.core.scope import LOCAL, Scope
from reverie.erasure.records import Backups, ErasurePlace, Left, Sought
from reverie.erasure.traces import Tombstones
from reverie.erasure.words import Scrubber
from reverie.storage.backup_archive import Unpacking
from reverie.system.files import PATIENCE_SECONDS, flocked, read_file, replace_file, sync_folder
from reverie.system.git_projection import GitProjection

SETTINGS = ("reverie.toml", "policy.toml")
OURS_BY_OTHER_MEANS = ("index", "history", ".restoring")
# What nights left is told again from the rows; the mark that the folder is ours goes last.
VIEWS = ("runs", "backups", "DREAMS.md", "candidates.jsonl", "decisions.jsonl", "promotions.jsonl", "state.json")
QUEUE = "queue"
# Written by our plugin into the folder of a Hermes home, before the first night too: nothing says then that it is ours.
OF_THE_PLUGIN = ("finished.jsonl", "outcomes.jsonl", "night.log")
BESIDE = ".erased.json"  # the name of a backup, with this behind it
RESTORED = "erased-since-the-backup.json"
_DATABASE = (".db", ".db-wal", ".db-shm", ".db-journal", ".lock")
_BLOCK, _OVERLAP = 2**22, 2**16


@dataclass(frozen=True, slots=True)
class HomeFiles:
    """`dream_folders` are the state folders of nights; `show` writes what is in them anew."""

    home: Path
    projection: Callable[[], GitProjection]
    dream_folders: Callable[[], Iterable[Path]]
    show: Callable[[], None]
    renew_index: Callable[[], None]
    forget_nights: Callable[[], None]

    def alone(self) -> AbstractContextManager[None]:
        return flocked(self.home / "erasure.lock", PATIENCE_SECONDS)

    def holding(self, scope: Scope, sought: Sought) -> Iterator[ErasurePlace]:
        holding = [path for path in self._files() if _holds(path, self._scrubber(path, sought))]
        for path in dict.fromkeys((*holding, *(path for path, _ in self._renamed(sought)))):
            yield ErasurePlace("files", str(path))

    def views(self, scope: Scope, sought: Sought) -> list[ErasurePlace]:
        done: list[ErasurePlace] = []
        for folder in self.dream_folders():
            for name in VIEWS if _is_ours(folder) else ():
                shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)
        if sought.everything:
            for name in ("memory", "skills", "dreaming", "bridge", "ab", "routes", QUEUE):
                shutil.rmtree(self.home / name, ignore_errors=True)
        for path in self._files():
            content, scrub = _read(path), self._scrubber(path, sought)
            if content is not None and (new := _cleaned(path, content, scrub)) != content:
                # A queued transcript is named by its path: with another one it would wait for ever.
                path.unlink() if path.parent == self.home / QUEUE else replace_file(path, new)
                done.append(ErasurePlace("files", str(path)))
        for path, name in self._renamed(sought):
            # With a number where a file has the name already.
            path.rename(next(one for one in (path.with_name(f"{n or ''}{name}") for n in count()) if not one.exists()))
            sync_folder(path.parent)
            done.append(ErasurePlace("files", str(path.parent)))
        self.show()
        return done

    def _renamed(self, sought: Sought) -> list[tuple[Path, str]]:
        """Files and folders whose names hold it, with the names they are to have."""
        scrubbed = ((path, self._scrubber(path, sought)) for path in (*self._files(), *self._folders()))
        return [(path, scrub.clean(path.name)) for path, scrub in scrubbed if scrub and scrub.has(path.name)]

    def _scrubber(self, path: Path, sought: Sought) -> Scrubber:
        """The scrubber for a file: memory and skills in the home are someone's own words, no quotations."""
        own = any(path.is_relative_to(self.home / name) for name in ("memory", "skills"))
        return sought.of_documents if own else _words(sought)

    def _files(self) -> Iterator[Path]:
        """Files that may hold somebody's words and are neither the database's, git's nor the index's."""
        for path in sorted(self.home.iterdir()) if self.home.is_dir() else ():
            if path.name not in (*OURS_BY_OTHER_MEANS, *SETTINGS, RESTORED):
                yield from _below(path)
        for folder in self.dream_folders():
            if not folder.is_relative_to(self.home):
                for path in [folder] if _is_ours(folder) else [folder / name for name in OF_THE_PLUGIN]:
                    yield from _below(path)

    def _folders(self) -> Iterator[Path]:
        """Those below the places of the home, the innermost first: its path holds until the outer one is renamed."""
        for path in sorted(self.home.iterdir()) if self.home.is_dir() else ():
            if path.name not in OURS_BY_OTHER_MEANS and path.is_dir() and not path.is_symlink():
                below = [Path(parent, name) for parent, names, _ in os.walk(path, topdown=False) for name in names]
                yield from (one for one in below if ".git" not in one.parts and not one.is_symlink())

    def git(self, scope: Scope) -> list[Left]:
        try:
            kept = self.projection().purge()
        except (ReverieError, OSError) as error:
            return [Left(str(self.home / "history"), f"git could not be made anew: {error}", failed=True)]
        return [Left(str(root), "a repository of your own: what was committed there stays in it") for root in kept]

    def before_rows_go(self, scope: Scope) -> None:
        """Where all Changes of somebody go, nothing says afterwards which repositories were made of them."""
        if scope.workspace == LOCAL:
            self.projection().remove_all()
        self.forget_nights()

    def index(self, scope: Scope) -> None:
        if scope.workspace == LOCAL:
            self.renew_index()
        else:
            shutil.rmtree(self.home / "index" / scope.workspace, ignore_errors=True)
        for damaged in (self.home / "index").glob("*/damaged-*"):
            shutil.rmtree(damaged, ignore_errors=True)

    def backups(self, scope: Scope, sought: Sought, known: Backups) -> Iterator[Left]:
        for name in SETTINGS:
            if (scrub := _words(sought)) and _holds(self.home / name, scrub):
                yield Left(str(self.home / name), "settings of yours: change them by hand")
        for path, made in known:
            file = Path(path)
            if file.is_file() and _backup_holds(file, sought):
                why = f"a backup of {made:%Y-%m-%d %H:%M}: it holds it until you delete it; a restore leaves it out"
                yield Left(path, why)

    def beside_backups(self, scope: Scope, stones: Tombstones, known: Backups) -> None:
        for path, _ in known:
            if Path(path).is_file():
                self._add(Path(f"{path}{BESIDE}"), scope.workspace, stones)
        self._add(self.home / f"home{BESIDE}", scope.workspace, stones)

    def _add(self, file: Path, workspace: str, stones: Tombstones) -> None:
        try:
            _write_stones(file, dict(read_stones(file)) | {workspace: stones})
        except ReverieError:
            return  # a backup on a disk that cannot be written: `reverie restore --erased` can name another file

    def restored(self) -> list[tuple[str, Tombstones]]:
        return read_stones(self.home / RESTORED)

    def restored_done(self) -> None:
        (self.home / RESTORED).unlink(missing_ok=True)


def read_stones(file: Path) -> list[tuple[str, Tombstones]]:
    """Tombstones by workspace; none where there is no such file."""
    content = read_file(file)
    if content is None:
        return []
    try:
        return [(str(one["workspace"]), Tombstones.from_json(one)) for one in json.loads(content)["workspaces"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{file} is not a list of what was erased.",
            expected="a file that `reverie erase` wrote",
            next_step="Take the one beside the backup. Nothing was changed.",
        ) from error


def _write_stones(file: Path, stones: Mapping[str, Tombstones]) -> None:
    said = [one.to_json(workspace) for workspace, one in stones.items()]
    replace_file(file, json.dumps({"made_by": "reverie", "workspaces": said}, indent=1).encode())


@contextmanager
def hand_over(home: Path, backup: Path, named: Path | None) -> Iterator[None]:
    """Lay what was erased since a backup was made where the restored Home finds it. It lies there before the rows are
    in, so that a restore that is killed behind its commit is still followed by the erasing."""
    found: dict[str, Tombstones] = {}
    for file in (Path(f"{backup}{BESIDE}"), home / f"home{BESIDE}", *([named] if named else [])):
        found |= dict(read_stones(file))
    if named and not read_stones(named):
        raise BadInput(f"There is nothing in {named}.", expected="a file that `reverie erase` wrote")
    if not found:
        yield
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_stones(home / RESTORED, found)
    try:
        yield
    except ReverieError:
        (home / RESTORED).unlink(missing_ok=True)  # nothing was restored
        raise


def _words(sought: Sought) -> Scrubber:
    return replace(sought.of_records, exact=frozenset())


def _below(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        return
    if path.is_dir():
        if path.name != ".git":
            for child in sorted(path.iterdir()):
                yield from _below(child)
    elif path.is_file() and not path.name.endswith(_DATABASE) and ".db." not in path.name:
        yield path


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except ReverieError:
        return None


def _holds(path: Path, scrub: Scrubber) -> bool:
    content = _read(path) if scrub else None
    return content is not None and _cleaned(path, content, scrub) != content


def _cleaned(path: Path, content: bytes, scrub: Scrubber) -> bytes:
    """JSON by its values, so that what is escaped in it is found and it stays JSON."""
    if path.suffix not in (".json", ".jsonl"):
        return scrub.content(content)
    text = content.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True) if path.suffix == ".jsonl" else [text]
    new = "".join(scrub.value(line.rstrip("\n")) + line[len(line.rstrip("\n")) :] for line in lines)
    return content if new == text else scrub.content(new.encode("utf-8", "surrogateescape"))


def _is_ours(folder: Path) -> bool:
    try:
        return bool(json.loads(_read(folder / "state.json") or b"{}").get("made_by") == "reverie")
    except (ValueError, AttributeError):
        return False


def _backup_holds(file: Path, sought: Sought) -> bool:
    """Whether a backup has the words, or rows of the sessions or the person."""
    scrub, ids = _words(sought), {json.dumps(session.id)[1:-1] for session in sought.sessions}
    person = {f'"user":{json.dumps(sought.user, ensure_ascii=False)}'} if sought.user is not None else set[str]()
    marks = [mark.encode() for mark in ids | person]
    try:
        with file.open("rb") as opened:
            backup = Unpacking(opened)
            manifest, _ = backup.verified()
            for _, content in backup.members(manifest):
                last = b""
                while block := content.read(_BLOCK):
                    here = last + block
                    if any(mark in here for mark in marks) or scrub.content(here) != here:
                        return True
                    last = here[-_OVERLAP:]
    except (ReverieError, OSError):
        return True  # what cannot be read may hold it
    return False
