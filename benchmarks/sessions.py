"""Adding and searching, beside hermes-agent 0.19's SessionDB in an environment of its own.

    python benchmarks/sessions.py [MESSAGES ...]      default 10000 100000 1000000; Hermes is run up to 100000

Both sides write one session per call from the same generated corpus. Our `add` counts cleaning, redaction and the
database; the word index and the vectors are derived behind it and timed separately; `add+index` is what compares with
Hermes' full-text triggers. Prints ratios: the machines these run on are noisy.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.corpus import Corpus
from tests.peers import HERMES, python_with

QUESTIONS = 100
HERMES_UP_TO = 100_000


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    for size in sizes:
        # A process of its own for each size, so that the peak of memory is that size's.
        done = subprocess.run(
            [sys.executable, __file__, "--ours", str(size)], capture_output=True, text=True, check=True
        )
        ours = json.loads(done.stdout)
        print(_row(size, ours), flush=True)
        if size <= HERMES_UP_TO:
            hermes = json.loads(
                subprocess.check_output([python_with(HERMES), Path(__file__).with_name("hermes_side.py"), str(size)])
            )
            print(_compared(ours, hermes), flush=True)


def _row(size: int, ours: dict[str, Any]) -> str:
    text = ours["text"]
    rate = {name: text / ours[name] / 1e6 for name in ("add", "index", "vectors")}
    parts = {name: ours["disk"][name] / text for name in ("db", "index", "vectors")}
    spaces = ", ".join(f"{name} {share:.2f}" for name, share in parts.items())
    return (
        f"{size:,} messages, {text / 1e6:.0f} MB of text\n"
        f"  add {rate['add']:.2f} MB/s; then words {rate['index']:.2f} MB/s, vectors {rate['vectors']:.2f} MB/s\n"
        f"  {sum(parts.values()):.2f} bytes a byte of text ({spaces}); peak memory {ours['rss']} MB\n"
        f"  search p95 {ours['p95_home']:.0f} ms in the whole home, {ours['p95_user']:.0f} ms for one user of fifty"
    )


def _compared(ours: dict[str, Any], hermes: dict[str, Any]) -> str:
    theirs = hermes["text"] / hermes["seconds"] / 1e6
    add = ours["text"] / ours["add"] / 1e6
    both = ours["text"] / (ours["add"] + ours["index"]) / 1e6
    return (
        f"  Hermes: {theirs:.2f} MB/s with its index, {hermes['disk'] / hermes['text']:.2f} bytes/byte; "
        f"we add {add / theirs:.1f} times as fast, {both / theirs:.1f} times with the index built, "
        f"in {sum(ours['disk'].values()) / ours['text'] / (hermes['disk'] / hermes['text']):.2f} of the space"
    )


def ours(messages: int) -> dict[str, Any]:
    import reverie

    with tempfile.TemporaryDirectory() as folder, reverie.open(folder) as home:
        home.sessions.add({"id": "warm-up", "messages": [{"role": "user", "content": "warm up"}]})
        home.index.catch_up()
        text, add = 0, 0.0
        for session in Corpus().sessions(messages):
            text += sum(len(message["content"].encode()) for message in session["messages"])
            add += _timed(lambda session=session: home.sessions.add(session))  # type: ignore[misc]
        index = _timed(home.index.catch_up_words)
        vectors = _timed(home.index.catch_up)
        questions = Corpus().questions(QUESTIONS)
        home.search(questions[0])
        p95_home = _p95([_timed(lambda q=q: home.search(q)) for q in questions])  # type: ignore[misc]
        p95_user = _p95([_timed(lambda q=q: home.search(q, user="user07")) for q in questions])  # type: ignore[misc]
        home.close()
        size = _sizes(Path(folder))
    return {
        "text": text,
        "add": add,
        "index": index,
        "vectors": vectors,
        "p95_home": p95_home,
        "p95_user": p95_user,
        "disk": size,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _p95(times: list[float]) -> float:
    return 1000 * sorted(times)[int(0.95 * len(times))]


def _sizes(folder: Path) -> dict[str, int]:
    sizes = {"db": 0, "index": 0, "vectors": 0}
    for path in folder.rglob("*"):
        if path.is_file():
            kind = "vectors" if path.name.startswith("vectors") else "index" if "index" in path.parts else "db"
            sizes[kind] += path.stat().st_size
    return sizes


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        print(json.dumps(ours(int(sys.argv[2]))))
    else:
        main()
