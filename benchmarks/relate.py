"""How well `relate` tells conflicts from what can stand side by side.

    python benchmarks/relate.py                      the pairs of labelled/relate.txt
    python benchmarks/relate.py relate-*.json        labelled files of your own, beside them
    python benchmarks/relate.py --kinds              which kind was taken for which
    python benchmarks/relate.py --authors            the pairs of training/data; the network has seen all but v and w

A file is `[{"old", "new", "conflict"}, …]`. AUC is the chance that a conflict scores higher than a pair that is none;
`found` and `false` are the shares of both at `.conflict >= 0.5`; intervals are bootstrap, 95 %. In labelled/relate.txt
the pairs set aside are marked; of another file the second, fourth, … pair is taken to be set aside.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie.text.relation import relate

HERE = Path(__file__).parent
CONFLICTS = ("supersedes", "contradicts", "refines!")
RESAMPLES = 2_000


@dataclass(frozen=True)
class Pair:
    old: str
    new: str
    conflict: bool
    kind: str = ""
    category: str = ""
    set_aside: bool = False


def read_pairs(path: Path) -> list[Pair]:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        rows = enumerate(json.loads(text))
        return [Pair(row["old"], row["new"], bool(row["conflict"]), set_aside=bool(place % 2)) for place, row in rows]
    if path.suffix == ".jsonl":
        lines = map(json.loads, text.splitlines())
        return [Pair(row["old"], row["new"], row["kind"] in CONFLICTS, row["kind"], set_aside=True) for row in lines]
    return list(_lines(text))


def _lines(text: str) -> Iterator[Pair]:
    set_aside = False
    for line in text.splitlines():
        set_aside |= line == "[set aside]"
        if " | " in line and not line.startswith("#"):
            kind, category, old, new = (cell.strip() for cell in line.split(" | "))
            yield Pair(old, new, kind in CONFLICTS, kind.rstrip("!"), category, set_aside)


def overlap(old: str, new: str) -> float:
    """The baseline: words in common."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (old, new))
    return len(a & b) / max(1, len(a | b))


def auc(scores: NDArray[np.float64], conflict: NDArray[np.bool_]) -> float:
    yes, no = scores[conflict][:, None], scores[~conflict][None, :]
    return float(((yes > no) + 0.5 * (yes == no)).mean()) if yes.size and no.size else float("nan")


def interval(scores: NDArray[np.float64], conflict: NDArray[np.bool_]) -> tuple[float, float]:
    chance = np.random.default_rng(20)
    yes, no = np.flatnonzero(conflict), np.flatnonzero(~conflict)
    seen = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([chance.choice(yes, len(yes)), chance.choice(no, len(no))])
        seen.append(auc(scores[drawn], conflict[drawn]))
    return float(np.quantile(seen, 0.025)), float(np.quantile(seen, 0.975))


def scored(pairs: Sequence[Pair], score: Callable[[str, str], float]) -> tuple[NDArray[np.float64], float]:
    start = time.perf_counter()
    scores = np.array([score(pair.old, pair.new) for pair in pairs])
    return scores, 1000 * (time.perf_counter() - start) / len(pairs)


def conflict_of(old: str, new: str) -> float:
    return relate(old, new).conflict


def report(name: str, pairs: Sequence[Pair]) -> None:
    conflict = np.array([pair.conflict for pair in pairs])
    scores, taken = scored(pairs, conflict_of)
    words, words_taken = scored(pairs, overlap)
    aside = np.array([pair.set_aside for pair in pairs])
    for part, chosen in (("all", aside | True), ("looked at", ~aside), ("set aside", aside)):
        s, c = scores[chosen], conflict[chosen]
        low, high = interval(s, c)
        print(
            f"{name:<16} {part:<10} {len(c):>4} pairs  AUC {auc(s, c):.3f} [{low:.3f}, {high:.3f}]"
            f"  found {np.mean(s[c] >= 0.5):.3f}  false {np.mean(s[~c] >= 0.5):.3f}"
            f"  word overlap {auc(words[chosen], c):.3f}"
        )
    print(f"{name:<16} {taken:.2f} ms a pair, {taken / words_taken:.0f} times word overlap\n")


def by_author(path: Path) -> None:
    """In one line, and without an interval: there are thousands of pairs."""
    pairs = read_pairs(path)
    (s, _), c = scored(pairs, conflict_of), np.array([pair.conflict for pair in pairs])
    found, false = np.mean(s[c] >= 0.5), np.mean(s[~c] >= 0.5)
    print(f"{path.stem:<16} {len(c):>5} pairs  AUC {auc(s, c):.3f}  found {found:.3f}  false {false:.3f}", flush=True)


def calibration(pairs: Sequence[Pair]) -> None:
    scores, _ = scored(pairs, conflict_of)
    conflict = np.array([pair.conflict for pair in pairs])
    print("of the pairs scored between   are conflicts")
    for low in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9):
        high = {0.0: 0.1, 0.9: 1.01}.get(low, low + 0.2)
        inside = (scores >= low) & (scores < high)
        if inside.any():
            print(f"  {low:.1f} and {min(high, 1):.1f}   {conflict[inside].mean():.2f} of {inside.sum()}")


def kinds(pairs: Sequence[Pair]) -> None:
    seen = Counter((pair.kind, str(relate(pair.old, pair.new).kind)) for pair in pairs)
    for (labelled, said), count in sorted(seen.items()):
        print(f"{labelled:<12} taken for {said:<12} {count:>4}")


def main() -> None:
    paths = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    authors = sorted((HERE.parent / "training" / "data").glob("relate-*.jsonl"))
    if "--authors" in sys.argv:
        for path in authors:
            by_author(path)
        return
    own = read_pairs(HERE / "labelled" / "relate.txt")
    conflict_of("warm", "up")
    report("labelled", own)
    calibration(own)
    if "--kinds" in sys.argv:
        kinds(own)
    for path in paths:
        report(path.stem, read_pairs(path))


if __name__ == "__main__":
    main()
