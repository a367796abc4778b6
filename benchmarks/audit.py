"""How often an accusation of `reverie audit` is right, and how much it finds, kind by kind.

    python benchmarks/audit.py                 the entries and pairs of labelled/audit.jsonl
    python benchmarks/audit.py --mistakes      and what was got wrong in the half that was tuned on

No mistake in the half marked `held_out` was looked at while the rules were written. Entries are judged one at a time
on a made-up machine on 2026-05-12; pairs as the only two entries of one document.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.audit.inventory import AuditedDocument, Inventory, Spot
from reverie.audit.library import examined

HERE = Path(__file__).parent
NOW = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)
KINDS = ("junk", "stale", "secret", "unsafe", "sensitive", "verbose", "duplicated", "contradictory", "superseded")
THERE = frozenset(
    "/ /home /home/dana /home/dana/code /home/dana/code/shop /home/dana/code/infra /home/dana/notes"
    " /home/dana/.config /home/dana/bin /opt /opt/shop /opt/shop/bin /opt/shop/bin/deploy /tmp /var /etc /srv".split()
)


class MadeUp:
    """A machine with few files."""

    home = Path("/home/dana")

    def exists(self, path: Path) -> bool:
        return str(path) in THERE

    def read(self, path: Path) -> str | None:
        return None

    def has_program(self, name: str) -> bool:
        return True

    def below(self, folder: Path) -> Iterator[str]:
        return iter(())


def judged(row: dict[str, Any]) -> set[str]:
    """What the audit says of a row."""
    spot = Spot("hermes", "hermes", "MEMORY.md")
    text = "\n§\n".join(part for part in (row["text"], row.get("other")) if part)
    document = AuditedDocument(spot, "hermes", 20_000, text, "hermes")
    findings = examined(Inventory((document,)), MadeUp(), NOW)
    return {str(one.kind) for one in findings}


def main() -> None:
    rows = [json.loads(line) for line in (HERE / "labelled" / "audit.jsonl").read_text("utf-8").splitlines()]
    started = time.perf_counter()
    told = [(row, judged(row)) for row in rows]
    seconds = time.perf_counter() - started
    if "--mistakes" in sys.argv:
        for row, said in told:
            if not row["held_out"] and said != {row["kind"]} - {"good", "apart"}:
                taken = ", ".join(sorted(said)) or "good"
                print(f"{row['kind']:>14} taken for {taken}: {row['text']!r} {row.get('other', '')!r}")
    for held_out in (False, True):
        print("held out" if held_out else "tuned on")
        half = [(row, said) for row, said in told if row["held_out"] is held_out]
        for kind in KINDS:
            counts = Counter((row["kind"] == kind, kind in said) for row, said in half)
            right, wrong, missed = counts[True, True], counts[False, True], counts[True, False]
            precision = f"{right / (right + wrong):.2f}" if right + wrong else "  – "
            recall = f"{right / (right + missed):.2f}" if right + missed else "  – "
            print(
                f"  {kind:<14} precision {precision}  recall {recall}   {right} right, {wrong} wrong, {missed} missed"
            )
        clean = [said for row, said in half if row["kind"] in ("good", "apart")]
        print(f"  {sum(bool(said) for said in clean)} of {len(clean)} good entries and pairs accused of anything")
    print(f"{len(rows)} rows in {seconds:.1f} s")


if __name__ == "__main__":
    main()
