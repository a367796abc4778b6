"""What the git history of a skills folder costs: for one landing, and to make all of it anew.

python benchmarks/git_projection.py [CHANGES …]      default 100 1000 10000 changes to 20 files of 2 KB
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reverie.app import Home, open_home
from reverie.changes.ledger import Change, Edit, Grounds
from reverie.system.git_projection import GitProjection
from reverie.system.skill_folders import SkillFolder

LANDINGS = 40
NOW = datetime(2026, 5, 12, tzinfo=UTC)


class Skills(SkillFolder):
    def __init__(self, root: Path) -> None:
        super().__init__(root, "skills")
        self.place = root


@dataclass
class Bench:
    home: Home
    skills: Skills
    number: int = 0

    def land(self) -> None:
        self.number += 1
        name = f"skill-{self.number % 20}/SKILL.md"
        path = self.skills.root / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes() if path.exists() else None
        after = "".join(f"Step {line}: see note {self.number * line}.\n" for line in range(80)).encode()
        path.write_bytes(after)
        grounds = Grounds("ann", reason=f"note {self.number} of many that were made on the way")
        change = Change(self.home.ids.new("chg"), self.skills.key, name, (Edit(name, before, after),), grounds, NOW)
        self.home.history_records.settle(self.home.owned, change, {})

    def projection(self) -> GitProjection:
        return GitProjection(self.home.config.home, self.home.history_records, self.home.owned, lambda: [self.skills])


def busy() -> float:
    """Seconds of processor time of this process and of every git it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    for changes in [int(word) for word in sys.argv[1:]] or [100, 1_000, 10_000]:
        with (
            tempfile.TemporaryDirectory() as folder,
            open_home(Path(folder) / "home", settings={"owner": "ann"}) as home,
        ):
            (Path(folder) / "skills").mkdir()
            measure(Bench(home, Skills(Path(folder) / "skills")), changes)


def measure(bench: Bench, changes: int) -> None:
    for _ in range(changes):
        bench.land()
    projection = bench.projection()
    start = time.perf_counter()
    assert projection.catch_up() is None
    first = time.perf_counter() - start
    took, used = [], busy()
    for _ in range(LANDINGS):
        bench.land()
        start = time.perf_counter()
        assert projection.catch_up() is None
        took.append(time.perf_counter() - start)
    used = busy() - used
    start = time.perf_counter()
    anew = projection.rebuild().commits
    rebuilt = time.perf_counter() - start
    start = time.perf_counter()
    assert projection.verify() == []
    verified = time.perf_counter() - start
    size = sum(path.stat().st_size for path in (bench.skills.root / ".git").rglob("*") if path.is_file())
    middle, slow = statistics.median(took) * 1000, sorted(took)[int(LANDINGS * 0.95)] * 1000
    print(
        f"{changes:>6,} changes: all at once {first:.2f} s; then one landing {middle:.1f} ms "
        f"(95th percentile {slow:.1f}, processor {used / LANDINGS * 1000:.0f} ms with the landing itself); "
        f"made anew {rebuilt:.2f} s, {anew / rebuilt:,.0f} commits/s; verified {verified:.2f} s; {size / 1e6:.1f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
