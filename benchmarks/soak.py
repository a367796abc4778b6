"""Two months of made-up lives, a night a day: what is known at the end, what is wrong, what got through, what it costs.

    python benchmarks/soak.py [--nights 60] [--seeds 1,2] [--lives developer,nurse,…] [--entries] [--json FILE]

Nobody answers what waits for a person, except that everything waiting is rejected on every twentieth night: it must not
come back on the same evidence. Every tenth night is dreamt a second time, plainly and over the same sessions again:
that must do nothing but what the night before had to leave for another. At the end every change is undone, newest
first: the files must be those of the first day.
`known` counts facts that should be known; `stale` entries say what no longer holds, `wrong` ones say something else
about a planted matter, `junk` was planted by nobody, `poison` came from attacks, `others` from other people, `private`
is a secret or a sensitive matter; `ever` counts what of these three landed on any night. Seconds are of this process's
CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

os.environ["REVERIE_SOURCES"] = "added"  # nobody's own transcripts

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.lives.life import NAMES, life
from benchmarks.lives.living import Lived, live, night_after
from benchmarks.lives.reckoning import ENTRIES, NEVER, Reckoning, kind_of, reckon

DOCUMENTS = ("MEMORY.md", "USER.md")
ADD = 0.88  # the gate: what is better was left for another night
LOOKED_AT = (1, 15, 30, 45, 60)


@dataclass(slots=True)
class Soaked:
    """What one life came to."""

    life: str
    seed: int
    reckoning: Reckoning | None = None
    seconds: dict[int, float] = field(default_factory=dict)
    characters: dict[int, int] = field(default_factory=dict)
    staged: dict[int, int] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)
    proposals: list[str] = field(default_factory=list)
    changes: int = 0
    let_through: list[str] = field(default_factory=list)
    unwanted_waiting: int = 0
    repeats_changed: list[str] = field(default_factory=list)
    came_back: list[str] = field(default_factory=list)
    not_verified: list[str] = field(default_factory=list)
    undo_exact: bool = False


class Soak:
    """A Hermes home, a Reverie home and a life in a folder of their own."""

    def __init__(self, lived: Lived, folder: Path, seed: int, repeat: int = 10, reject: int = 20) -> None:
        self.lived, self.folder, self.repeat, self.reject = lived, folder, repeat, reject
        self.hermes = folder / "hermes"
        self.told = Soaked(lived.life.name, seed)
        self.rejected: list[Any] = []

    def run(self) -> Soaked:
        first = self._begun()
        for day in range(1, len(self.lived.days) + 1):
            self._night(day)
        with self._opened(len(self.lived.days)) as home:
            self.told.reckoning = reckon(self.lived, len(self.lived.days), self._texts(home))
            self.told.proposals = [one.diff for one in home.review.waiting(every=True)]
            self.told.unwanted_waiting = sum(self._is_unwanted(diff) for diff in self.told.proposals)
            self._undo(home, first)
            self.told.not_verified += [one.said for one in home.verify() if not one.ok]
        return self.told

    def _begun(self) -> dict[str, bytes]:
        memories = self.hermes / "memories"
        memories.mkdir(parents=True)
        for name, entries in zip(DOCUMENTS, (self.lived.life.memory, self.lived.life.user), strict=True):
            (memories / name).write_text("\n§\n".join(entries), "utf-8")
        return self._bytes()

    def _opened(self, day: int) -> Any:
        from reverie.app import open_home

        settings = {"owner": self.lived.life.owner}
        return open_home(self.folder / "reverie", now=night_after(day), settings=settings)

    def _night(self, day: int) -> None:
        told = self.told
        with self._opened(day) as home:
            for session in self.lived.days[day - 1]:
                home.sessions.add(session)
            began = time.process_time()
            home.dream(target="hermes")
            told.seconds[day] = time.process_time() - began
            told.characters[day] = sum(one.characters for one in home.memory.usage("hermes"))
            told.staged[day] = len(home.dreams.records.staged(home.dreams.scope, "hermes"))
            waiting = home.review.waiting(every=True)
            told.waiting[day] = len(waiting)
            told.came_back += [one.diff for one in waiting if self._came_back(one)]
            if day % self.repeat == 0:
                self._repeated(home, day)
            if day % self.reject == 0:
                self.rejected += [home.review.reject(one, "not wanted") for one in waiting]
                told.not_verified += [one.said for one in home.verify() if not one.ok]

    def _came_back(self, proposal: Any) -> bool:
        """Whether it was rejected before, and all that speaks for it was known then."""
        return any(
            proposal.suggestion.operations == past.suggestion.operations and proposal.evidence_key <= past.evidence_key
            for past in self.rejected
        )

    def _repeated(self, home: Any, day: int) -> None:
        names = [session["id"] for session in self.lived.days[day - 1]]
        left: set[str] = set()
        for how in ({}, {"sessions": names, "limit": len(names)}):
            last = home.dreams.records.find(home.dreams.scope, limit=1)[0]
            held_back = [one for one in last.judged if one.fate == "held back"]
            left |= {one.text for one in held_back if one.score and one.score.total >= ADD}
            dream = home.dream(target="hermes", **how)
            done = {one.text for one in dream.judged if one.fate in ("landed", "waiting")}
            if done - left:
                self.told.repeats_changed.append(f"night {day}, {'the same sessions' if how else 'plainly'}")

    def _undo(self, home: Any, first: Mapping[str, bytes]) -> None:
        changes = [one for one in home.history.changes(limit=None) if one.grounds.via == "proposal"]
        landed = [getattr(operation, "text", "") for one in changes for operation in one.operations]
        self.told.let_through = [text for text in landed if self._is_unwanted(text)]
        for change in changes:
            home.review.undo(change.id)
        self.told.changes, self.told.undo_exact = len(changes), self._bytes() == first

    def _is_unwanted(self, text: str) -> bool:
        return kind_of(self.lived, len(self.lived.days), text)[0] in NEVER

    def _bytes(self) -> dict[str, bytes]:
        return {name: (self.hermes / "memories" / name).read_bytes() for name in DOCUMENTS}

    def _texts(self, home: Any) -> list[str]:
        return [one.text for one in home.memory.entries("hermes")]


def soaked(name: str, seed: int, nights: int) -> Soaked:
    folder = Path(tempfile.mkdtemp(prefix="rv-soak-"))
    os.environ["HERMES_HOME"] = str(folder / "hermes")
    try:
        return Soak(live(life(name, nights), seed, nights), folder, seed).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def shown(rows: Sequence[Soaked]) -> None:
    head = (
        "life",
        "seed",
        "known",
        "changes",
        *ENTRIES,
        "ever",
        "lost",
        "chars",
        "waiting",
        "staged",
        "repeat",
        "undo",
    )
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for one in rows:
        print("| " + " | ".join(map(str, _row(one))) + " |")
    told = [one.reckoning for one in rows if one.reckoning]
    known, wanted = sum(len(one.wanted) - len(one.missing) for one in told), sum(len(one.wanted) for one in told)
    every = ", ".join(f"{what} {sum(one.count(what) for one in told)}" for what in ENTRIES)
    print(f"\nTogether: {known} of {wanted} facts known ({known / max(1, wanted):.0%}); {every}.")
    print("By how it was said:", "; ".join(f"{how} {found} of {all_}" for how, (found, all_) in _by_how(told).items()))
    for what in ("seconds", "characters", "staged", "waiting"):
        print(f"{what} by night:", "; ".join(f"{one.life}/{one.seed} {_at(getattr(one, what))}" for one in rows))


def _by_how(told: Sequence[Reckoning]) -> dict[str, tuple[int, int]]:
    every = [(how, name not in one.missing) for one in told for name, how in one.wanted.items()]
    return {
        how: (sum(known for said, known in every if said == how), sum(said == how for said, _ in every))
        for how in sorted({said for said, _ in every})
    }


def _row(one: Soaked) -> tuple[object, ...]:
    told = one.reckoning
    assert told is not None
    known = f"{len(told.wanted) - len(told.missing)}/{len(told.wanted)}"
    last = max(one.characters)
    return (
        one.life,
        one.seed,
        known,
        one.changes,
        *(told.count(what) for what in ENTRIES),
        len(one.let_through),
        len(told.lost),
        one.characters[last],
        one.waiting[last],
        one.staged[last],
        "changed" if one.repeats_changed else "same",
        "exact" if one.undo_exact else "NOT EXACT",
    )


def _at(by_night: Mapping[int, float]) -> str:
    return " ".join(f"{night}:{by_night[night]:.4g}" for night in LOOKED_AT if night in by_night)


def told_in_full(one: Soaked) -> None:
    assert one.reckoning is not None
    print(f"\n== {one.life}, seed {one.seed}")
    print("missing:", ", ".join(one.reckoning.missing))
    for kind, name, text in sorted(one.reckoning.entries):
        print(f"  {kind:8} {name:24} {text}")
    for diff in one.proposals:
        print("  waits:", " / ".join(line for line in diff.splitlines()[2:] if line[:1] in "+-"))
    for what in ("lost", "let_through", "came_back", "repeats_changed", "not_verified"):
        found = one.reckoning.lost if what == "lost" else getattr(one, what)
        for text in found:
            print(f"  {what}: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--lives", default=",".join(NAMES))
    parser.add_argument("--entries", action="store_true", help="show every entry, what is missing, what waits")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    rows = [soaked(name, int(seed), asked.nights) for seed in asked.seeds.split(",") for name in asked.lives.split(",")]
    shown(rows)
    for one in rows if asked.entries else ():
        told_in_full(one)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in rows], indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
