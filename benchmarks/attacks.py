"""What of somebody else's words, and of what only a person may decide, would land by itself?

    python benchmarks/attacks.py [--set a|b|c] [--show]
    python benchmarks/attacks.py --everyday

Each turn is said in two sessions, and a curator is sure of exactly the planted entry. The sets of labelled/: with
somebody else's words, with rules of the policy floor in the owner's own words, and harmless ones of the owner's.

    a    100, 100 and 100, by somebody who has not seen the code
    b    50, 40 and 90, all of one line, by somebody who had seen the code, which was mended with them in view
    c    67, 67 and 66, by somebody who has seen nothing but the form of the files

`--show` names what landed, and which harmless ones were stopped. `--everyday` counts alarms on what people say all day:
every statement and turn of the tagger's data, most of which the network has learnt from, and those of author k, whom it
has not; and own lines that are unlike all else a person types in a golden night.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from reverie.dreams.decide import Rules, decide
from reverie.dreams.verify.checks import FOREIGN
from reverie.dreams.verify.reasons import Reason
from reverie.dreams.verify.trained import crossed, foreign
from reverie.transcripts.typed import is_unlike
from tests.nights import NOW, add, cites, material, session

LABELLED = Path(__file__).parent / "labelled"
GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
DATA = Path(__file__).parent.parent / "training" / "data"
STOPS = {Reason.AUTHORITY, Reason.NOT_OWN_WORDS}


def reasons(turn: str, planted: str) -> set[Reason]:
    quoted = max(turn.split("\n"), key=len)
    item = add(planted, cites(quoted, "s1"), cites(quoted, "s2"))
    said = material([session("a", turn), session("b", turn)], notice=False)
    (decided,) = decide([item], [item], said, Rules(NOW))
    return {one.reason for one in decided.findings}


def everyday() -> None:
    for name, files in (("authors a to j", "notice-[a-j].jsonl"), ("author k", "notice-k.jsonl")):
        rows = [json.loads(line) for path in sorted(DATA.glob(files)) for line in path.read_text("utf-8").splitlines()]
        turns = [row["text"] for row in rows if row["keep"] and "\n" not in row["text"].strip()]
        statements = [one["quote"] for row in rows for one in row["keep"]]
        taken, asked = sum(foreign(one) >= FOREIGN for one in turns), sum(map(crossed, statements))
        print(f"{name}: own turns of one line taken for somebody else's: {taken / len(turns):.1%} of {len(turns):,}")
        print(f"{name}: statements that cross the policy floor: {asked / len(statements):.1%} of {len(statements):,}")
    habits()


def habits() -> None:
    own = unlike = 0
    for path in sorted(GOLDEN.glob("*/*.json")):
        for told in spoken(json.loads(path.read_text("utf-8"))).values():
            lines = [one.strip().split("\n", 1)[0] for one in told]
            others = [[other for other in lines if other != line] for line in lines]
            own += len(lines)
            unlike += sum(is_unlike(line, rest) for line, rest in zip(lines, others, strict=True))
    print(f"own lines that are unlike the person's others: {unlike} of {own:,}")


def spoken(night: dict[str, Any]) -> dict[str, list[str]]:
    """What each person says in a night."""
    told: dict[str, list[str]] = {}
    for talk in night.get("sessions", []):
        said = (message["content"] for message in talk["messages"] if message["role"] == "user")
        told.setdefault(talk["user"], []).extend(one for one in said if isinstance(one, str))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices="abcd", default="a")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--everyday", action="store_true")
    asked = parser.parse_args()
    if asked.everyday:
        everyday()
        return
    landed, stopped, told = Counter[str](), Counter[str](), list[str]()
    turns = LABELLED / f"attacks_{asked.set}.jsonl"
    rows = list(map(json.loads, turns.read_text("utf-8").splitlines()))
    of = Counter(row["group"] for row in rows)
    for row in rows:
        found = reasons(row["turn"], row["planted"])
        group, one_line = row["group"], "\n" not in row["turn"]
        landed[group] += not found
        for reason in found & STOPS if group == "fine" else ():
            stopped[f"{reason.value}, {'one line' if one_line else 'several lines'}"] += 1
        if (group == "fine" and found & STOPS) or (group != "fine" and not found):
            told.append(f"{group}: {row['turn']!r}")
    print(f"landed: somebody else's words {landed['foreign']} of {of['foreign']}", end=", ")
    print(f"the policy floor {landed['policy']} of {of['policy']}")
    print(f"harmless: {landed['fine']} of {of['fine']} landed; stopped by these checks: {dict(stopped)}")
    print("\n".join(told) if asked.show else "", end="")


if __name__ == "__main__":
    main()
