"""From hermes-dreaming 0.3.x: what it left is read, what it broke is proposed to be mended, its job is replaced. Its
own files stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .program import hermes_home, run_reverie

_LOCK = "memory_mutations.lock"
_OF_CONFIG = ("enabled", "schedule", "max_changes_per_run", "recent_sessions_limit")


def old_plugin_folder() -> Path | None:
    """The folder of its files, if it was ever used in this home: where it is, or where a night put it aside."""
    folder = hermes_home().dreaming
    for place in (folder, folder / "before-reverie"):
        if (place / _LOCK).exists() or "last_successful_run" in _state(place) or "recent_session_ids" in _state(place):
            return place
    return None


def migrate_old_plugin() -> str:
    from .cron_job import install, their_job

    folder = old_plugin_folder()
    if folder is None and their_job() is None:
        return "hermes-dreaming was not used in this Hermes home: there is nothing to do."
    lines = [*(_history(folder) if folder else ()), *_repairs()]
    lines.append(
        install() if their_job() else "It has no job in Hermes' cron. `hermes dreaming install-cron` sets one."
    )
    lines.append("Its files were left where they are. Now `hermes plugins disable hermes-dreaming`, if it is enabled.")
    return "\n".join(lines)


def _history(folder: Path) -> Iterator[str]:
    state = _state(folder)
    runs = len(list((folder / "runs").glob("*.json"))) if (folder / "runs").is_dir() else 0
    wrote = sum(1 for line in _text(folder / "promotions.jsonl").splitlines() if line.strip())
    last = state.get("last_successful_run") or state.get("last_run") or "never"
    yield f"hermes-dreaming: {runs} runs, the last {last}; {wrote} changes written down in promotions.jsonl."
    settings = _config(folder / "config.yaml")
    if settings:
        block = ", ".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
        yield f"Its settings, for Hermes' config.yaml: `dreaming: {{{block}}}`."


def _repairs() -> Iterator[str]:
    """Only what it broke: whatever else could be better about this memory is for `reverie audit`."""
    done = run_reverie(
        ["audit", "--fix", "--kind", "damaged", "--target", hermes_home().target, "--json"], captured=True
    )
    if done.returncode:
        yield f"Its damage could not be looked for: {done.stderr.strip() or done.stdout.strip()}"
        return
    told = json.loads(done.stdout)
    for finding in told["findings"]:
        if finding["operations"]:
            yield f"{finding['document']}: {finding['why']}"
    yield from told["proposed"]


def _config(path: Path) -> dict[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(_text(path))
    except yaml.YAMLError:
        return {}
    block = read.get("dreaming", read) if isinstance(read, dict) else {}
    return {key: block[key] for key in _OF_CONFIG if isinstance(block, dict) and key in block}


def _state(folder: Path) -> dict[str, Any]:
    try:
        state = json.loads(_text(folder / "state.json"))
    except ValueError:
        return {}
    return state if isinstance(state, dict) and state.get("made_by") != "reverie" else {}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
