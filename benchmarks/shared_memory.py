"""Two programs write one Hermes memory at once: what of it is lost?

    python benchmarks/shared_memory.py [--operations N] [--processes N] [--pause SECONDS] [--busy SECONDS]

hermes-agent 0.19's own memory tool adds, replaces and removes entries in its own processes: alone, then while Reverie
does the same, then while hermes-dreaming 0.3.2 does: the same operations at the same pace (its texts on one line, as
it wants them; its limits raised, as Hermes' are). Each side keeps a synced log of what was acknowledged to it.
Printed: how much of that is not in the files at the end; of the entries Hermes reads then, how many nobody wrote
(glued together, or cut); how fast each program writes alone without a pause; how long Hermes' tool takes beside the
others; and how long each program holds Hermes' lock. With `--busy` another program keeps Reverie's database locked for
so long again and again: Hermes must not feel it. Ends with an error if anything is wrong with the files or the history
after Reverie wrote.
`tests/contract/test_hermes_memory.py` is the same in small.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.shared_memory_side import DOCUMENTS
from tests.peers import DREAMING, HERMES, python_with

SIDE = Path(__file__).with_name("shared_memory_side.py")
SEEDS = {"MEMORY.md": "Project demo is a Python service", "USER.md": "Ann is a site reliability engineer"}
DELIMITER = "\n§\n"
NAMES = {"hermes": "hermes-agent", "reverie": "Reverie", "dreaming": "hermes-dreaming"}
OWNER = "ann"


@dataclass(frozen=True, slots=True)
class Terms:
    """What each side does: so many operations in so many processes, each of which thinks so long in between."""

    operations: int
    processes: int = 3
    pause: float = 0.05
    database: str = ""
    busy: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """One line of a log: what was wanted and what came of it."""

    side: str
    tag: str
    document: str
    text: str | None
    old: str | None
    done: bool
    why: str
    change: str | None
    at: float
    seconds: float
    held: float  # the longest time Hermes' lock was held meanwhile


@dataclass(frozen=True, slots=True)
class Contest:
    """What was logged, what a reader saw meanwhile, and what Hermes reads afterwards."""

    home: Path
    terms: Terms
    log: list[Done]
    looks: int
    seen: Mapping[str, frozenset[str]]
    torn: list[str]
    read: Mapping[str, list[str]]
    drift: list[str]
    fate: Fate

    def of(self, side: str) -> list[Done]:
        return [one for one in self.log if one.side == side]

    def rate(self, side: str) -> float:
        """Acknowledged a second, from the start to this side's last answer."""
        ours = self.of(side)
        began = min(one.at - one.seconds for one in self.log)
        return sum(one.done for one in ours) / (max(one.at for one in ours) - began)


# ---- holding a contest -----------------------------------------------------------------------------------------------


def contest(folder: Path, sides: Sequence[str], terms: Terms) -> Contest:
    home = folder / ".hermes"
    (home / "memories").mkdir(parents=True)
    (home / "config.yaml").write_text("memory:\n  memory_char_limit: 1000000\n  user_char_limit: 1000000\n")
    for document, text in SEEDS.items():
        (home / "memories" / document).write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("REVERIE_", "HERMES_"))}
    environment |= {"HOME": str(folder), "HERMES_HOME": str(home), "REVERIE_HOME": str(folder / "reverie")}
    environment |= {"REVERIE_OWNER": OWNER} | ({"REVERIE_DATABASE": terms.database} if terms.database else {})
    with ExitStack() as stack:
        running = [
            stack.enter_context(_started(side, f"{side}{number}", terms, environment))
            for side in sides
            for number in range(terms.processes)
        ]
        if not all(process.stdout and process.stdout.readline() for process in running):
            raise RuntimeError(_errors(folder))
        reader = stack.enter_context(Reader(home / "memories"))
        if terms.busy and "reverie" in sides:
            stack.enter_context(Busy(folder / "reverie" / "reverie.db", terms.busy))
        for process in running:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in running:
            process.wait()
    if any(process.returncode for process in running):
        raise RuntimeError(_errors(folder))
    log = sorted(_logged(folder, sides), key=lambda one: one.at)
    return Contest(
        home,
        terms,
        log,
        reader.looks,
        {document: frozenset(seen) for document, seen in reader.seen.items()},
        reader.torn,
        *_read_by_hermes(environment),
        Fate.of(log, home),
    )


