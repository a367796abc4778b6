"""What the plugin wrote down about skills that Hermes used: `<Hermes home>/dreaming/outcomes.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from reverie.memory.target import Target
from reverie.skills.match_skills import Outcomes

_KINDS = {
    "succeeded": Outcomes(succeeded=1),
    "failed": Outcomes(failed=1),
    "ignored": Outcomes(ignored=1),
}


def skill_outcomes(targets: Iterable[Target]) -> Mapping[str, Outcomes]:
    """By the name of the skill, over every Hermes home. Lines that cannot be read count for nothing."""
    found = dict[str, Outcomes]()
    for target in targets:
        folder: Path | None = getattr(target, "dreaming", None)
        for line in _lines(folder / "outcomes.jsonl") if folder else ():
            try:
                told = json.loads(line)
                name = str(told["skill"]).rpartition("/")[2]
                found[name] = found.get(name, Outcomes()) + _KINDS[told["outcome"]]
            except (ValueError, KeyError, TypeError):
                continue  # cut by a crash
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
