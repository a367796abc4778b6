"""How much memory `reverie sessions add` takes for one large file, with the index and the vectors in one process.

python benchmarks/memory.py [MESSAGES]      default 1000000 short messages, about 140 MB of JSON Lines
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.corpus import TURNS, Corpus


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.jsonl"
        with path.open("w") as file:
            for session in Corpus().short_sessions(messages // TURNS):
                file.write(json.dumps(session) + "\n")
        start = time.perf_counter()
        command = [sys.executable, "-m", "reverie", "sessions", "add", str(path), "--home", f"{folder}/home", "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"{messages:,} messages, {path.stat().st_size / 1e6:.0f} MB: peak memory {peak} MB, {taken:.0f} s")


if __name__ == "__main__":
    main()
