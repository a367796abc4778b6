"""Every fault of the table in docs/faults.md, in full: what was lost, torn, or needed a person?

    python benchmarks/faults.py [--every-line] [--processes N] [TEST FILE…]

Runs the tests of `tests/faults` and of landing in `tests/crash` with all their points, which CI runs in a bounded
form, and prints the table. Half an hour on two idle cores. With --every-line a process is killed at each line of every
change and recovery, not at up to 400 of each: hours. Ends with an error if anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
CRASHES = ("test_a_killed_landing", "test_a_power_cut")
FAULTS = ("test_clocks", "test_damage", "test_disks", "test_odd_input", "test_verdicts", "test_writers")
TESTS = [*(f"tests/crash/{name}.py" for name in CRASHES), *(f"tests/faults/{name}.py" for name in FAULTS)]
COUNTED = {  # tests of other rooms that are points of a fault, too: each case is one
    "test_a_migration_killed_half_way_leaves_the_old_schema_intact": ("F31", "a migration killed half way"),
    "test_an_older_reverie_refuses_a_newer_schema_and_changes_nothing": ("F31", "an old Reverie on a newer schema"),
}
ELSEWHERE = "tests/story/test_migrations.py"
Row = tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every-line", action="store_true", help="kill at every line")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("tests", nargs="*", default=[*TESTS, ELSEWHERE], help="test files; all, if none is named")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            str(asked.processes),
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",
            *asked.tests,
        ]
        level = "every" if asked.every_line else "full"
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "REVERIE_FAULTS": level}, check=False, stdout=2)
        cases = list(ElementTree.parse(report).iter("testcase"))
    print(table(counted(cases)))
    for case in cases:
        for skipped in case.iter("skipped"):
            print(f"\nNot done: {case.get('name')}: {skipped.get('message')}")
    sys.exit(done.returncode)


def counted(cases: list[ElementTree.Element]) -> dict[Row, dict[str, int]]:
    rows: dict[Row, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for case in cases:
        for one in case.iter("property"):
            told = json.loads(one.get("value") or "{}")
            for name in ("points", "lost", "torn", "manual", "other"):
                rows[told["fault"], told["done"]][name] += told[name]
        row = COUNTED.get((case.get("name") or "").partition("[")[0])
        if row is not None:
            rows[row]["points"] += 1
            rows[row]["lost"] += len(case.findall("failure")) + len(case.findall("error"))
    return dict(sorted(rows.items(), key=lambda item: (int(item[0][0][1:]), item[0][1])))


def table(rows: dict[Row, dict[str, int]]) -> str:
    lines = ["| fault | what was done | points | lost | torn | needed manual work |", "|---|---|---|---|---|---|"]
    for (fault, what), told in rows.items():
        other = f", {told['other']} otherwise wrong" if told["other"] else ""
        counts = f"{told['points']:,} | {told['lost']} | {told['torn']} | {told['manual']}{other}"
        lines.append(f"| {fault} | {what} | {counts} |")
    points = sum(told["points"] for told in rows.values())
    return "\n".join([*lines, "", f"{points:,} points."])


if __name__ == "__main__":
    main()
