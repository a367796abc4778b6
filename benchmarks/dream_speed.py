"""Sessions a second of one dream without a model, beside another copy of the code in the same run.

    python benchmarks/dream_speed.py [--sizes 10,100,1000] [--beside FOLDER] [--rounds 1]

FOLDER is a checkout of another commit (`git worktree add FOLDER COMMIT`). Both read the same sessions: `everyday` ones,
as four people talk with their agents (benchmarks/lives), and `made-up` ones, twenty sentences of a language nobody
speaks with two things worth noticing in each. Each dream has a process of its own and they take turns; counted are
seconds of CPU, which a busy machine changes little. `growth` is the exponent in time = sessions ** growth: 1 is linear.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.dreams import sessions as made_up
from benchmarks.lives.life import life
from benchmarks.lives.living import live

ROOT = Path(__file__).parents[1]
LIVES = ("developer", "nurse", "researcher", "shop")
NIGHTS = 60
SIDE = """
import json, sys, time
from pathlib import Path
import reverie
folder, count = Path(sys.argv[1]), int(sys.argv[3])
with reverie.open(folder, settings={"owner": "ann"}) as home:
    for session in json.loads(Path(sys.argv[2]).read_text()):
        home.sessions.add(session)
    list(home.search("warm", limit=1))
    home.dream("home", limit=1)  # what a process loads once is loaded
    dream = home.dream.later("home", limit=count)
    began = time.process_time()
    done = home.dream.run(dream.id)
    print(json.dumps([time.process_time() - began, len(done.sessions), done.noticed]))
"""


@dataclass(frozen=True)
class Taken:
    """Seconds of CPU for so many sessions, in which so much was noticed."""

    seconds: float
    sessions: int
    noticed: int

    @property
    def per_second(self) -> float:
        return self.sessions / self.seconds


def everyday(count: int) -> Iterator[dict[str, Any]]:
    """Day after day of four people, all told by one."""
    seeds = itertools.count()
    lived = (live(life(name, NIGHTS), seed, NIGHTS) for seed in seeds for name in LIVES)
    every = (one for life_ in lived for day in life_.days for one in day)
    for number, session in enumerate(itertools.islice(every, count)):
        yield {
            "id": f"day-{number}",
            "user": "ann",
            "started_at": session["started_at"],
            "messages": session["messages"],
        }


SESSIONS = {"everyday": everyday, "made-up": made_up}


def metadata(tree: Path, folder: Path) -> Path:
    """What an installed copy of that tree would register: its readers and targets."""
    project = tomllib.loads((tree / "pyproject.toml").read_text())["project"]
    info = folder / "metadata" / f"{project['name']}-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
    groups = project.get("entry-points", {}).items()
    lines = [f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items()) for name, points in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return info.parent


def dreamt(tree: Path, told: Path, count: int) -> Taken:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = os.pathsep.join([str(metadata(tree, folder)), str(tree / "src")])
        environment = {**os.environ, "PYTHONPATH": path, "HOME": name, "REVERIE_SOURCES": "added"}
        command = [sys.executable, "-c", SIDE, str(folder / "home"), str(told), str(count)]
        done = subprocess.run(command, env=environment, cwd=name, check=True, stdout=subprocess.PIPE, text=True)
    return Taken(*json.loads(done.stdout.splitlines()[-1]))


def best(rounds: Sequence[Taken]) -> Taken:
    return min(rounds, key=lambda one: one.seconds)


def measured(kind: str, sizes: Sequence[int], trees: Sequence[Path], rounds: int) -> None:
    rows: list[tuple[int, list[Taken]]] = []
    for count in sizes:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as told:
            json.dump(list(SESSIONS[kind](count)), told)
            told.flush()
            taken = [[dreamt(tree, Path(told.name), count) for tree in trees] for _ in range(rounds)]
        found = [best(side) for side in zip(*taken, strict=True)]
        shown = " | ".join(f"{one.per_second:.1f} | {one.noticed:,}" for one in found)
        print(f"| {kind} | {count:,} | {shown} |", flush=True)
        rows.append((count, found))
    for (small, first), (large, second) in itertools.pairwise(rows):
        grown = [
            math.log(two.seconds / one.seconds) / math.log(two.sessions / one.sessions)
            for one, two in zip(first, second, strict=True)
        ]
        told_growth = " beside ".join(f"{one:.2f}" for one in grown)
        print(f"growth of {kind} from {small:,} to {large:,}: {told_growth}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10,100,1000", help="dreams over so many sessions")
    parser.add_argument("--beside", type=Path, help="a checkout of another commit")
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many is told")
    parser.add_argument("--only", choices=SESSIONS, help="one kind of sessions")
    asked = parser.parse_args()
    trees = [ROOT, *([asked.beside.resolve()] if asked.beside else [])]
    head = " | ".join(f"{name}: sessions a second | noticed" for name in ("this code", "beside")[: len(trees)])
    print(f"| sessions | count | {head} |\n|{'---|' * (2 + 2 * len(trees))}")
    for kind in (asked.only,) if asked.only else SESSIONS:
        measured(kind, [int(size) for size in asked.sizes.split(",")], trees, asked.rounds)


if __name__ == "__main__":
    main()
