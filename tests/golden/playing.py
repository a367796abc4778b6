"""Lives a night of tests/golden: a Hermes home as it was, the sessions of some days, one dream over them.

`nights/` are lived without a model; `played/` also with one that somebody played, whose answers are in `recordings/`;
`landings.jsonl` holds short cases of the same kind. `python -m tests.golden.playing` writes the diaries anew that
test_nights.py compares byte for byte. `python -m tests.golden.playing record FOLDER` lives everything played against a
queue in FOLDER: what has no answer yet is written there as a request (docs/models.md says how recordings are made).
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.app import Home, open_home
from reverie.core.ids import Ids
from reverie.dreams.dream import Dream
from reverie.memory.formats import FORMATS

HERE = Path(__file__).parent
NIGHTS = sorted((HERE / "nights").glob("*.json"))
DIARIES = HERE / "diaries"
PLAYED = sorted((HERE / "played").glob("*.json"))
RECORDINGS = HERE / "recordings"
LANDINGS = HERE / "landings.jsonl"
DOCUMENTS = {"memory": ["MEMORY.md"], "user": ["USER.md"], "any": ["MEMORY.md", "USER.md"]}


@dataclass(frozen=True)
class Lived:
    """What stands in the target after the night, what waits for a person, and the dream itself."""

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
        _write(hermes, when, *known)
        with opened(root, when, night) as home:
            list(home.memory.entries("hermes"))
    _write(hermes, night["now"], night["memory"], night["user"])
    for skill in night.get("skills", []):
        folder = hermes / "skills" / skill["name"]
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill["body"])
    with opened(root, night["now"], night, settings) as home:
        for session in night["sessions"]:
            home.sessions.add(session)
        (dream,) = home.dream("hermes").dreams
        waiting = [(str(one.kind), one.diff) for one in home.review.waiting()]
    return Lived(_texts(hermes), waiting, dream)


def opened(root: Path, when: str, night: Mapping[str, Any], settings: Mapping[str, str] | None = None) -> Home:
    said = {"owner": owner_of(night), **(settings or {})}
    home = open_home(root / "reverie", now=datetime.fromisoformat(when), settings=said)
    home.ids = Ids(home.clock, lambda bits: 0)
    return home


def _write(hermes: Path, when: str, memory: Iterable[str], user: Iterable[str]) -> None:
    """As if it were written at that time: how old a file is tells how old its entries are."""
    (hermes / "memories").mkdir(parents=True, exist_ok=True)
    at = datetime.fromisoformat(when).timestamp()
    for name, entries in (("MEMORY.md", memory), ("USER.md", user)):
        (hermes / "memories" / name).write_text("\n§\n".join(entries))
        os.utime(hermes / "memories" / name, (at, at))


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


def harms(night: Mapping[str, Any], lived: Lived) -> list[str]:
    """What the night did by itself that a careful curator would not have done. That it did too little is no harm."""
    expect, before = night["expect"], {"MEMORY.md": night["memory"], "USER.md": night["user"]}
    came = {name: [text for text in lived.after[name] if text not in before[name]] for name in before}
    left = [text for name in before for text in before[name] if text not in lived.after[name]]
    every = [text for texts in came.values() for text in texts]
    wrong = [f"was changed: {text}" for text in left if text in expect["unchanged"]]
    for one in expect["absent"]:
        texts = [text for name in DOCUMENTS[one.get("doc", "any")] for text in came[name]]
        diffs = [diff for _, diff in lived.waiting] if one.get("everywhere") else []
        wrong += [f"should not be there: {one['why']} {texts}"] * _matches(one, texts + diffs)
    wrong += [f"not quiet: {every} {left}"] * bool(expect["quiet"] and (every or left))
    return wrong + [f"too many changes: {every}"] * (len(every) > expect["max_changes"])


# ---- short cases -----------------------------------------------------------------------------------------------------


def as_night(case: Mapping[str, Any]) -> dict[str, Any]:
    """A short case as a night: one session a day, the entries a month old."""
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    days = len(case["sessions"])
    sessions = [
        {
            "id": f"{case['id']}-{day}",
            "user": "sam",
            "started_at": (start + timedelta(days=day)).isoformat(),
            "messages": [{"role": role, "content": text} for role, text in turns],
        }
        for day, turns in enumerate(case["sessions"])
    ]
    known = [*case["memory"], *case["user"]]
    return {
        "memory": case["memory"],
        "user": case["user"],
        "sessions": sessions,
        "skills": [],
        "now": (start + timedelta(days=days)).isoformat(),
        "entry_dates": {text: (start - timedelta(days=30)).isoformat() for text in known},
    }


def landed(case: Mapping[str, Any], lived: Lived) -> str:
    """How a short case ended: right, asked, silent, or wrong with what is wrong."""
    before, after = [*case["memory"], *case["user"]], [text for texts in lived.after.values() for text in texts]
    good = [re.compile(one, re.IGNORECASE | re.DOTALL) for one in case["good"]]
    came, left = [one for one in after if one not in before], [one for one in before if one not in after]
    bad = [one for one in came if not any(each.search(one) for each in good)]
    bad += [f"- {one}" for one in left if one not in case["may_go"]]
    if bad:
        return f"wrong: {bad}"
    if came or left:
        return "right"
    added = "\n".join(line[1:] for _, diff in lived.waiting for line in diff.splitlines() if line.startswith("+"))
    lines = [added, *added.splitlines()]
    return "asked" if any(each.search(line) for each in good for line in lines) else "silent"


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LANDINGS.read_text("utf-8").splitlines()]


def everything_played() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((path.stem, read(path)) for path in PLAYED)
    yield from ((case["id"], as_night(case)) for case in cases())


def record(folder: Path) -> None:
    from reverie.testing.model_recordings import Queue
    from reverie.testing.model_server import serving

    with serving(queue := Queue(folder, wait=0)) as server:
        for _, night in everything_played():
            with tempfile.TemporaryDirectory() as root:
                os.environ["HERMES_HOME"] = str(Path(root) / "hermes")
                live(night, Path(root), {"model": "openai:played", "model_url": server.openai_url})
        sys.stdout.write(f"{len(queue.pending)} requests in {folder} have no answer yet.\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record(Path(sys.argv[2]))
        raise SystemExit
    for path in NIGHTS:
        if (DIARIES / f"{path.stem}.md").exists() or path.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["HERMES_HOME"] = str(Path(folder) / "hermes")
                (DIARIES / f"{path.stem}.md").write_text(live(read(path), Path(folder)).dream.diary)
