"""Backing a home up and restoring it, beside SQLite's own `VACUUM INTO`, which copies one database and nothing else.

    python benchmarks/backup.py [TURNS]      default 100000

Ours packs, hashes, and reads all of it back before it counts as made. Prints ratios: the machines these run on are
noisy, so each is the best of three.
"""

from __future__ import annotations

import gzip
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.corpus import Corpus

ROUNDS = 3


def main() -> None:
    import reverie
    from reverie.storage.backup import back_up, read_whole_backup, restore

    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with reverie.open(folder / "home") as home:
            for session in Corpus().sessions(turns):
                home.sessions.add(session)
            engine, file, now = home.engine, folder / "b.tar.gz", datetime.now(UTC)
            peak = _peak()
            ours = _best(lambda: back_up(engine, folder / "home", file, at=now, force=True))
            grown = _peak() - peak
        database = folder / "home" / "reverie.db"
        checked = _best(lambda: read_whole_backup(file))
        put_back = _best(lambda: _restored(restore, file, folder / "new"))
        vacuumed = _best(lambda: _vacuumed(database, folder / "copy.db"))
        packed = vacuumed + _best(lambda: _packed(folder / "copy.db"))
        size, copy = file.stat().st_size, (folder / "copy.db").stat().st_size
        again = (folder / "copy.db.gz").stat().st_size
    print(f"{turns:,} turns: database {copy / 1e6:.1f} MB, backup {size / 1e6:.1f} MB ({size / copy:.2f} of it)")
    print(f"  backup  {ours:.2f} s, {ours / vacuumed:.1f} times VACUUM INTO ({vacuumed:.2f} s)")
    print(f"          {ours / packed:.1f} times VACUUM INTO and gzip -3 ({packed:.2f} s, {again / 1e6:.1f} MB)")
    print(f"  verify  {checked:.2f} s;  restore {put_back:.2f} s;  memory grew by {grown} MB while backing up")


def _restored(restore: Callable[..., object], file: Path, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    restore(file, home, f"sqlite:///{home / 'reverie.db'}")


def _vacuumed(database: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    opened = sqlite3.connect(database)
    opened.execute("vacuum into ?", (str(copy),))
    opened.close()


def _packed(copy: Path) -> None:
    with copy.open("rb") as file, gzip.open(f"{copy}.gz", "wb", 3) as packed:
        shutil.copyfileobj(file, packed, 2**20)


def _best(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
