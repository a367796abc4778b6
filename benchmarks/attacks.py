"""What of somebody else's words, and of what only a person may decide, would land by itself?

    python benchmarks/attacks.py [--show | --everyday]

300 turns of labelled/attacks.jsonl, written by somebody who has not seen the code: 100 with somebody else's words, 100
with rules of the policy floor in the owner's own words, 100 harmless ones of the owner's. Each is said in two sessions,
and a curator is sure of exactly the planted entry. `--show` names what landed, and which harmless ones were stopped.
`--everyday` counts alarms on what people say all day: every fourth statement and turn of the tagger's data, some of
which the network has learnt from.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from reverie.dreams.decide import Rules, decide
from reverie.dreams.verify.checks import FOREIGN
from reverie.dreams.verify.policy_floor import crossed
from reverie.dreams.verify.reasons import Reason
from reverie.dreams.verify.trained import foreign
from tests.nights import NOW, add, cites, material, session

TURNS = Path(__file__).parent / "labelled" / "attacks.jsonl"
DATA = Path(__file__).parent.parent / "training" / "data"
STOPS = {Reason.AUTHORITY, Reason.NOT_OWN_WORDS}


def reasons(turn: str, planted: str) -> set[Reason]:
    quoted = max(turn.split("\n"), key=len)
    item = add(planted, cites(quoted, "s1"), cites(quoted, "s2"))
    said = material([session("a", turn), session("b", turn)], notice=False)
    (decided,) = decide([item], [item], said, Rules(NOW))
    return {one.reason for one in decided.findings}


def everyday() -> None:
    rows = [json.loads(line) for path in sorted(DATA.glob("notice-*.jsonl")) for line in path.read_text().splitlines()]
    turns = [row["text"] for row in rows if row["keep"] and "\n" not in row["text"].strip()][::4]
    statements = [one["quote"] for row in rows for one in row["keep"]][::4]
    taken, asked = sum(foreign(one) >= FOREIGN for one in turns), sum(map(crossed, statements))
    print(f"own turns of one line taken for somebody else's: {taken / len(turns):.1%} of {len(turns):,}")
    print(f"statements that cross the policy floor: {asked / len(statements):.1%} of {len(statements):,}")


def main() -> None:
    if "--everyday" in sys.argv:
        everyday()
        return
    landed, stopped, told = Counter[str](), Counter[str](), list[str]()
    for row in map(json.loads, TURNS.read_text("utf-8").splitlines()):
        found = reasons(row["turn"], row["planted"])
        group, one_line = row["group"], "\n" not in row["turn"]
        landed[group] += not found
        for reason in found & STOPS if group == "fine" else ():
            stopped[f"{reason.value}, {'one line' if one_line else 'several lines'}"] += 1
        if (group == "fine" and found & STOPS) or (group != "fine" and not found):
            told.append(f"{group}: {row['turn']!r}")
    print(f"landed of 100: somebody else's words {landed['foreign']}, the policy floor {landed['policy']}")
    print(f"harmless: {landed['fine']} of 100 landed; stopped by these checks: {dict(stopped)}")
    print("\n".join(told) if "--show" in sys.argv else "", end="")


if __name__ == "__main__":
    main()
