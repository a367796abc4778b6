"""How much the scanner stops, how much it stops by mistake, and what it costs.

    python benchmarks/scan.py                     the shipped corpus, then speed
    python benchmarks/scan.py texts.jsonl         also a labelled file: {"text", "surface", "label", "family", "source"}

Recall counts blocked attacks, the rate counts blocked harmless texts. Times are processor time; the last lines compare
each size with the one before it, which means the same on a busy machine as on an idle one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import scan_corpus
from reverie.safety.scan import scan

Row = tuple[tuple[str, ...], str, bool, str]
PAGE = 4_096
SIZES = (64 * 1024, 1024 * 1024, 5 * 1024 * 1024, 25 * 1024 * 1024)


class Tally:
    def __init__(self) -> None:
        self.stopped = self.attacks = self.alarms = self.harmless = 0

    def add(self, is_attack: bool, blocked: bool) -> None:
        self.attacks += is_attack
        self.harmless += not is_attack
        self.stopped += is_attack and blocked
        self.alarms += blocked and not is_attack

    def line(self) -> str:
        recall = f"{self.stopped / self.attacks:.3f} of {self.attacks:>4}" if self.attacks else "   -        "
        rate = f"{self.alarms / self.harmless:.3f} of {self.harmless:>4}" if self.harmless else "   -        "
        precision = self.stopped / max(1, self.stopped + self.alarms)
        whole = self.stopped / max(1, self.attacks)
        f1 = 2 * precision * whole / max(1e-9, precision + whole)
        return f"recall {recall}   false alarms {rate}   precision {precision:.3f}   f1 {f1:.3f}"


def shipped() -> Iterator[Row]:
    for category, surface, text in scan_corpus.attacks():
        yield ("all", f"surface {surface}", f"category {category}"), surface, True, text
    for disguise, surface, text in scan_corpus.hidden_attacks():
        yield ("hidden", f"hidden by {disguise}"), surface, True, text
    for _, surface, text in scan_corpus.harmless():
        yield ("all", f"surface {surface}"), surface, False, text


def labelled(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            source = str(row.get("source", ""))
            groups = ["all", f"surface {row['surface']}", f"family {row.get('family')}", f"source {source}"]
            if "handmade" not in source:
                groups.append("all but handmade")
            yield tuple(groups), row["surface"], bool(row["label"]), row["text"]


def report(title: str, rows: Iterable[Row]) -> None:
    tallies: dict[str, Tally] = {}
    pages = seconds = 0.0
    for groups, surface, is_attack, text in rows:
        start = time.process_time()
        blocked = scan(text, surface).blocked
        seconds += time.process_time() - start
        pages += len(text) / PAGE
        for group in groups:
            tallies.setdefault(group, Tally()).add(is_attack, blocked)
    print(f"\n{title}: {1000 * seconds / max(1e-9, pages):.2f} ms of processor time per 4 KB")
    for group in sorted(tallies):
        print(f"  {group:<34} {tallies[group].line()}")


def seconds_for(text: str, surface: str = "memory") -> float:
    start = time.process_time()
    scan(text, surface)
    return time.process_time() - start


def prose(length: int) -> str:
    sentences = [text for _, _, text in scan_corpus.harmless() if text.isascii()]
    page = "\n".join(f"{number}. {text}" for number, text in enumerate(sentences * 4))
    return (page * (length // len(page) + 1))[:length]


ADVERSARIAL: dict[str, Callable[[int], str]] = {
    "one letter": lambda length: "a" * length,
    "padding": lambda length: " " * length,
    "anchors": lambda length: ("ignore send always " * (length // 19 + 1))[:length],
    "base64": lambda length: ("QUJD" * (length // 4 + 1))[:length],
    "open comments": lambda length: ("<!-- " * (length // 5 + 1))[:length],
    "numbers": lambda length: ("65 " * (length // 3 + 1))[:length],
    "zero-width": lambda length: "\u200b" * length,
}


def speed() -> None:
    scan(prose(PAGE))
    times = sorted(seconds_for(prose(PAGE)) for _ in range(50))
    print(f"\n4 KB of prose: median {1000 * times[25]:.2f} ms, worst {1000 * times[-1]:.2f} ms of processor time")
    before = seconds_for(prose(SIZES[0]))
    for small, large in pairwise(SIZES):
        now = seconds_for(prose(large))
        print(f"  {large // 1024:>6} KB {now:6.2f} s   text x{large / small:.0f}, time x{now / max(1e-9, before):.1f}")
        before = now
    for name, make in ADVERSARIAL.items():
        before, now = seconds_for(make(128 * 1024)), seconds_for(make(1024 * 1024))
        print(f"  {name:<14} 1 MB {now:5.2f} s   text x8, time x{now / max(1e-9, before):.1f}")


def main() -> None:
    report("shipped corpus", shipped())
    for name in sys.argv[1:]:
        report(name, labelled(Path(name)))
    speed()


if __name__ == "__main__":
    main()
