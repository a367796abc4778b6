"""How much of what is worth keeping `notice` finds, and how much else it flags.

    python benchmarks/notice.py                     the labelled conversations of this folder
    python benchmarks/notice.py notice-*.json       labelled files of your own, beside them

A file is `{"sessions": [...], "labels": {session id: {turn: [kind, …]}}}`. Recall counts labelled turns that some
candidate cites; the flag rate counts user turns without a label that one does.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reverie.dreams.light.notice import notice
from reverie.dreams.light.tagger import tag_sentences

HERE = Path(__file__).parent
ROLES = {"u": "user", "a": "assistant", "t": "tool"}


@dataclass
class Count:
    found: Counter[str] = field(default_factory=Counter)
    labelled: Counter[str] = field(default_factory=Counter)
    flagged: int = 0
    others: int = 0
    seconds: float = 0.0

    def line(self, name: str) -> str:
        recall = sum(self.found.values()) / max(1, sum(self.labelled.values()))
        rate = self.flagged / max(1, self.others)
        return (
            f"{name:<34} recall {recall:.3f} of {sum(self.labelled.values()):>4}   "
            f"flags {rate:.3f} of {self.others:>5}   {self.seconds:.2f} s"
        )


@dataclass(frozen=True)
class Labelled:
    session: dict[str, Any]
    labels: dict[str, list[str]]
    language: str = ""
    set_aside: bool = False


def shipped(path: Path) -> Iterator[Labelled]:
    for block in path.read_text("utf-8").split("\n== ")[1:]:
        title, *lines = block.strip().splitlines()
        name, language, *aside = title.split()
        messages, labels = [], {}
        for line in lines:
            who, _, content = line.partition(" | ")
            role, _, kind = who.strip().partition("+")
            messages.append({"role": ROLES[role], "content": content})
            if kind:
                labels[str(len(messages))] = [kind]
        yield Labelled({"id": name, "messages": messages}, labels, language, bool(aside))


def handed(path: Path) -> Iterator[Labelled]:
    task = json.loads(path.read_text("utf-8"))
    for session in task["sessions"]:
        yield Labelled(session, task["labels"].get(session["id"], {}))


def add(count: Count, labelled: Labelled, show: bool) -> None:
    start = time.perf_counter()
    cited = {item.turn for candidate in notice(labelled.session) for item in candidate.evidence}
    count.seconds += time.perf_counter() - start
    for number, message in enumerate(labelled.session["messages"], 1):
        kinds = labelled.labels.get(str(number), [])
        for kind in kinds:
            count.labelled[kind] += 1
            count.found[kind] += number in cited
        if not kinds and message["role"] == "user":
            count.others += 1
            count.flagged += number in cited
        if show and message["role"] == "user" and bool(kinds) != (number in cited):
            print("  missed " if kinds else "  flagged", labelled.session["id"], number, message["content"][:160])


def main() -> None:
    show = "--errors" in sys.argv
    ours = list(shipped(HERE / "labelled" / "notice.txt"))
    groups: dict[str, list[Labelled]] = {
        "all of ours": ours,
        "  looked at while written": [one for one in ours if not one.set_aside],
        "  written last, only counted": [one for one in ours if one.set_aside],
        "  English": [one for one in ours if one.language == "en"],
        "  other languages": [one for one in ours if one.language != "en"],
    }
    groups |= {Path(name).stem: list(handed(Path(name))) for name in sys.argv[1:] if name.endswith(".json")}
    for name, members in groups.items():
        count = Count()
        for labelled in members:
            add(count, labelled, show and not name.startswith("  "))
        print(count.line(name))
        if not name.startswith(("  ", "all")):
            for kind, total in sorted(count.labelled.items()):
                print(f"    {kind:<30} {count.found[kind]:>4} of {total:>4}  {count.found[kind] / total:.3f}")
    print(f"tagger: {speed():,.0f} turns a second of processor time, one core")


def speed() -> float:
    """On 600 turns of the training data, each read once."""
    lines = (HERE.parent / "training" / "data" / "notice-a.jsonl").read_text("utf-8").splitlines()[:600]
    tag_sentences(["warm up"])
    start = time.process_time()
    tag_sentences([json.loads(line)["text"] for line in lines])
    return len(lines) / (time.process_time() - start)


if __name__ == "__main__":
    main()