def _started(side: str, name: str, terms: Terms, environment: dict[str, str]) -> subprocess.Popen[str]:
    peers = {"hermes": HERMES, "dreaming": DREAMING}
    python = python_with(peers[side]) if side in peers else Path(sys.executable)
    share, log = -(-terms.operations // terms.processes), Path(environment["HOME"], f"{name}.log")
    with log.with_suffix(".errors").open("w") as errors:
        return subprocess.Popen(
            [python, SIDE, side, name, str(share), str(terms.pause), log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )


def _errors(folder: Path) -> str:
    return "\n".join(path.read_text()[-2000:] for path in sorted(folder.glob("*.errors")))


def _logged(folder: Path, sides: Iterable[str]) -> Iterator[Done]:
    for side in sides:
        for log in folder.glob(f"{side}*.log"):
            for line in log.read_text("utf-8").splitlines():
                told = json.loads(line)
                del told["old_text"]
                yield Done(side, **told)


def _read_by_hermes(environment: dict[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    told = json.loads(subprocess.check_output([python_with(HERMES), SIDE, "hermes", "read"], env=environment))
    drift = [f"{document}: {one['drift']}" for document, one in told.items() if one["drift"]]
    copies = [path.name for path in Path(environment["HERMES_HOME"], "memories").glob("*.bak*")]
    return {document: one["entries"] for document, one in told.items()}, drift + copies


@dataclass
class Reader:
    """Looks at the files all the time, as any program may, without a lock."""

    folder: Path
    looks: int = 0
    seen: dict[str, set[str]] = field(default_factory=lambda: {document: set() for document in DOCUMENTS})
    torn: list[str] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Reader:
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(0.002):
            for document in DOCUMENTS:
                self.looks += 1
                try:
                    text = (self.folder / document).read_bytes().decode()
                except (OSError, UnicodeDecodeError) as error:
                    self.torn.append(f"{document}: {error}")
                    continue
                if SEEDS[document] not in text:
                    self.torn.append(f"{document}: {text[:80]!r}")
                self.seen[document] |= set(text.split(DELIMITER))


@dataclass
class Busy:
    """Keeps a SQLite file locked for writing, with a short pause in between."""

    path: Path
    seconds: float
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Busy:
        self._thread = threading.Thread(target=self._hold)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _hold(self) -> None:
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        while not self._stopped.is_set():
            connection.execute("begin immediate")
            self._stopped.wait(self.seconds)
            connection.execute("rollback")
            self._stopped.wait(0.5)
        connection.close()


# ---- what became of it -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fate:
    """What the logs say should stand, against what does."""

    texts: Mapping[str, str]  # all that anybody wanted to write, by tag
    created: Mapping[str, str]  # what was acknowledged
    taken: Counter[str]  # how often a taking away was acknowledged
    files: Mapping[str, str]

    @classmethod
    def of(cls, log: Iterable[Done], home: Path) -> Fate:
        texts = {one.tag: one.text for one in log if one.text is not None}
        created = {one.tag: one.text for one in log if one.done and one.text is not None}
        taken = Counter(one.old for one in log if one.done and one.old is not None)
        files = {document: (home / "memories" / document).read_bytes().decode() for document in DOCUMENTS}
        return cls(texts, created, taken, files)

    def lost(self, log: Iterable[Done]) -> list[str]:
        """Acknowledged, and yet not in the file; or taken away, and yet there."""
        return [one.tag for one in log if one.done and (self._missing(one) or self._back(one))]

    def _missing(self, one: Done) -> bool:
        return one.text is not None and not self.taken[one.tag] and one.text not in self.files[one.document]

    def _back(self, one: Done) -> bool:
        return one.old is not None and self.created.get(one.old, f"({one.old})") in self.files[one.document]

    def corrupted(self, entries: Iterable[str]) -> list[str]:
        """Entries that are no text anybody wrote: glued together, or cut."""
        return sorted(set(entries) - set(self.texts.values()) - set(SEEDS.values()))


def flaws(held: Contest) -> list[str]:
    """What is wrong with the files after Hermes and Reverie wrote them; nothing if all is well."""
    fate = held.fate
    found = [f"{one} is lost" for one in fate.lost(held.log)]
    found += [f"{tag} was taken {times} times" for tag, times in fate.taken.items() if times > 1]
    found += [f"torn: {one}" for one in held.torn]
    found += [f"Hermes' drift guard: {one}" for one in held.drift]
    found += [f"nobody wrote {one!r}" for seen in held.seen.values() for one in fate.corrupted(seen)]
    for document, seed in SEEDS.items():
        mine = [one for one in held.log if one.document == document and one.tag in fate.created]
        expected = [seed, *(fate.created[one.tag] for one in mine if not fate.taken[one.tag])]
        if sorted(expected) != sorted(held.read[document]):
            found.append(f"Hermes reads {len(held.read[document])} entries of {document}, not the {len(expected)}")
    for one in held.log:
        if not one.done and not (one.old and fate.taken[one.old]):
            found.append(f"{one.side} was refused {one.tag} for no good reason: {one.why}")
    return found


def flaws_of_history(held: Contest) -> list[str]:
    """What is wrong with Reverie's record of it: gaps, strangers' writes under our name, ours without a Change."""
    import reverie
    from reverie.changes.ledger import broken_links

    settings = {"owner": OWNER, "database": held.terms.database or None}
    with (
        _environment(HERMES_HOME=str(held.home)),
        reverie.open(held.home.parent / "reverie", settings=settings) as home,
    ):
        shown = [entry.text for entry in home.memory.entries("hermes")]  # records what Hermes wrote last
        found = [f"ledger: {one}" for one in broken_links(home.history_records.rows(home.owned))]
        found += [f"{one.id} was left unsettled" for one in home.history_records.unsettled(home.owned)]
        if shown != [text for document in DOCUMENTS for text in held.read[document]]:
            found.append("Reverie shows other entries than Hermes")
        for document in DOCUMENTS:
            found += _gaps(home, held, document)
    return found


@contextmanager
def _environment(**changed: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changed)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _gaps(home: Any, held: Contest, document: str) -> Iterator[str]:
    from reverie.changes.ledger import ChangeQuery, Via

    ours = {one.change: one for one in held.of("reverie") if one.done and one.document == document}
    theirs = {one.text for one in held.of("hermes")} | {SEEDS[document]}
    texts = held.fate.texts
    content: bytes | None = None
    for change in reversed(home.history_records.find(home.owned, ChangeQuery(document=document))):
        edit = change.edit(document)
        if edit.before != content:
            yield f"{change.id} does not begin where the one before it ended"
        content = edit.after
        brought, took = _difference(edit.before, edit.after), _difference(edit.after, edit.before)
        if change.grounds.via is Via.DIRECT:
            one = ours.pop(change.id, None)
            if one is None:
                yield f"{change.id} was never acknowledged"
            elif (brought, took) != ([one.text] * bool(one.text), [texts[one.old]] if one.old else []):
                yield f"{change.id} does not do what {one.tag} was to do, or not only that"
        elif change.grounds.actor != "outside" or not theirs.issuperset(brought):
            yield f"{change.id} is not what came from outside"
    if content != (held.home / "memories" / document).read_bytes():
        yield f"the history of {document} does not end at the file"
    yield from (f"{one.tag} was acknowledged and has no Change" for one in ours.values())


def _difference(before: bytes | None, after: bytes | None) -> list[str]:
    """The entries of one content that another did not have."""
    one, other = (Counter((side or b"").decode().split(DELIMITER)) for side in (after, before))
    return [text for text in (one - other).elements() if text]


# ---- the table -------------------------------------------------------------------------------------------------------

HEADINGS = (
    f"{'writer':<37} {'asked':>6} {'acknowledged':>12} {'lost':>5} {'corrupted entries':>17} {'operations/s':>12}"
)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--operations", type=int, default=10_000, help="of both sides together (default 10000)")
    asked.add_argument("--processes", type=int, default=3, help="of each side (default 3)")
    asked.add_argument("--pause", type=float, default=0.05, help="between two operations of a process (default 0.05)")
    asked.add_argument("--busy", type=float, default=0, help="keep Reverie's database locked for so many seconds")
    told = asked.parse_args()
    terms = Terms(told.operations // 2, told.processes, told.pause, busy=told.busy)
    alone = replace(terms, operations=terms.operations // 5, pause=0)
    rates = {side: _held((side,), alone)[0].rate(side) for side in NAMES}
    found: list[str] = []
    waits: dict[str, list[float]] = {}
    holds: list[str] = []
    print(HEADINGS)
    for sides in (("hermes",), ("hermes", "reverie"), ("hermes", "dreaming")):
        held, wrong = _held(sides, terms)
        print(*_rows(held, sides, rates), sep="\n", flush=True)
        waits[sides[-1]] = sorted(1000 * one.seconds for one in held.of("hermes"))
        found += wrong
        holds += [_holds(held, side, sides) for side in sides if side != "dreaming"]
    for other, times in waits.items():
        print(_waited(other, times, waits["hermes"]))
    print(*holds, sep="\n")
    print(f"Reverie: {len(found)} flaws in the files and in its history", *found[:20], sep="\n  ")
    sys.exit(bool(found))


def _held(sides: Sequence[str], terms: Terms) -> tuple[Contest, list[str]]:
    """A contest, and what is wrong with it where that is ours to answer for."""
    with tempfile.TemporaryDirectory() as folder:
        held = contest(Path(folder), sides, terms)
        wrong = [] if "dreaming" in sides else flaws(held)
        return held, wrong + (flaws_of_history(held) if "reverie" in sides else [])


def _rows(held: Contest, sides: Sequence[str], rates: Mapping[str, float]) -> Iterator[str]:
    fate = held.fate
    corrupted = sum(len(fate.corrupted(entries)) for entries in held.read.values())
    standing = sum(len(entries) for entries in held.read.values())
    for side in sides:
        log = held.of(side)
        beside = "".join(f", beside {NAMES[other]}" for other in sides if other != side) or ", alone"
        yield (
            f"{NAMES[side] + beside:<37} {len(log):>6} {sum(one.done for one in log):>12} {len(fate.lost(log)):>5} "
            f"{f'{corrupted} of {standing}':>17} {rates[side]:>12.0f}"
        )


def _waited(other: str, times: Sequence[float], alone: Sequence[float]) -> str:
    def at(share: float) -> str:
        here, there = (each[int(share * (len(each) - 1))] for each in (times, alone))
        return f"p{100 * share:.0f} {here:.1f} ms ({here / there:.1f} times)"

    where = "alone" if other == "hermes" else f"beside {NAMES[other]}"
    return f"Hermes' tool takes, {where}: {at(0.5)}, {at(0.95)}, {at(1)}"


def _holds(held: Contest, side: str, sides: Sequence[str]) -> str:
    times = sorted(1000 * one.held for one in held.of(side) if one.held)
    shown = ", ".join(f"p{100 * at:.0f} {times[int(at * (len(times) - 1))]:.2f} ms" for at in (0.5, 0.99, 1))
    beside = "".join(f" beside {NAMES[other]}" for other in sides if other != side) or " alone"
    return f"Hermes' lock is held by {NAMES[side]}{beside}: {shown}"


if __name__ == "__main__":
    main()
