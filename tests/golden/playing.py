"""Lives a night of tests/golden/nights: a Hermes home as it was, the sessions of some days, one dream over them.

`python -m tests.golden.playing` writes the diaries anew that test_nights.py compares byte for byte.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.dreams.dream import Dream
from reverie.home import Home, open_home
from reverie.kernel.ids import Ids
from reverie.memory.formats import FORMATS

HERE = Path(__file__).parent
NIGHTS = sorted((HERE / "nights").glob("*.json"))
DIARIES = HERE / "diaries"
DOCUMENTS = {"memory": ["MEMORY.md"], "user": ["USER.md"], "any": ["MEMORY.md", "USER.md"]}


@dataclass(frozen=True)
class Lived:
    """What stands on the shelf after the night, what waits for a person, and the dream itself."""

    after: Mapping[str, list[str]]
    waiting: list[tuple[str, str]]
    dream: Dream


def read(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return told


def owner_of(night: Mapping[str, Any]) -> str:
    """One person: the home is theirs. Several: it is nobody's in particular."""
    people = {session["user"] for session in night["sessions"]}
    return str(people.pop()) if len(people) == 1 else "nobody-here"


def live(night: Mapping[str, Any], root: Path, settings: Mapping[str, str] | None = None) -> Lived:
    """HERMES_HOME has to be `root / "hermes"`. `settings` are for the night itself."""
    hermes, dates = root / "hermes", night.get("entry_dates", {})
    for when in sorted(set(dates.values())) or [night["now"]]:
        known = [[text for text in night[name] if dates.get(text, "") <= when] for name in ("memory", "user")]
        _write(hermes, *known)
        with _opened(root, when, night) as home:
            list(home.memory.entries("hermes"))
    _write(hermes, night["memory"], night["user"])
    for skill in night.get("skills", []):
        folder = hermes / "skills" / skill["name"]
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill["body"])
    with _opened(root, night["now"], night, settings) as home:
        for session in night["sessions"]:
            home.sessions.add(session)
        dream = home.dreams.dream("hermes")
        waiting = [(str(one.kind), one.diff) for one in home.review.waiting()]
    return Lived(_texts(hermes), waiting, dream)


def _opened(root: Path, when: str, night: Mapping[str, Any], settings: Mapping[str, str] | None = None) -> Home:
    said = {"owner": owner_of(night), **(settings or {})}
    home = open_home(root / "reverie", now=datetime.fromisoformat(when), settings=said)
    home.ids = Ids(home.clock, lambda bits: 0)
    return home


def _write(hermes: Path, memory: Iterable[str], user: Iterable[str]) -> None:
    (hermes / "memories").mkdir(parents=True, exist_ok=True)
    (hermes / "memories" / "MEMORY.md").write_text("\n§\n".join(memory))
    (hermes / "memories" / "USER.md").write_text("\n§\n".join(user))


def _texts(hermes: Path) -> dict[str, list[str]]:
    read_entries = FORMATS["hermes"].read
    return {name: list(read_entries((hermes / "memories" / name).read_bytes()).entries) for name in DOCUMENTS["any"]}


def faults(night: Mapping[str, Any], lived: Lived) -> list[str]:
    """Where the night did not end as a careful curator expects."""
    expect = night["expect"]
    before = {"MEMORY.md": night["memory"], "USER.md": night["user"]}
    every = [text for texts in lived.after.values() for text in texts]
    wrong = [f"missing: {one['why']}" for one in expect["present"] if not _matches(one, _of(lived, one))]
    for one in expect["absent"]:
        diffs = [diff for _, diff in lived.waiting] if one.get("everywhere") else []
        wrong += [f"should not be there: {one['why']}"] * _matches(one, _of(lived, one) + diffs)
    wrong += [f"was changed: {text}" for text in expect["unchanged"] if text not in every]
    wrong += [f"not proposed: {one['why']}" for one in expect["proposed"] if not _matches(one, _proposed(lived, one))]
    changed = sum(len(set(before[name]) ^ set(lived.after[name])) for name in before)
    wrong += [f"not quiet: {changed} entries differ"] * bool(expect["quiet"] and changed)
    landed = sum(len(set(lived.after[name]) - set(before[name])) for name in before)
    return wrong + [f"too many changes: {landed}"] * (landed > expect["max_changes"])


def _of(lived: Lived, wanted: Mapping[str, Any]) -> list[str]:
    return [text for name in DOCUMENTS[wanted.get("doc", "any")] for text in lived.after[name]]


def _proposed(lived: Lived, wanted: Mapping[str, Any]) -> list[str]:
    kinds = {"operation": ["operation"], "skill": ["amendment"]}.get(wanted.get("kind", ""), ["operation", "amendment"])
    return [diff for kind, diff in lived.waiting if kind in kinds]


def _matches(wanted: Mapping[str, Any], texts: Iterable[str]) -> bool:
    return any(all(re.search(word, text, re.IGNORECASE) for word in wanted["all"]) for text in texts)


if __name__ == "__main__":
    for path in NIGHTS:
        if (DIARIES / f"{path.stem}.md").exists() or path.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["HERMES_HOME"] = str(Path(folder) / "hermes")
                (DIARIES / f"{path.stem}.md").write_text(live(read(path), Path(folder)).dream.diary)
