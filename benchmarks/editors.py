"""An editor that takes no lock saves a Hermes memory while Reverie lands changes in it: is a save ever lost?

    python benchmarks/editors.py [--saves 10000] [--json FILE]

One process saves, each time one entry of its own: half of the saves by writing another file and moving it over
(`os.replace`), half by opening the file and writing to its end; every fiftieth of these keeps the file open for a while
before it writes. Half of all saves are aimed: they wait until Reverie's new file lies beside the old one, and come
right before, at or behind the exchange. Meanwhile another process lands, replaces and undoes changes with no pause.
Neither waits for the other, and there is no lock between them. At the end every entry the editor saved must be in the
file, or wait for a person because Reverie changed the same place. One thing no program can save: an editor that read
the file before an entry of its own was brought back into it, and moves what it read over it afterwards. History shows
such a save, with what it took out and what it put in; these are counted apart. How often a change was worked out again
is counted, too: saves that meet no landing prove nothing. `tests/faults/test_editors.py` puts a save at every line.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

EDITORS = "editor saved number "
SEED = "Project demo is a Python service"
DELIMITER = "\n§\n"
PRUNED = 40  # entries of ours that stand at a time
PAUSE = 0.015  # seconds between two saves, on average: about what a landing takes, so that many meet one
AIMED = 0.5  # how many of the saves wait for a landing to be about to exchange the file
LONGEST_WAIT = 0.2  # seconds
ROUND = 250  # saves to one file: then a new one, so that it stays as small as memory is


def saved(memory: Path, texts: list[str], begin: Event, over: Event, log: Path) -> None:
    """The editor. What it does is done by the time it is in the log."""
    chosen = random.Random(texts[0])
    begin.wait()
    with log.open("w") as done:
        for number, text in enumerate(texts):
            if chosen.random() < AIMED:
                _lie_in_wait(memory.parent, chosen)
            if number % 2:
                _replaced(memory, text)
            else:
                _appended(memory, text, chosen.uniform(0, 0.05) if number % 100 == 0 else 0)
            done.write(f"{text}\n")
            time.sleep(chosen.expovariate(1 / PAUSE))
    over.set()


def _lie_in_wait(folder: Path, chosen: random.Random) -> None:
    """Until Reverie's new file lies beside the old one, and up to a millisecond longer."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until:
        if any(name.startswith(".reverie-") for name in os.listdir(folder)):  # noqa: PTH208 - as quick as can be
            break
    time.sleep(chosen.choice((0, 0, 0.0002, 0.001)))


def _replaced(memory: Path, text: str) -> None:
    beside = memory.with_name(".MEMORY.md.swp")
    beside.write_text(f"{memory.read_text()}{DELIMITER}{text}")
    beside.replace(memory)


def _appended(memory: Path, text: str, thinks: float) -> None:
    handle = os.open(memory, os.O_WRONLY | os.O_APPEND)
    try:
        time.sleep(thinks)
        os.write(handle, f"{DELIMITER}{text}".encode())
    finally:
        os.close(handle)


def landed(folder: Path, begin: Event, over: Event, answer: Any) -> None:
    """Reverie: it lands, replaces and removes entries until the editor is done."""
    import reverie
    from reverie.changes.land import Landed
    from reverie.memory.operation import Add, Remove, Replace, entry_hash

    counts: Counter[str] = Counter()
    with reverie.open(folder / "reverie", settings={"owner": "ann"}) as home:
        home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Reverie is ready")])
        begin.set()
        number, standing = 0, list[str]()
        while not over.is_set():
            number += 1
            text = f"Reverie landed number {number}"
            operations: list[Any] = [Add("MEMORY.md", text)]
            if len(standing) >= PRUNED:
                old = standing.pop(0)
                operations = [Replace("MEMORY.md", entry_hash(old), text)]
            elif number % 7 == 0 and standing:
                operations, text = [Remove("MEMORY.md", entry_hash(standing.pop(0)))], ""
            outcome = home.review.write("hermes", "MEMORY.md", operations)
            counts[type(outcome).__name__] += 1
            if isinstance(outcome, Landed) and text:
                standing.append(text)
            if isinstance(outcome, Landed) and number % 11 == 0:
                counts[f"undo {type(home.review.undo(outcome.change.id)).__name__}"] += 1
        list(home.memory.entries("hermes"))
        answer.put(_reckoned(home, folder, counts))


