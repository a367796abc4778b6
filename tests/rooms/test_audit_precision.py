"""A false accusation costs more than a missed one: the labelled set, with the half that was not tuned on."""

from __future__ import annotations

import json
from collections import Counter

from benchmarks.audit import HERE, KINDS, judged

ROWS = [json.loads(line) for line in (HERE / "labelled" / "audit.jsonl").read_text("utf-8").splitlines()]


def test_accusations_are_right_nineteen_times_in_twenty_of_each_kind() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    missed: Counter[str] = Counter()
    for row in ROWS:
        if row["held_out"]:
            said = judged(row)
            counts.update((kind, kind == row["kind"]) for kind in said)
            missed.update({row["kind"]} - said)
    for kind in KINDS:
        right, wrong = counts[kind, True], counts[kind, False]
        assert wrong <= 0.05 * (right + wrong), kind
        assert right >= 0.6 * (right + missed[kind]), kind


def test_there_are_enough_labelled_entries_good_and_bad() -> None:
    labelled = Counter(row["kind"] for row in ROWS)
    assert labelled.total() >= 150 and labelled["good"] + labelled["apart"] >= 150
