"""Two weeks of one person, night by night: what does the agent know at the end, and what is a person asked?

    python -m benchmarks.fortnights [NAME ...]

Lives the fortnights of labelled/fortnights, which three authors wrote who had not seen the code: sessions, entries and
a skill that stood before, `statements` a careful person would keep (patterns of every right wording) and `traps`. Every
night at three there is one dream on the Hermes home; without a model, unless the settings name one. Of each statement:
known (an entry or a skill says it, and what it overtakes is gone), asked (a proposal says it), or missed. Beside it:
traps fallen into, entries that landed and say none of it (junk), entries lost, proposals that offer none of it
(useless). backend-team, ecole-de-musique and vet-front-desk were in view while something was mended; all nine were read
after they had been measured once.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import reverie

FOLDER = Path(__file__).parent / "labelled" / "fortnights"
NAMES = ("MEMORY.md", "USER.md")
BETWEEN = "\n§\n"


def live(case: dict[str, Any], root: Path) -> tuple[list[str], list[str], list[str]]:
    """The entries, the skills and what waits for a person after the last night."""
    hermes = root / "hermes"
    os.environ["HERMES_HOME"], os.environ["REVERIE_OWNER"] = str(hermes), case["owner"]
    (hermes / "memories").mkdir(parents=True)
    for name, known in zip(NAMES, (case["memory"], case["user"]), strict=True):
        (hermes / "memories" / name).write_text(BETWEEN.join(known))
    for skill in case.get("skills", []):
        (hermes / "skills" / skill["name"]).mkdir(parents=True)
        (hermes / "skills" / skill["name"] / "SKILL.md").write_text(skill["body"])
    start, waiting = datetime.fromisoformat(case["start"]).replace(tzinfo=UTC), list[str]()
    with reverie.open(root / "reverie", now=start - timedelta(days=20)) as home:
        list(home.memory.entries("hermes"))
    for day in range(max(one["day"] for one in case["sessions"]) + 1):
        with reverie.open(root / "reverie", now=start + timedelta(days=day + 1, hours=3)) as home:
            for one in (one for one in case["sessions"] if one["day"] == day):
                hour, minute = map(int, one["time"].split(":"))
                began = start + timedelta(days=day, hours=hour, minutes=minute)
                told = {name: one[name] for name in ("id", "messages", "project") if one.get(name)}
                home.sessions.add({**told, "user": case["owner"], "started_at": began.isoformat()})
            home.dream(target="hermes")
            waiting = [str(one.diff) for one in home.review.waiting()]
    memory = [one for name in NAMES for one in (hermes / "memories" / name).read_text().split(BETWEEN) if one.strip()]
    return memory, [path.read_text() for path in root.glob("*/skills/**/*.md")], waiting


def judged(case: dict[str, Any], memory: list[str], skills: list[str], waiting: list[str]) -> Counter[str]:
    before = [*case["memory"], *case["user"]]
    came = [one for one in memory if one not in before]
    changed = [one for one in skills if one not in [skill["body"] for skill in case.get("skills", [])]]
    offered = [[line[1:] for line in diff.splitlines() if re.match(r"\+(?!\+\+)", line)] for diff in waiting]
    found, said, useful, gone = Counter[str](statements=len(case["statements"])), set[str](), set[int](), set[str]()
    for one in case["statements"]:
        fitting = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in one["good"]]
        fits = [text for text in (*memory, *changed) if _any(fitting, [text])]
        offers = {number for number, lines in enumerate(offered) if _any(fitting, ["\n".join(lines), *lines])}
        stale = set(one.get("gone", [])) & set(memory)
        found["known" if fits and not stale else "asked" if offers else "missed"] += 1
        said, useful, gone = said | set(fits), useful | offers, gone | set(one.get("gone", []))
    found["traps"] = sum(
        _any([re.compile(one["bad"], re.IGNORECASE | re.DOTALL)], came + changed) for one in case["traps"]
    )
    found["junk"] = sum(one not in said for one in came)
    found["lost"] = sum(one not in memory and one not in gone for one in before)
    found["useless"] = len(offered) - len(useful)
    return found


def _any(patterns: Iterable[re.Pattern[str]], texts: Iterable[str]) -> bool:
    texts = list(texts)
    return any(pattern.search(text) for pattern in patterns for text in texts)


def main() -> None:
    every = Counter[str]()
    for path in sorted(FOLDER.glob("*.json")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        case = json.loads(path.read_text("utf-8"))
        with tempfile.TemporaryDirectory() as root:
            found = judged(case, *live(case, Path(root)))
        every += found
        print(f"{path.stem}: " + ", ".join(f"{number} {what}" for what, number in found.items()), flush=True)
    share = (every["known"] + every["asked"]) / max(1, every["statements"])
    print(f"known or asked: {share:.3f} of {every['statements']}; {every['useless']} useless proposals in all")


if __name__ == "__main__":
    main()
