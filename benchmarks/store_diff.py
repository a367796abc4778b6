"""Does `reverie bridge diff` tell what changed in a store from what was only reworded, moved, split or merged?

    python benchmarks/store_diff.py                 on the statements that are not set aside
    python benchmarks/store_diff.py --set-aside     on the others: look at these when reporting, not when tuning
    python benchmarks/store_diff.py --wrong         also what was taken for something else
    python benchmarks/store_diff.py --model         as if a model were right about all that it is shown
    python benchmarks/store_diff.py pairs.jsonl     pairs of your own, {"old", "new", "kind"}; "same" is a rewording

Stores are made of labelled/store_edits.txt and edited in ways that are known (benchmarks/store_edits.py). An edit is
found when the diff shows it under its own kind: a changed value may be shown as "changed" or as one statement removed
and another added. `doubtful` are shown as "perhaps only reworded" and count neither as found nor as a false report.
`--model` asks nobody: the figures say what is lost beside a model, not how good one is.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.store_edits import BEHAVIOUR, SAME, Case, cases, read_edits
from reverie.bridge.compare.diff import DiffKind, StoreDiff, store_diff
from reverie.bridge.compare.snapshot import Snapshot
from reverie.bridge.propose.curate import ARGUABLE

MANY, SEED = 100, 7


def main() -> None:
    files = [Path(word) for word in sys.argv[1:] if word.endswith(".jsonl")]
    for file in files:
        _pairs(file)
    if files:
        return
    aside = "--set-aside" in sys.argv
    edits = [one for one in read_edits() if one.set_aside == aside]
    said: dict[str, Counter[str]] = defaultdict(Counter)
    reported: Counter[tuple[DiffKind, bool]] = Counter()
    began = time.perf_counter()
    for case in cases(edits, MANY, SEED):
        diff = store_diff(Snapshot("before", case.before), Snapshot("after", case.after))
        for kind, old, new in case.done:
            answer = _answer(diff, kind, old, new, "--model" in sys.argv)
            said[kind][answer] += 1
            if "--wrong" in sys.argv and answer not in ("found", "kept"):
                sys.stdout.write(f"{answer:9} {kind}: {old} -> {new}\n")
        reported.update(_right(diff, case))
    _print(said, reported, time.perf_counter() - began)


def _pairs(file: Path) -> None:
    """Each pair as two stores of one statement."""
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for row in map(json.loads, file.read_text("utf-8").splitlines()):
        diff = store_diff(Snapshot("before", {"/a.md": row["old"]}), Snapshot("after", {"/a.md": row["new"]}))
        kinds = {one.kind for one in diff.differences}
        shown = any(kind.is_behaviour for kind in kinds)
        said[row["kind"]]["changed" if shown else "doubtful" if DiffKind.DOUBTFUL in kinds else "reworded"] += 1
    sys.stdout.write(f"{file.name}\npair       number  changed doubtful reworded\n")
    for kind, counts in sorted(said.items()):
        sys.stdout.write(_row(kind[:10], counts, ("changed", "doubtful", "reworded")))


def _answer(diff: StoreDiff, kind: str, old: str, new: str, asked: bool) -> str:
    """found, doubtful, missed; for what is no change of behaviour: kept, doubtful, reported. `asked`: a model was."""
    about = [
        one
        for one in diff.differences
        if any(part.text == old for part in one.old) or any(part.text == new for part in one.new)
    ]
    arguable = [
        one for one in about if one.kind is DiffKind.DOUBTFUL or (one.kind.is_behaviour and one.reworded >= ARGUABLE)
    ]
    found, right, wrong = ("found", "found", "missed") if kind in BEHAVIOUR else ("reported", "kept", "kept")
    if any(one.kind.is_behaviour for one in about if not asked or one not in arguable):
        return found
    if asked and arguable:
        return right
    return "doubtful" if any(one.kind is DiffKind.DOUBTFUL for one in about) else wrong


def _right(diff: StoreDiff, case: Case) -> list[tuple[DiffKind, bool]]:
    """Each report, and whether something of that sort was done to what it names."""
    changed = {text for kind, old, new in case.done if kind in BEHAVIOUR for text in (old, new) if text}
    parts = [(one.kind, [part.text for part in (*one.old, *one.new)]) for one in diff.differences]
    return [(kind, any(text in changed for text in texts) == kind.is_behaviour) for kind, texts in parts]


def _print(said: dict[str, Counter[str]], reported: Counter[tuple[DiffKind, bool]], seconds: float) -> None:
    out = sys.stdout.write
    out("edit       number   found  doubtful  missed\n")
    for kind in BEHAVIOUR:
        out(_row(kind, said[kind], ("found", "doubtful", "missed")))
    every = sum((said[kind] for kind in BEHAVIOUR), Counter[str]())
    out(_row("all", every, ("found", "doubtful", "missed")))
    out("\nno change  number    kept  doubtful  reported\n")
    for kind in SAME:
        out(_row(kind, said[kind], ("kept", "doubtful", "reported")))
    out("\nreported   number   right\n")
    for kind in (one for one in DiffKind if one is not DiffKind.DOUBTFUL):
        right, wrong = reported[kind, True], reported[kind, False]
        out(f"{kind:10} {right + wrong:6} {right / max(1, right + wrong):7.1%}\n")
    out(f"\n{MANY} stores in {seconds:.1f} s\n")


def _row(kind: str, counts: Counter[str], names: tuple[str, str, str]) -> str:
    number = counts.total()
    shares = "".join(f"{counts[name] / max(1, number):9.1%}" for name in names)
    return f"{kind:10} {number:6}{shares}\n"


if __name__ == "__main__":
    main()
