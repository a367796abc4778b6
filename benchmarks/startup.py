"""How long a command takes to start, next to a bare interpreter and to `hermes --version`.

python benchmarks/startup.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.peers import HERMES, python_with


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    reverie = str(Path(sys.executable).with_name("reverie"))
    hermes = python_with(HERMES)
    commands = {
        "bare interpreter": [sys.executable, "-c", "pass"],
        "reverie --version": [reverie, "--version"],
        "reverie --help": [reverie, "--help"],
        "hermes --version": [str(hermes), str(hermes.with_name("hermes")), "--version"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):  # interleaved, so that a busy moment hits all of them; the first run warms up
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            taken[name].append(1000 * (time.perf_counter() - start))
    bare = min(taken["bare interpreter"][1:])
    print(f"{'command':<20} {'best ms':>8} {'median ms':>10} {'over bare':>10}   ({runs} runs each, interleaved)")
    for name, times in taken.items():
        best = min(times[1:])
        print(f"{name:<20} {best:>8.0f} {statistics.median(times[1:]):>10.0f} {best - bare:>10.0f}")


if __name__ == "__main__":
    main()
