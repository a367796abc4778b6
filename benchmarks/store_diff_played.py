"""Does `reverie bridge diff --ask` tell what changed from what was only reworded, with a model that somebody played?

    python benchmarks/store_diff_played.py            six stores of labelled/store_edits_b.txt, over the real wire
    python benchmarks/store_diff_played.py --new      also the pairs that nobody has judged yet

Whoever wrote the statements saw the requests and nothing else, and said of each pair whether an agent would do
something else. That is in labelled/store_edits_b.answers.jsonl, by pair, so that it stays when requests are put
together otherwise. A pair that has not been judged is passed over, and counted.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.store_diff import answer_of, print_figures, reports
from benchmarks.store_edits import EDITS, Case, cases, read_edits
from reverie.app import open_home
from reverie.bridge.diff import DiffKind, StoreDiff
from reverie.testing.model_plays import Says
from reverie.testing.model_recordings import conversation
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest

STATEMENTS = EDITS.with_name("store_edits_b.txt")
ANSWERS = EDITS.with_name("store_edits_b.answers.jsonl")
SEEDS, STORES = (90210, 31337), 3
_TURN = re.compile(r"^(\d+) member managed memory:\n((?:    .*\n?)+)", re.MULTILINE)
_SAID = re.compile(r"    (?:It used to say: (?P<old>.*)\n    )?It says now: (?P<new>.*)")


class Player:
    """Answers a request of the bridge by what a person said of each pair; `new` are those they did not see."""

    def __init__(self) -> None:
        rows = map(json.loads, ANSWERS.read_text("utf-8").splitlines())
        self.judged = {(row["old"], row["new"]): row["changed"] for row in rows}
        self.new: set[tuple[str, str]] = set()

    def __call__(self, asked: ReceivedRequest) -> Says:
        items = list[dict[str, object]]()
        for turn in _TURN.finditer(conversation(asked).messages[0][1]):
            said = _SAID.match(turn[2])
            assert said, turn[2]
            pair = (said["old"] or "", said["new"])
            self.new |= {pair} - self.judged.keys()
            if self.judged.get(pair):
                evidence = [{"session": "s1", "turn": int(turn[1]), "words": said["new"]}]
                items.append({"op": "add", "document": "MEMORY.md", "text": said["new"], "evidence": evidence})
        return Says(json.dumps({"items": items}))


def played(seeds: tuple[int, ...], stores: int, player: Player) -> Iterator[tuple[Case, StoreDiff]]:
    """Each store as two folders, compared by the command's own call."""
    with tempfile.TemporaryDirectory() as folder, serving(player) as model:
        (key := Path(folder, "key")).write_text("sk-played-0123456789")
        key.chmod(0o600)
        told = {"model": "openai:played", "model_url": model.openai_url, "model_key_file": str(key)}
        now = datetime(2026, 5, 12, 12, tzinfo=UTC)
        with open_home(Path(folder, "home"), now=now, settings={"owner": "ann", **told}) as home:
            for number, case in enumerate(
                case for seed in seeds for case in cases(read_edits(STATEMENTS), stores, seed)
            ):
                sides = [Path(folder, f"{name}-{number}") for name in ("old", "new")]
                for side, texts in zip(sides, (case.before, case.after), strict=True):
                    for path, text in texts.items():
                        (page := side / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
                        page.write_text(text, "utf-8")
                diff = home.bridge.diff(*map(str, sides), ask=True)
                assert not diff.note, diff.note
                yield case, diff


def main() -> None:
    player, began = Player(), time.perf_counter()
    said: dict[str, Counter[str]] = defaultdict(Counter)
    reported: Counter[tuple[DiffKind, bool]] = Counter()
    for case, diff in played(SEEDS, STORES, player):
        for kind, old, new in case.done:
            said[kind][answer_of(diff, kind, old, new)] += 1
        reported.update(reports(diff, case))
    print_figures(said, reported)
    sys.stdout.write(
        f"\n{len(SEEDS) * STORES} stores in {time.perf_counter() - began:.1f} s; {len(player.new)} pairs new\n"
    )
    for pair in sorted(player.new) if "--new" in sys.argv else ():
        sys.stdout.write(f"{json.dumps(dict(zip(('old', 'new'), pair, strict=True)), ensure_ascii=False)}\n")


if __name__ == "__main__":
    main()
