"""One process of `shared_memory.py`: writes the memory of a Hermes home the way one program does, and logs each answer.

    python shared_memory_side.py {hermes|reverie|dreaming} NAME OPERATIONS PAUSE LOG      writes, once a line comes in
    python shared_memory_side.py hermes read                                              prints what Hermes reads

Run by the interpreter of the environment that has the program; the home is HERMES_HOME. Every side is asked for the
same operations: the generator below knows nothing of who carries them out. A text says in its tag who wrote it. The
log is synced line by line: what stands in it as done was acknowledged.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

DOCUMENTS = ("MEMORY.md", "USER.md")
TARGETS = {"MEMORY.md": "memory", "USER.md": "user"}
TAG = re.compile(r"\((\w+-\d+)\)")
FEWEST, MOST = 2, 6  # entries a writer keeps in a document: so it stays as small as memory is
AHEAD = 10  # operations by which a process may be ahead of the slowest one
OF_ANOTHER = 0.15  # how often a writer takes or rewords what another wrote
SENTENCES = (
    "The staging database is db{n}.internal:{m}; the one before it is switched off",
    "Prefers ruff over flake8, with lines of at most {n} characters",
    "Rechnungen von Müller & Søn werden in Cent gebucht, nie als float (§ {n} des Handbuchs)",
    "日本語の手順書は docs/ja/{n}.md にある。更新は毎週{m}曜日",
    "Deploys on a Friday only before 15:{n} 🚢 and never alone",
    "Job {n} of the nightly build is flaky since the runner image changed — run it once more, then look",
    "Likes short answers: at most {n} lines, no emoji, the command first",
    "The café on floor {m} closes at {n}; meetings with Zoë and Łukasz are there",
    "tests/integration needs a Postgres {m} on port {n}; `make db` starts one and waits for it",
    "Numbers in reports are rounded half even to {m} digits; ½ and ⅓ stay as they are",
)
BETWEEN = ("\n", "\n\n", "\n- ", "\n    ", "\n§ ", ". ", "; ", " — ")


class Wanted(NamedTuple):
    """One operation: the entry to be written, and the tag of the entry it stands for or takes away."""

    document: str
    text: str | None
    old: str | None
    old_text: str | None


class Answer(NamedTuple):
    done: bool
    why: str = ""
    change: str | None = None


class Side(Protocol):
    def worded(self, text: str) -> str:
        """The text as this program wants its entries."""
        ...

    def entries(self, document: str) -> list[str]:
        """What stands there, by the program's own reading."""
        ...

    def does(self, wanted: Wanted) -> Answer: ...


# ---- the three programs ----------------------------------------------------------------------------------------------


class Hermes:
    """hermes-agent's memory tool, as its agent calls it."""

    def __init__(self) -> None:
        from tools.memory_tool import load_on_disk_store, memory_tool

        self.store = load_on_disk_store()
        self._tool = memory_tool

    def worded(self, text: str) -> str:
        return text

    def entries(self, document: str) -> list[str]:
        self.store.load_from_disk()
        return list(self.store.memory_entries if document == "MEMORY.md" else self.store.user_entries)

    def does(self, wanted: Wanted) -> Answer:
        action = "add" if wanted.old is None else "remove" if wanted.text is None else "replace"
        part = f"({wanted.old})" if wanted.old else None
        self.store.reset_consolidation_failures()  # as it does with each turn
        answer = json.loads(
            self._tool(
                action=action, target=TARGETS[wanted.document], content=wanted.text, old_text=part, store=self.store
            )
        )
        return Answer(bool(answer["success"]), answer.get("error", ""))


class Reverie:
    """A direct write through `home.review`."""

    def __init__(self) -> None:
        import reverie
        from reverie.changes.land import Landed, in_words
        from reverie.core.errors import StillLocked
        from reverie.memory.operation import Add, Operation, Remove, Replace, entry_hash

        self._home = reverie.open()
        self._home.review.recover()
        reverie.scan("The first scan of a process reads its rules.", surface="memory")

        def operation(wanted: Wanted) -> Operation:
            if wanted.old_text is None:
                return Add(wanted.document, wanted.text or "")
            old = entry_hash(wanted.old_text)
            return Remove(wanted.document, old) if wanted.text is None else Replace(wanted.document, old, wanted.text)

        def does(wanted: Wanted) -> Answer:
            try:
                outcome = self._home.review.write("hermes", wanted.document, [operation(wanted)], "two writers")
            except StillLocked as error:
                return Answer(False, str(error))
            if isinstance(outcome, Landed):
                return Answer(True, change=outcome.change.id)
            return Answer(False, in_words(outcome))

        self.does = does

    def worded(self, text: str) -> str:
        return text

    def entries(self, document: str) -> list[str]:
        return [entry.text for entry in self._home.memory.entries("hermes") if entry.document == document]


class Dreaming:
    """hermes-dreaming's own apply tool in a run of its own. It knows only ~/.hermes: HOME has to fit HERMES_HOME."""

    def __init__(self) -> None:
        from hermes_dreaming import memory_io, paths, state
        from hermes_dreaming.tools.apply_memory_op import handler

        # Its limit is a constant without a setting: raised like Hermes' own, so that nothing is refused for space.
        memory_io.MEMORY_MD_LIMIT = memory_io.USER_MD_LIMIT = 1_000_000
        paths.ensure_dirs()
        paths.CONFIG_FILE.write_text(
            "".join(f"max_{what}_per_run: 1000000000\n" for what in ("changes", "adds", "new_chars"))
        )
        state.start_run()
        self._read = memory_io.read
        self._handler = handler

    def worded(self, text: str) -> str:
        """Its schema wants "a single compact bullet-list line starting with '- '"."""
        return f"- {' '.join(text.split())}"

    def entries(self, document: str) -> list[str]:
        return list(self._read(TARGETS[document]).raw.splitlines())

    def does(self, wanted: Wanted) -> Answer:
        asked: dict[str, Any] = {
            "op": "add" if wanted.old is None else "remove" if wanted.text is None else "replace",
            "target": TARGETS[wanted.document],
            "old_text": wanted.old_text,
            "new_text": wanted.text,
            "reason": "two writers",
            "sources": ["session"],
            "score": 1.0,
            "supersession_confidence": 1.0,
        }
        answer = self._handler(asked)
        return Answer(bool(answer.get("applied")), answer.get("error") or answer.get("reason") or "")