def _reckoned(home: Any, folder: Path, counts: Counter[str]) -> dict[str, Any]:
    from reverie.changes.ledger import ChangeQuery

    entries = (folder / "hermes" / "memories" / "MEMORY.md").read_text().split(DELIMITER)
    offered = [one.diff for one in home.review.waiting(every=True)]
    everything = home.history_records.find(home.owned, ChangeQuery(oldest_first=True))
    content: bytes | None = None
    gaps = 0
    overwritten = set[str]()
    for change in everything:
        for edit in change.edits:
            gaps += edit.before != content
            content = edit.after
            if change.grounds.actor == "outside":
                overwritten |= _taken_out_by_a_save(edit)
    brought = sum("brought into the new one" in change.grounds.reason for change in everything)
    dropped = sum(1 for row in home.history_records.rows(home.owned) if row.body.get("standing") == "conflicted")
    return {
        "entries": entries,
        "offered": offered,
        "overwritten": overwritten,
        "outcomes": dict(counts),
        "gaps": gaps,
        "brought in later": brought,
        "worked out again": dropped,
        "not verified": [one.said for one in home.verify() if not one.ok],
        "changes": len(everything),
    }


def _taken_out_by_a_save(edit: Any) -> set[str]:
    """What the editor moved out of the file with the very save that moved a newer entry of its own in."""
    before, after = ({*(side or b"").decode().split(DELIMITER)} for side in (edit.before, edit.after))
    return {text for text in before - after if text.startswith(EDITORS)} if _by_moving(after - before) else set()


def _by_moving(came: set[str]) -> bool:
    return any(text.startswith(EDITORS) and int(text.split()[3]) % 2 for text in came)


def run(folder: Path, saves: int, seed: int = 1) -> dict[str, Any]:
    memory = folder / "hermes" / "memories" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(SEED)
    (folder / "hermes" / "config.yaml").write_text("memory:\n  memory_char_limit: 100000000\n")
    os.environ |= {"HERMES_HOME": str(folder / "hermes"), "HOME": str(folder), "REVERIE_SOURCES": "added"}
    begin, over, log = multiprocessing.Event(), multiprocessing.Event(), folder / "saved.log"
    answer: Any = multiprocessing.Queue()
    texts = [f"{EDITORS}{number} of round {seed}" for number in range(saves)]
    began = time.monotonic()
    editor = multiprocessing.Process(target=saved, args=(memory, texts, begin, over, log))
    reverie = multiprocessing.Process(target=landed, args=(folder, begin, over, answer))
    reverie.start()
    editor.start()
    told: dict[str, Any] = answer.get()
    editor.join()
    reverie.join()
    entries, offered, overwritten = set(told.pop("entries")), told.pop("offered"), told.pop("overwritten")
    assert log.read_text().splitlines() == texts
    missing = [text for text in texts if text not in entries]
    told["saves"], told["offered"] = len(texts), sum(any(text in diff for diff in offered) for text in missing)
    told["overwritten by the editor itself"] = len(overwritten.intersection(missing))
    told["lost"] = [text for text in missing if text not in overwritten and not any(text in diff for diff in offered)]
    told["seconds"] = round(time.monotonic() - began, 1)
    return told


def _add(every: dict[str, Any], told: dict[str, Any]) -> None:
    for name, value in told.items():
        every[name] = (
            Counter(every.get(name, {})) + Counter(value)
            if name == "outcomes"
            else value + every.get(name, type(value)())
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=10_000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    told: dict[str, Any] = {}
    for number, begun in enumerate(range(0, asked.saves, ROUND)):
        with tempfile.TemporaryDirectory(prefix="rv-editors-") as folder:
            _add(told, run(Path(folder), min(ROUND, asked.saves - begun), number))
    lost = told.pop("lost")
    for name, value in told.items():
        print(f"{name}: {value}")
    print(f"lost: {len(lost)}", *lost[:20], sep="\n  ")
    if asked.json:
        asked.json.write_text(json.dumps({**told, "lost": lost}, indent=1))
    sys.exit(bool(lost or told["gaps"] or told["not verified"]))


if __name__ == "__main__":
    main()
