"""Records that are kept in files: the state of a target's nights, experiments, the queue of ended sessions, and copies
of managed memory stores. And everything that was learned and decided, exported into a folder.

What is exported needs no Reverie to be read:

    <folder>/README.md              what is what
             <target or skills>/    the files as they are, each folder a git repository with one commit for each change
             stores/<store>/…       memory stores, one file for each memory
             rules.jsonl            every rule in force: since when, on what evidence, approved by whom
             changes.jsonl          every change, with the text before and after
             proposals.jsonl        everything a person was asked, and what they answered
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from reverie.bridge.places import LearnedRoute
from reverie.bridge.server import BridgeNight
from reverie.bridge.source import HeardSession, RemoteDream, RemoteStore, RemoteVersion
from reverie.changes.drafts import Holder
from reverie.changes.ledger import Anchored
from reverie.core.errors import BadInput
from reverie.core.ids import from_json, json_ready, sha256, slug, values_of
from reverie.experiments import Experiment, Outcome
from reverie.system.files import PATIENCE_SECONDS, explained, flocked, make_folder, read_file, remove_file, replace_file
from reverie.system.git_repository import RepositoryPlace, holder_root, is_executable, opened
from reverie.transcripts.files import kept_name
from reverie.transcripts.records import Ended

ASIDE = "before-reverie"
LOCK = ".reverie.lock"
NIGHT_LOCK = ".night.lock"
THEIRS = (
    "DREAMS.md",
    "state.json",
    "candidates.jsonl",
    "decisions.jsonl",
    "promotions.jsonl",
    "runs",
    "backups",
    "config.yaml",
    "memory_mutations.lock",
)
TAIL = 65_536  # bytes in which the last line begins
SOURCE, DREAMS, PROPOSED, SESSIONS = "source.json", "dreams.json", "proposed.json", "sessions"
STORE, VERSIONS, TEXTS, NIGHTS = "store.json", "versions.jsonl", "texts", "nights"


class DreamFiles:
    """The state folder of a target's nights: written whole, after what another tool left there was put aside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One night at a time over a target, on this machine."""
        make_folder(self.folder)
        with flocked(self.folder / NIGHT_LOCK, PATIENCE_SECONDS):
            yield

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace what changed; a file with the same bytes is left alone."""
        make_folder(self.folder)
        with flocked(self.folder / LOCK):
            self._put_aside()
            for name, content in files.items():
                path = self.folder / name
                if read_file(path) != content:
                    make_folder(path.parent)
                    replace_file(path, content)

    def _put_aside(self) -> None:
        """Files of another tool are moved, never overwritten: they are its users' history."""
        content = read_file(self.folder / "state.json") or b"{}"
        with suppress(ValueError):
            state = json.loads(content)
            if isinstance(state, dict) and state.get("made_by") == "reverie":
                return
        theirs = [self.folder / name for name in THEIRS if (self.folder / name).exists()]
        if theirs:
            # The folder, or one numbered beside it if something was put aside before.
            numbered = (self.folder / (f"{ASIDE}-{number}" if number > 1 else ASIDE) for number in range(1, 1000))
            aside = next(path for path in numbered if not path.exists())
            make_folder(aside)
            for path in theirs:
                path.rename(aside / path.name)


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    """Experiments below the home: implements `reverie.experiments.ExperimentRecords`.

    <home>/ab/<name>/experiment.json
                     outcomes.jsonl     one line a session, only ever appended to; a unit by its hash
    """

    folder: Path

    def names(self) -> list[str]:
        return sorted(path.parent.name for path in self.folder.glob("*/experiment.json"))

    def get(self, name: str) -> Experiment | None:
        content = read_file(self.folder / name / "experiment.json")
        if content is None:
            return None
        return from_json(Experiment, json.loads(content))

    def put(self, experiment: Experiment) -> None:
        make_folder(self.folder / experiment.name)
        row = json_ready(experiment)
        replace_file(self.folder / experiment.name / "experiment.json", json.dumps(row, indent=1).encode() + b"\n")

    def outcomes(self, name: str) -> list[Outcome]:
        return [from_json(Outcome, row) for row in _read_rows(self.folder / name / "outcomes.jsonl")]

    def add(self, name: str, outcome: Outcome) -> None:
        line = json.dumps(json_ready(outcome)).encode() + b"\n"
        with flocked(self.folder / name / "outcomes.lock", PATIENCE_SECONDS):
            _append_lines(self.folder / name / "outcomes.jsonl", line)


