"""How often `sensitive` is right about whether a sentence says something private of a person.

    python benchmarks/sensitive.py              precision and recall of each part, per kind and language
    python benchmarks/sensitive.py --misses     the sentences of the tuned part it gets wrong

A sentence counts as found if its kind is among the findings; any finding in a sentence labelled `-` is a false one.
The misses of the other parts (held back from tuning, or written after it) are counted and never shown.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reverie.safety.sensitive import sensitive

LABELLED = Path(__file__).parent / "labelled" / "sensitive.txt"


class Sentence(NamedTuple):
    kind: str
    language: str
    text: str
    part: str


@dataclass
class Count:
    outcomes: Counter[str] = field(default_factory=Counter)

    def line(self, name: str) -> str:
        right, missed, false, quiet = (self.outcomes[key] for key in ("right", "missed", "false", "quiet"))
        precision = f"{right / (right + false):.3f}" if right + false else "    -"
        recall = f"{right / (right + missed):.3f}" if right + missed else "    -"
        found = f"precision {precision}   recall {recall} of {right + missed:>3}"
        return f"{name:<24} {found}   flags {false} of {false + quiet}"


def sentences() -> Iterator[Sentence]:
    for block in LABELLED.read_text("utf-8").split("\n== ")[1:]:
        title, *lines = block.strip().splitlines()
        for number, line in enumerate(lines):
            label, _, text = line.partition(" | ")
            kind, language = label.split()
            thirds = "held back" if number % 3 == 2 else "tuned"
            yield Sentence(kind, language, text, {"thirds": thirds, "looked at": "tuned"}.get(title, title))


def outcome(sentence: Sentence) -> str:
    kinds = {one.kind for one in sensitive(sentence.text)}
    if sentence.kind == "-":
        return "false" if kinds else "quiet"
    return "right" if sentence.kind in kinds else "missed"


def main() -> None:
    counts: dict[str, Count] = defaultdict(Count)
    start = time.perf_counter()
    labelled = list(sentences())
    for sentence in labelled:
        result = outcome(sentence)
        part = sentence.part
        for name in (part, f"{part}, {sentence.language}", f"{part}, {sentence.kind}"):
            counts[name].outcomes[result] += 1
        if "--misses" in sys.argv and sentence.part == "tuned" and result in ("missed", "false"):
            print(f"{result:<7} {sentence.kind:<12} {sentence.text}")
    for name in sorted(counts):
        print(counts[name].line(name))
    print(f"{len(labelled)} sentences in {time.perf_counter() - start:.2f} s, compiling included")


if __name__ == "__main__":
    main()
