"""A power cut, as ALICE does it: from a record of the file operations, every disk a cut could have left.

    python -m tests.faults.power FOLDER SCENARIO MOST

What was synced is there. Of what was not, anything may be: nothing, all, names without data, data without names, all
but one operation, one alone, half of the last write. The record is strace's, so that it holds what SQLite does, too.
Prints what it found as JSON; `null` where strace cannot be used.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.houses import House, ours, works
from tests.faults.killing import Expected, Problems, Reached, isolated, looked_at, prepared
from tests.faults.scenarios import SCENARIOS
from tests.faults.tallying import spread
from tests.faults.tracing import CannotTrace, traced


@dataclass(frozen=True)
class Write:
    file: int
    offset: int
    content: bytes


@dataclass(frozen=True)
class Cut:
    """A file cut, or filled up, to a length."""

    file: int
    length: int


@dataclass(frozen=True)
class Name:
    """A name comes to mean a file, instead of the name it had before if it had one."""

    folder: str
    path: str
    file: int
    instead_of: str | None = None


@dataclass(frozen=True)
class Exchange:
    """Two names of one folder come to mean each other's files: both, or neither."""

    folder: str
    one: str
    other: str


@dataclass(frozen=True)
class Unname:
    folder: str
    path: str


@dataclass(frozen=True)
class Sync:
    file: int


@dataclass(frozen=True)
class SyncFolder:
    folder: str


@dataclass(frozen=True)
class Said:
    """Something was acknowledged."""

    kind: str
    what: str


Step = Write | Cut | Name | Exchange | Unname | Sync | SyncFolder | Said
Disk = Mapping[str, bytes]