@dataclass(frozen=True, slots=True)
class SessionQueue:
    """Sessions that ended and wait for the next night: implements `reverie.transcripts.records.EndedSessions`.

    A small file each, in `queue/` of the home. An agent's hook writes it in milliseconds, without the database; who
    brings transcripts in takes it away. The same transcript waits once, however often it is queued.
    """

    folder: Path

    def put(self, reader: str, transcript: Path) -> Ended:
        make_folder(self.folder)
        path = kept_name(transcript)
        replace_file(self._file(path), json.dumps({"reader": reader, "path": path}).encode())
        return Ended(path, reader)

    def waiting(self) -> list[Ended]:
        """One that cannot be read says nothing: the night reads the usual folders, too."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []
        return [found for file in files if (found := _read(file))]

    def done(self, ended: Ended) -> None:
        remove_file(self._file(ended.path))

    def _file(self, path: str) -> Path:
        return self.folder / f"{sha256(path)[:32]}.json"


def _read_rows(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of JSON lines."""
    content = read_file(path) or b""
    return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]


def _append_lines(path: Path, lines: bytes) -> None:
    """Behind the last whole line: half a line of a process that was killed is written over."""
    with explained(path, "written"):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b") as file:
            start = max(0, file.seek(0, os.SEEK_END) - TAIL)
            file.seek(start)
            file.seek(start + file.read().rfind(b"\n") + 1)
            file.truncate()
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def _read(file: Path) -> Ended | None:
    try:
        told = json.loads(read_file(file) or b"null")
        return Ended(str(told["path"]), str(told["reader"]))
    except (ValueError, TypeError, KeyError):
        return None


def every_copy(home: Path) -> list[StoreCopies]:
    return [StoreCopies(path.parent) for path in sorted((home / "bridge").glob(f"*/{SOURCE}"))]


