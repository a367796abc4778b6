"""What lands by itself with no model, with one that was played well, and with six that curate badly.

    python -m benchmarks.curators [NAME ...]

Lives every night and short case of tests/golden once for each. `wrong` counts nights that did something a careful
curator would not have done, and short cases whose new entry reads wrong; `right` counts what ended as expected.
The cases were looked at while the checks were written: these figures hold what works, they measure nothing unseen.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from reverie.testing.bad_curators import BAD_CURATORS
from reverie.testing.model_recordings import Recordings
from reverie.testing.model_server import serving
from tests.golden.playing import NIGHTS, PLAYED, RECORDINGS, as_night, cases, faults, harms, landed, live, read

ALONE, PLAYED_WELL = "no model", "played well"


def _lived(night: dict[str, Any], url: str) -> Any:
    with tempfile.TemporaryDirectory() as root:
        os.environ["HERMES_HOME"] = str(Path(root) / "hermes")
        return live(night, Path(root), {"model": "openai:scripted", "model_url": url} if url else None)


def _count(name: str, url: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in PLAYED if name == PLAYED_WELL else [*NIGHTS, *PLAYED]:
        night = read(path)
        done = _lived(night, url)
        found["nights"] += 1
        found["nights right"] += not faults(night, done)
        found["nights wrong"] += bool(harms(night, done))
    for case in cases():
        how = landed(case, _lived(as_night(case), url)).partition(":")[0]
        found[f"cases {how}"] += 1
    return found


def main() -> None:
    names = sys.argv[1:] or [ALONE, PLAYED_WELL, *BAD_CURATORS]
    for name in names:
        script = Recordings(RECORDINGS) if name == PLAYED_WELL else BAD_CURATORS.get(name)
        with serving(script) if script else nullcontext() as server:
            found = _count(name, server.openai_url if server else "")
        told = ", ".join(f"{number} {what}" for what, number in sorted(found.items()))
        print(f"{name}: {told}", flush=True)


if __name__ == "__main__":
    main()