class Holds:
    """How long this process holds Hermes' lock files, whoever takes them: its own code is not touched."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._since: dict[int, float] = {}
        self._flock, self._close = fcntl.flock, os.close
        fcntl.flock, os.close = self.flock, self.close  # type: ignore[assignment]

    def flock(self, file: Any, how: int) -> None:
        handle = file if isinstance(file, int) else file.fileno()
        if how & fcntl.LOCK_UN:
            self._over(handle)
        self._flock(file, how)
        if how & fcntl.LOCK_EX and Path(f"/proc/self/fd/{handle}").readlink().name.endswith(".md.lock"):
            self._since[handle] = time.perf_counter()

    def close(self, handle: int) -> None:
        self._close(handle)
        self._over(handle)

    def _over(self, handle: int) -> None:
        if (began := self._since.pop(handle, None)) is not None:
            self.longest = max(self.longest, time.perf_counter() - began)

    def taken(self) -> float:
        """The longest since it was asked last."""
        longest, self.longest = self.longest, 0.0
        return longest


SIDES: dict[str, Callable[[], Side]] = {"hermes": Hermes, "reverie": Reverie, "dreaming": Dreaming}


# ---- the operations --------------------------------------------------------------------------------------------------


class Work:
    """Which operation comes next. What a writer wrote and nobody took is its own."""

    def __init__(self, name: str, side: Side) -> None:
        self._name = name
        self._side = side
        self._random = random.Random(name)
        self._own: dict[str, dict[str, str]] = {document: {} for document in DOCUMENTS}

    def operations(self, count: int) -> Iterator[tuple[str, Wanted]]:
        for number in range(count):
            tag = f"{self._name}-{number}"
            yield tag, self._next(self._random.choices(DOCUMENTS, (3, 1))[0], tag)

    def _next(self, document: str, tag: str) -> Wanted:
        own = self._own[document]
        what = self._random.choice(("add", "replace", "replace", "remove"))
        if len(own) < FEWEST or (what == "add" and len(own) < MOST):
            return Wanted(document, self._text(tag), None, None)
        old, old_text = self._random.choice(sorted(own.items()))
        if self._random.random() < OF_ANOTHER:
            old, old_text = self._of_another(document) or (old, old_text)
        return Wanted(document, None if what == "remove" else self._text(tag), old, old_text)

    def _of_another(self, document: str) -> tuple[str, str] | None:
        tagged = ((TAG.search(entry), entry) for entry in self._side.entries(document))
        others = [(tag[1], entry) for tag, entry in tagged if tag and not tag[1].startswith(f"{self._name}-")]
        return self._random.choice(sorted(others)) if others else None

    def _text(self, tag: str) -> str:
        said = [
            sentence.format(n=self._random.randrange(10, 100), m=self._random.randrange(2, 10))
            for sentence in self._random.sample(SENTENCES, self._random.choice((1, 1, 1, 2, 3)))
        ]
        text = said[0]
        for more in said[1:]:
            text += self._random.choice(BETWEEN) + more
        return self._side.worded(f"{text} ({tag})")

    def happened(self, tag: str, wanted: Wanted, answer: Answer) -> None:
        own = self._own[wanted.document]
        own.pop(wanted.old or "", None)  # done: it is gone; refused: somebody else took it
        if answer.done and wanted.text is not None:
            own[tag] = wanted.text


def write(side: Side, name: str, operations: int, pause: float, log: Path) -> None:
    """`pause`: how many seconds it thinks between two operations, on average."""
    work, thinking = Work(name, side), random.Random(name)
    holds = Holds()
    with log.open("w", encoding="utf-8") as file:
        for number, (tag, wanted) in enumerate(work.operations(operations)):
            time.sleep(thinking.uniform(0, 2 * pause))
            if pause:
                _wait_for_others(log.parent, number)
            start = time.perf_counter()
            answer = side.does(wanted)
            seconds = time.perf_counter() - start
            told = {"tag": tag, "at": time.time(), "seconds": seconds, "held": holds.taken()}
            told |= {**wanted._asdict(), **answer._asdict()}
            file.write(json.dumps(told) + "\n")
            file.flush()
            os.fsync(file.fileno())
            work.happened(tag, wanted, answer)


def _wait_for_others(folder: Path, number: int) -> None:
    """On a busy machine the quicker program would be done before the slower one has begun."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if number <= AHEAD + min(log.read_bytes().count(b"\n") for log in folder.glob("*.log")):
            return
        time.sleep(0.01)


def read() -> None:
    """What Hermes reads, and what its drift guard says to that."""
    hermes = Hermes()
    told = {
        document: {"entries": hermes.entries(document), "drift": hermes.store._detect_external_drift(target)}
        for document, target in TARGETS.items()
    }
    print(json.dumps(told))


def main() -> None:
    if sys.argv[2] == "read":
        read()
        return
    kind, name, operations, pause, log = sys.argv[1:]
    side = SIDES[kind]()
    print("ready", flush=True)
    if sys.stdin.readline():
        write(side, name, int(operations), float(pause), Path(log))


if __name__ == "__main__":
    main()
