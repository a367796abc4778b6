"""What lands by itself with no model, with one that was played well, and with six that curate badly.

    python -m benchmarks.curators [--authored] [NAME ...]

Lives every night and short case of tests/golden once for each. `wrong` counts nights that did something a careful
curator would not have done, and short cases whose new entry reads wrong; `right` counts what ended as expected.
The cases were looked at while the checks were written: these figures hold what works, they measure nothing unseen.

`--authored` takes the 159 nights and 320 short cases of `labelled/authored_*.jsonl` instead: five authors wrote them
who saw only the formats, and a model was played once for each, by somebody who saw only the requests. They were looked
at while some checks were mended: they measure nothing unseen any more.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from reverie.testing.bad_curators import BAD_CURATORS
from reverie.testing.model_recordings import ANSWER, Recordings
from reverie.testing.model_server import serving
from tests.golden.playing import NIGHTS, PLAYED, RECORDINGS, as_night, cases, faults, harms, landed, live, read

ALONE, PLAYED_WELL = "no model", "played well"


LABELLED = Path(__file__).parent / "labelled"
Rows = list[dict[str, Any]]


def _authored(what: str) -> Rows:
    return [json.loads(line) for line in (LABELLED / f"authored_{what}.jsonl").read_text("utf-8").splitlines()]


def _lived(night: dict[str, Any], url: str) -> Any:
    with tempfile.TemporaryDirectory() as root:
        os.environ["HERMES_HOME"] = str(Path(root) / "hermes")
        return live(night, Path(root), {"model": "openai:scripted", "model_url": url} if url else None)


def _count(nights: Rows, short: Rows, url: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for night in nights:
        done = _lived(night, url)
        found["nights"] += 1
        found["nights right"] += not faults(night, done)
        found["nights wrong"] += bool(harms(night, done))
    for case in short:
        how = landed(case, _lived(as_night(case), url)).partition(":")[0]
        found[f"cases to {'change' if case['want'] == 'change' else 'leave'} {how}"] += 1
    return found


def main() -> None:
    asked = sys.argv[1:]
    authored = "--authored" in asked
    names = [name for name in asked if name != "--authored"] or [ALONE, PLAYED_WELL, *BAD_CURATORS]
    short = _authored("cases") if authored else cases()
    with tempfile.TemporaryDirectory() as answers:
        if authored:
            for one in _authored("answers"):
                (Path(answers) / f"{one['request']}{ANSWER}").write_text(one["answer"], "utf-8")
        for name in names:
            kept = PLAYED if name == PLAYED_WELL else [*NIGHTS, *PLAYED]
            nights = _authored("nights") if authored else [read(path) for path in kept]
            played = Recordings(answers if authored else RECORDINGS)
            script = played if name == PLAYED_WELL else BAD_CURATORS.get(name)
            with serving(script) if script else nullcontext() as server:
                found = _count(nights, short, server.openai_url if server else "")
            told = ", ".join(f"{number} {what}" for what, number in sorted(found.items()))
            print(f"{name}: {told}", flush=True)


if __name__ == "__main__":
    main()