@dataclass
class Record:
    """Steps, and which file each name means while they are taken down."""

    start: Disk
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files = {path: number for number, path in enumerate(self.start)}
        self.contents = dict(enumerate(self.start.values()))

    def opened(self, path: str, *, emptied: bool = False) -> int:
        if path not in self.files:
            number = len(self.contents)
            self.files[path], self.contents[number] = number, b""
            self.steps.append(Name(_folder(path), path, number))
        elif emptied:
            self.steps.append(Cut(self.files[path], 0))
        return self.files[path]

    def renamed(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)
        self.steps.append(Name(_folder(new), new, self.files[new], old))

    def exchanged(self, one: str, other: str) -> None:
        self.files[one], self.files[other] = self.files[other], self.files[one]
        self.steps.append(Exchange(_folder(other), one, other))

    def removed(self, path: str) -> None:
        if self.files.pop(path, None) is not None:
            self.steps.append(Unname(_folder(path), path))

    def synced(self, path: str) -> None:
        self.steps.append(Sync(self.files[path]) if path in self.files else SyncFolder(path))

    def disks(self) -> Iterator[tuple[Disk, list[Said]]]:
        """Every disk a cut could have left, each once, with what had been acknowledged by then."""
        seen = set()
        for end in range(len(self.steps) + 1):
            said = [step for step in self.steps[:end] if isinstance(step, Said)]
            for disk in self._after(self.steps[:end]):
                known = (len(said), tuple(sorted(disk.items())))
                if known not in seen:
                    seen.add(known)
                    yield disk, said

    def _after(self, steps: Sequence[Step]) -> Iterator[Disk]:
        unsure = [at for at, step in enumerate(steps) if _unsure(step, steps[at + 1 :])]
        data = {at for at in unsure if isinstance(steps[at], Write | Cut)}
        names = set(unsure) - data
        for dropped in (set(unsure), set(), data, names):
            yield self._disk(steps, dropped)
        for at in unsure:
            yield self._disk(steps, {at})
            yield self._disk(steps, set(unsure) - {at})
        if data:
            yield self._disk(steps, {max(data)}, halved=True)

    def _disk(self, steps: Sequence[Step], dropped: set[int], *, halved: bool = False) -> Disk:
        names, contents = {path: number for number, path in enumerate(self.start)}, dict(self.contents)
        for at, step in enumerate(steps):
            if at not in dropped:
                _take(step, names, contents)
            elif halved and isinstance(step, Write):
                _take(Write(step.file, step.offset, step.content[: len(step.content) // 2]), names, contents)
        return {path: contents[number] for path, number in names.items()}


def _unsure(step: Step, later: Iterable[Step]) -> bool:
    """Whether a cut could take it back."""
    match step:
        case Write(file) | Cut(file):
            return Sync(file) not in later
        case Name(folder) | Exchange(folder) | Unname(folder):
            return SyncFolder(folder) not in later
        case _:
            return False


def _take(step: Step, names: dict[str, int], contents: dict[int, bytes]) -> None:
    match step:
        case Write(file, offset, content):
            old = contents[file].ljust(offset, b"\0")
            contents[file] = old[:offset] + content + old[offset + len(content) :]
        case Cut(file, length):
            contents[file] = contents[file][:length].ljust(length, b"\0")
        case Name(_, path, file, instead_of):
            if instead_of is not None:
                names.pop(instead_of, None)
            names[path] = file
        case Exchange(_, one, other):
            if one in names and other in names:  # else what came before was lost, and this cannot have been
                names[one], names[other] = names[other], names[one]
        case Unname(_, path):
            names.pop(path, None)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


# ---- from strace's log -----------------------------------------------------------------------------------------------

CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,sendto"
_LINE = re.compile(r"^\d+ +(\w+)\((.*)\)\s+= (-?\d+)(?:<(.*)>)?")
_HANDLE = re.compile(r"(?:AT_FDCWD|\d+)<((?:\\x..)*)>")
_TEXT = re.compile(r'"((?:\\x..)*)"')


def _bytes(hexed: str) -> bytes:
    return bytes.fromhex(hexed.replace("\\x", ""))


@dataclass(frozen=True)
class Call:
    """A system call as strace tells of it: the folders and files its handles mean, and its texts."""

    name: str
    told: str

    @property
    def handles(self) -> list[str]:
        return [_bytes(one).decode() for one in _HANDLE.findall(self.told)]

    @property
    def texts(self) -> list[bytes]:
        return [_bytes(one) for one in _TEXT.findall(self.told)]

    @property
    def paths(self) -> list[str]:
        if self.name in ("write", "pwrite64", "ftruncate", "fsync", "fdatasync"):
            return self.handles
        folders = self.handles or ["/"]
        names = [text.decode("utf-8", "replace") for text in self.texts]
        return [str(Path(folders[min(at, len(folders) - 1)], name)) for at, name in enumerate(names)]

    @property
    def last_number(self) -> int:
        return int(self.told.rsplit(", ", 1)[1])


def from_log(lines: Iterable[str], start: Disk) -> Record:
    """Only what happens to files in the folders the record starts with counts; SQLite's shared memory does not."""
    record, written = Record(start), dict[str, int]()
    folders = {_folder(path) for path in start}
    for line in lines:
        found = _LINE.match(line)
        call = Call(found[1], found[2]) if found and int(found[3]) >= 0 else None
        if call is not None and call.name == "sendto":
            record.steps += [Said(*json.loads(one)) for one in call.texts[0].splitlines() if one.startswith(b"[")]
        elif call is not None and call.paths and _counts(call.paths[0], folders):
            _taken_down(record, call, written)
    return record


def _counts(path: str, folders: set[str]) -> bool:
    return path in folders or (_folder(path) in folders and not path.endswith(("-shm", ".lock")))


def _taken_down(record: Record, call: Call, written: dict[str, int]) -> None:
    """`written` is how far each file was written from its beginning by plain `write`."""
    path = call.paths[0]
    match call.name:
        case "openat":
            if "O_CREAT" in call.told or path in record.files:
                record.opened(path, emptied="O_TRUNC" in call.told)
                written[path] = 0
        case "write":
            record.steps.append(Write(record.opened(path), written.get(path, 0), call.texts[0]))
            written[path] = written.get(path, 0) + len(call.texts[0])
        case "pwrite64":
            record.steps.append(Write(record.opened(path), call.last_number, call.texts[0]))
        case "ftruncate":
            record.steps.append(Cut(record.opened(path), call.last_number))
        case "fsync" | "fdatasync":
            record.synced(path)
        case "rename" | "renameat" | "renameat2":
            record.exchanged(*call.paths) if "RENAME_EXCHANGE" in call.told else record.renamed(*call.paths)
        case "unlink" | "unlinkat":
            record.removed(path)


def contents(folder: Path) -> Disk:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", ".lock")))
    return {str(path): path.read_bytes() for path in files}


def put_back(disk: Disk, folder: Path, kept: Callable[[Path], bool] = lambda _: True) -> None:
    for path in [path for path in folder.rglob("*") if path.is_file() and kept(path)]:
        path.unlink()
    for name, content in disk.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


# ---- the whole of Reverie --------------------------------------------------------------------------------------------


def cut_everywhere(folder: Path, name: str, most: int) -> dict[str, Any] | None:
    scenario = SCENARIOS[name]
    prepared(folder / "house", scenario, None).folder.rename(folder / "stored")
    base = House(folder / "stored")
    house = base.copied(folder / "house")
    with house.opened() as home:
        before = len(ours(home))
        list(scenario.act(home))
        expected = Expected(base.memory.read_bytes(), house.memory.read_bytes(), before, len(ours(home)))
        works(house, home)
    house = base.copied(folder / "house")
    start = contents(house.folder)
    log = folder / "strace.log"
    try:
        reached, errors = traced(house, scenario, ["-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}"], log)
    except CannotTrace:
        return None
    assert reached.acknowledged and not errors, errors
    record = from_log(log.read_text().splitlines(), start)
    assert record.steps, "nothing was recorded"
    every = list(record.disks())
    found: Problems = {"lost": [], "torn": [], "manual": [], "other": []}
    chosen = spread(every, most)
    for number, (disk, said) in enumerate(chosen):
        shutil.rmtree(house.folder)
        shutil.copytree(base.folder, house.folder)
        put_back(disk, house.folder)
        told_of = Reached([(one.kind, one.what) for one in said], [], 0)
        try:
            told = looked_at(house, expected, told_of, helped=number % 2 == 0)
        except Exception as error:  # noqa: BLE001 — whatever it is, it is what the cut left
            told = {"manual": [f"{type(error).__name__}: {error}"]}
        for kind, problems in told.items():
            found[kind] += [f"{name}, disk {number} of {len(chosen)}: {problem}" for problem in problems]
    return {"points": len(chosen), "steps": len(record.steps), "disks": len(every), "problems": found}


if __name__ == "__main__":
    isolated(Path(sys.argv[1]))
    sys.stdout.write(json.dumps(cut_everywhere(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
