"""Hermes' own queue: where `memory.write_approval` is on, what its memory tool would write is staged as a file each in
`<Hermes home>/pending/memory/`. (Seen in 0.19.0.)"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.memory.target import StagedStep, StagedWrite

_DOCUMENTS = {"memory": "MEMORY.md", "user": "USER.md"}
_NAME = re.compile(r"[0-9a-f]{8}")


def staged_in(home: Path) -> Iterator[StagedWrite]:
    """Oldest first, behind those that cannot be read."""
    found = list[tuple[float, StagedWrite]]()
    for path in _folder(home).glob("*.json"):
        try:
            told = json.loads(path.read_bytes())
            payload: Mapping[str, Any] = told["payload"]
            steps = payload["operations"] if payload["action"] == "batch" else [payload]
            write = StagedWrite(path.stem, _DOCUMENTS[payload["target"]], tuple(map(_step, steps)))
            found.append((float(told.get("created_at") or 0), write))
        except FileNotFoundError:
            continue  # decided meanwhile
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"{path} is not a write as Hermes stages it ({type(error).__name__}: {error})"
            found.append((0, StagedWrite(path.stem, "", (), why)))
    return (write for _, write in sorted(found, key=lambda one: (one[0], one[1].id)))


def discard_staged(home: Path, name: str) -> None:
    if _NAME.fullmatch(name):
        (_folder(home) / f"{name}.json").unlink(missing_ok=True)


def _folder(home: Path) -> Path:
    return home / "pending/memory"


def _step(told: Mapping[str, Any]) -> StagedStep:
    action = told["action"]
    if action not in ("add", "replace", "remove"):
        raise ValueError(action)
    old = "" if action == "add" else str(told["old_text"])
    text = "" if action == "remove" else str(told["content"])
    if not (old or text) or (action != "add" and not old):
        raise ValueError("nothing to do")
    return StagedStep(old, text.strip())
