"""Does `reverie bridge diff` tell what changed in a store from what was only reworded, moved, split or merged?

    python benchmarks/store_diff.py                 on the statements that are not set aside
    python benchmarks/store_diff.py --set-aside     on the others: look at these when reporting, not when tuning
    python benchmarks/store_diff.py --wrong         also what was taken for something else
    python benchmarks/store_diff.py --other         on statements by another hand (labelled/store_edits_b.txt)
    python benchmarks/store_diff.py pairs.jsonl     pairs of your own, {"old", "new", "kind"}; "same" is a rewording

Stores are made of labelled/store_edits.txt and edited in ways that are known (benchmarks/store_edits.py). An edit is
found when the diff shows it under its own kind: a changed value may be shown as "changed" or as one statement removed
and another added. `doubtful` are shown as "perhaps only reworded" and count neither as found nor as a false report.
With a model: store_diff_played.py.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.store_edits import BEHAVIOUR, EDITS, SAME, Case, cases, read_edits
from reverie.bridge.diff import DiffKind, StoreDiff, store_diff
from reverie.bridge.source import Snapshot

MANY, SEED = 100, 7


def main() -> None:
    files = [Path(word) for word in sys.argv[1:] if word.endswith(".jsonl")]
    for file in files:
        _pairs(file)
    if files:
        return
    edits = [one for one in read_edits() if one.set_aside == ("--set-aside" in sys.argv)]
    edits = read_edits(EDITS.with_name("store_edits_b.txt")) if "--other" in sys.argv else edits
    said: dict[str, Counter[str]] = defaultdict(Counter)
    reported: Counter[tuple[DiffKind, bool]] = Counter()
    began = time.perf_counter()
    for case in cases(edits, MANY, SEED):
        diff = store_diff(Snapshot("before", case.before), Snapshot("after", case.after))
        for kind, old, new in case.done:
            answer = answer_of(diff, kind, old, new)
            said[kind][answer] += 1
            if "--wrong" in sys.argv and answer not in ("found", "kept"):
                sys.stdout.write(f"{answer:9} {kind}: {old} -> {new}\n")
        reported.update(reports(diff, case))
    print_figures(said, reported)
    sys.stdout.write(f"\n{MANY} stores in {time.perf_counter() - began:.1f} s\n")


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


def answer_of(diff: StoreDiff, kind: str, old: str, new: str) -> str:
    """found, doubtful, missed; for what is no change of behaviour: kept, doubtful, reported."""
    about = {
        one.kind
        for one in diff.differences
        if any(part.text == old for part in one.old) or any(part.text == new for part in one.new)
    }
    if any(one.is_behaviour for one in about):
        return "found" if kind in BEHAVIOUR else "reported"
    return "doubtful" if DiffKind.DOUBTFUL in about else "missed" if kind in BEHAVIOUR else "kept"


def reports(diff: StoreDiff, case: Case) -> list[tuple[DiffKind, bool]]:
    """Each report, and whether something of that sort was done to what it names."""
    changed = {text for kind, old, new in case.done if kind in BEHAVIOUR for text in (old, new) if text}
    parts = [(one.kind, [part.text for part in (*one.old, *one.new)]) for one in diff.differences]
    return [(kind, any(text in changed for text in texts) == kind.is_behaviour) for kind, texts in parts]


def print_figures(said: dict[str, Counter[str]], reported: Counter[tuple[DiffKind, bool]]) -> None:
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


def _row(kind: str, counts: Counter[str], names: tuple[str, str, str]) -> str:
    number = counts.total()
    shares = "".join(f"{counts[name] / max(1, number):9.1%}" for name in names)
    return f"{kind:10} {number:6}{shares}\n"


if __name__ == "__main__":
    main()
