"""Does a score mean what it says? Of what scores 0.9, nine in ten should be right, on cases nobody fitted on.

    python benchmarks/calibration.py [CASES …] [--recordings FOLDER] [--fit] [--most N]

CASES are folders of nights (`*.json`) and files of short cases (`*.jsonl`), tests/golden's own if none is named. Each
is lived once with the built-in curator and, where it has a recorded answer, once with the model that was played. Every
decision with a score is one point: what it would do is right or wrong by what the case expects; what a case says
nothing about is not counted. `--fit` fits a slope and a shift of the score's odds on one half of the cases (by the hash
of their names) and tells what they do to the other half.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from reverie.dreams.dream import Judged
from reverie.testing.model_recordings import Recordings
from reverie.testing.model_server import serving
from tests.golden import playing

BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.88, 0.95, 1.01)
BY_SCORE = {"low_score", "limit", "most_proposals"}
Case = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    case: str
    score: float
    right: bool
    passed: bool  # every check but those of the score and of the night's limits

    @property
    def odds(self) -> float:
        return math.log(min(max(self.score, 1e-4), 1 - 1e-4) / (1 - min(max(self.score, 1e-4), 1 - 1e-4)))


def given(paths: Sequence[Path]) -> Iterator[tuple[str, Case, Case]]:
    """Each case by its name, as a night to be lived and as what tells right from wrong."""
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            if file.suffix == ".json":
                night = playing.read(file)
                yield file.stem, night, night["expect"]
                continue
            for line in file.read_text("utf-8").splitlines():
                case = json.loads(line)
                yield case["id"], playing.as_night(case), case


def verdict(one: Judged, expected: Case) -> bool | None:
    """Whether what was decided would be right; None where the case does not say."""
    gone = [text for text in one.old.split("; ") if text]
    if "good" in expected:
        fits = not one.text or any(re.search(each, one.text, re.IGNORECASE | re.DOTALL) for each in expected["good"])
        return fits and all(text in expected["may_go"] for text in gone)
    if expected["quiet"] or any(text in expected["unchanged"] for text in gone):
        return False
    if one.text and any(_holds(each, one.text) for each in expected["absent"]):
        return False
    wanted = [*expected["present"], *expected["proposed"]]
    if one.text:
        return True if any(_holds(each, one.text) for each in wanted) else None
    return True if any(_holds(each, text) for text in gone for each in expected["absent"]) else None


def _holds(wanted: Case, text: str) -> bool:
    return all(re.search(word, text, re.IGNORECASE) for word in wanted["all"])


def points(name: str, night: Case, expected: Case, url: str = "") -> Iterator[Point]:
    with tempfile.TemporaryDirectory() as root:
        os.environ["HERMES_HOME"] = str(Path(root) / "hermes")
        settings = {"model": "openai:played", "model_url": url} if url else None
        lived = playing.live(night, Path(root), settings)
    for one in lived.dream.judged:
        if one.score is not None and not one.verb.startswith("skill"):
            right = verdict(one, expected)
            if right is not None:
                yield Point(name, one.score.total, right, not set(one.reasons) - BY_SCORE)


def table(title: str, found: Sequence[Point]) -> None:
    print(f"\n{title}: {len(found)} decisions of {len({one.case for one in found})} cases")
    print("| score | decisions | mean score | right | pass every check | of these right |\n|---|---|---|---|---|---|")
    for low, high in itertools.pairwise(BINS):
        inside = [one for one in found if low <= one.score < high]
        if inside:
            mean, right = sum(one.score for one in inside) / len(inside), sum(one.right for one in inside)
            passed = [one.right for one in inside if one.passed]
            share = f"{sum(passed) / len(passed):.2f}" if passed else "–"
            row = f"{len(inside)} | {mean:.2f} | {right / len(inside):.2f} | {len(passed)} | {share}"
            print(f"| {low:.2f}–{min(high, 1):.2f} | {row} |")
    if found:
        print(f"Brier score: {sum((one.score - one.right) ** 2 for one in found) / len(found):.3f}", flush=True)


def fitted(found: Sequence[Point]) -> tuple[float, float]:
    """Slope and shift of the odds, by gradient descent towards 1 and 0 where the cases say little."""
    slope, shift = 1.0, 0.0
    for _ in range(4_000):
        pull = [(1 / (1 + math.exp(-(slope * one.odds + shift))) - one.right, one.odds) for one in found]
        slope -= 0.02 * (sum(error * odds for error, odds in pull) / len(found) + 0.01 * (slope - 1))
        shift -= 0.02 * (sum(error for error, _ in pull) / len(found) + 0.01 * shift)
    return slope, shift


def shifted(found: Sequence[Point], slope: float, shift: float) -> list[Point]:
    return [replace(one, score=1 / (1 + math.exp(-(slope * one.odds + shift)))) for one in found]


def is_fitted_on(case: str) -> bool:
    return hashlib.sha256(case.encode()).digest()[0] % 2 == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", type=Path, default=[playing.LANDINGS, playing.HERE / "played"])
    parser.add_argument("--recordings", type=Path, default=playing.RECORDINGS, help="answers that were played")
    parser.add_argument("--fit", action="store_true", help="fit on one half of the cases, tell of the other")
    parser.add_argument("--most", type=int, default=10**6, help="at most so many cases")
    asked = parser.parse_args()
    built_in, played = list[Point](), list[Point]()
    with serving(recordings := Recordings(asked.recordings)) as server:
        for number, (name, night, expected) in enumerate(given(asked.cases)):
            if number >= asked.most:
                break
            built_in += points(name, night, expected)
            missing = len(recordings.missing)
            answered = list(points(name, night, expected, server.openai_url))
            played += answered if len(recordings.missing) == missing else []
            print(f"{number + 1} {name}", file=sys.stderr, flush=True)
    for title, found in (("The built-in curator", built_in), ("A model that was played", played)):
        table(title, found)
        if asked.fit and found:
            slope, shift = fitted([one for one in found if is_fitted_on(one.case)])
            others = [one for one in found if not is_fitted_on(one.case)]
            print(f"\nFitted on the other half: odds times {slope:.2f} plus {shift:.2f}.")
            table(f"{title}, not fitted on, as it is", others)
            table(f"{title}, not fitted on, with that", shifted(others, slope, shift))


if __name__ == "__main__":
    main()