@dataclass(frozen=True, slots=True)
class StoreCopies:
    """Copies of managed memory stores below the home: implements `reverie.bridge.source.Copies`.

        <home>/routes/learned.json                where reviewers put things
        <home>/bridge/<source>/source.json        where it came from; never a key
                               dreams.json, proposed.json
                               sessions/<session>.json     what was said in those a dream to be proposed read
                               nights/<store>.json         the last night that was asked for over it
                               <store>/store.json
                                       versions.jsonl      one line a version, only ever appended to
                                       texts/<version>.txt what it said, secrets taken out

    A text is written before the line that names it, so a line that is there can be read; half a line at the end is not
    one.
    """

    folder: Path

    @classmethod
    def of(cls, home: Path, address: str) -> StoreCopies:
        made = cls(home / "bridge" / slug(address))
        make_folder(made.folder)
        replace_file(made.folder / SOURCE, _json({"address": address}))
        return made

    @property
    def address(self) -> str:
        return str(json.loads(read_file(self.folder / SOURCE) or b"{}").get("address", ""))

    def alone(self) -> AbstractContextManager[None]:
        return flocked(self.folder / "pull.lock", PATIENCE_SECONDS)

    def stores(self) -> list[RemoteStore]:
        found = (read_file(path) for path in sorted(self.folder.glob(f"*/{STORE}")))
        return [from_json(RemoteStore, json.loads(content)) for content in found if content]

    def keep_store(self, store: RemoteStore) -> None:
        make_folder(self._of(store.id))
        replace_file(self._of(store.id) / STORE, _json(values_of(store, ("id", "name", "description"))))

    def versions(self, store: str) -> list[RemoteVersion]:
        return [from_json(RemoteVersion, row) for row in _read_rows(self._of(store) / VERSIONS)]

    def keep(self, store: str, kept: Iterable[tuple[RemoteVersion, str | None]]) -> None:
        lines = list[bytes]()
        for version, text in kept:
            if text is not None:
                path = self._text(store, version)
                make_folder(path.parent)
                replace_file(path, text.encode("utf-8", "surrogateescape"))
            lines.append(json.dumps(json_ready(version), ensure_ascii=False).encode() + b"\n")
        if lines:
            _append_lines(self._of(store) / VERSIONS, b"".join(lines))

    def text(self, store: str, version: RemoteVersion) -> str | None:
        content = read_file(self._text(store, version))
        return None if content is None else content.decode("utf-8", "surrogateescape")

    def dreams(self) -> list[RemoteDream]:
        return [from_json(RemoteDream, row) for row in json.loads(read_file(self.folder / DREAMS) or b"[]")]

    def keep_dreams(self, dreams: Iterable[RemoteDream]) -> None:
        known = {one.id: one for one in self.dreams()} | {one.id: one for one in dreams}
        replace_file(self.folder / DREAMS, _json(sorted(known.values(), key=lambda one: (one.created_at, one.id))))

    def heard(self, sessions: Iterable[str]) -> list[HeardSession]:
        found = (read_file(self._session(one)) for one in sorted(sessions))
        return [from_json(HeardSession, json.loads(content)) for content in found if content]

    def keep_heard(self, heard: Iterable[HeardSession]) -> None:
        for one in heard:
            make_folder(self._session(one.id).parent)
            replace_file(self._session(one.id), _json(one))

    def _session(self, name: str) -> Path:
        return self.folder / SESSIONS / f"{_safe(name)}.json"

    def proposed(self) -> frozenset[str]:
        return frozenset(json.loads(read_file(self.folder / PROPOSED) or b"[]"))

    def mark_proposed(self, dreams: Iterable[str]) -> None:
        replace_file(self.folder / PROPOSED, _json(sorted(self.proposed() | set(dreams))))

    def alone_with(self, store: str) -> AbstractContextManager[None]:
        make_folder(self.folder / NIGHTS)
        return flocked(self.folder / NIGHTS / f"{_safe(store)}.lock", 0)

    def night(self, store: str) -> BridgeNight | None:
        content = read_file(self.folder / NIGHTS / f"{_safe(store)}.json")
        if content is None:
            return None
        return from_json(BridgeNight, json.loads(content))

    def keep_night(self, night: BridgeNight) -> None:
        replace_file(self.folder / NIGHTS / f"{_safe(night.store)}.json", _json(night))

    def _of(self, store: str) -> Path:
        return self.folder / _safe(store)

    def _text(self, store: str, version: RemoteVersion) -> Path:
        return self._of(store) / TEXTS / f"{_safe(version.id)}.txt"


@dataclass(frozen=True, slots=True)
class RouteFile:
    """`routes/learned.json`: implements `reverie.bridge.places.LearnedRoutes`."""

    path: Path

    def all(self) -> list[LearnedRoute]:
        rows = json.loads(read_file(self.path) or b"[]")
        return [from_json(LearnedRoute, row) for row in rows]

    def put(self, route: LearnedRoute) -> None:
        make_folder(self.path.parent)
        self._write([*(one for one in self.all() if one.id != route.id), route])

    def remove(self, name: str) -> bool:
        kept = [one for one in self.all() if one.id != name]
        there = len(kept) < len(self.all())
        if there:
            self._write(kept)
        return there

    def _write(self, routes: Iterable[LearnedRoute]) -> None:
        replace_file(self.path, _json(list(routes)))


def _safe(name: str) -> str:
    """A server's id as a name of a file: whatever a server calls it, it stays below our folder."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:80]
    return plain if plain == name and plain else f"{plain}-{sha256(name)[:12]}"


def _json(value: Any) -> bytes:
    return json.dumps(json_ready(value), ensure_ascii=False, indent=1).encode() + b"\n"


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
    root, lock = holder_root(holder), folder / f".{name}.lock"
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
