"""A night in Hermes' own cron: a job that runs a script and no agent, so it costs no turn of a model. And the way from
hermes-dreaming 0.3.x: what it left is read, what it broke is proposed to be mended, its job is replaced. Its own files
stay as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .program import hermes_home, reverie_home, run_reverie, settings

NAME = "reverie-night"
SCRIPT = "reverie_night.py"
USUAL = "0 3 * * *"
THEIRS, THEIR_PROMPT = "hermes-dreaming", "/dreaming run"
_SCRIPT = '''\
"""One night over this Hermes home. Written by `hermes dreaming install-cron`; Hermes' cron runs it."""

import os
import subprocess
import sys

environment = {{**os.environ, **{variables!r}}}
night = [sys.executable, "-P", "-m", "hermes_cli.main", "dreaming", "run", "--nightly"]
sys.exit(subprocess.run(night, env=environment, stdin=subprocess.DEVNULL, check=False).returncode)
'''
_LOCK = "memory_mutations.lock"
_OF_CONFIG = ("enabled", "schedule", "max_changes_per_run", "recent_sessions_limit")


class BadSchedule(Exception):
    """A schedule that is no time of every day, week or month; says what was expected."""


def install(schedule: str | None = None) -> str:
    """Twice is once; another schedule changes it. The job of hermes-dreaming, which never did anything, goes."""
    from cron.jobs import create_job, parse_schedule, remove_job, update_job

    dead, there = their_job(), job()
    when = schedule or str(settings().get("schedule") or "") or _schedule(there) or _schedule(dead) or USUAL
    try:
        kind = parse_schedule(when)["kind"]
    except ValueError:
        kind = ""
    if kind != "cron":
        raise BadSchedule(
            f"The schedule is {when!r}. Expected a time as cron writes it, in digits, such as '{USUAL}'. "
            "Give another with --schedule, or mend `dreaming: {schedule: …}` in config.yaml. Nothing was changed."
        )
    # The script is written beside, then put in its place: cron may be about to run it.
    home = hermes_home()
    variables = {"HERMES_HOME": str(home.path)} | ({"REVERIE_HOME": at} if (at := reverie_home()) else {})
    folder = home.path / "scripts"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    script = folder / SCRIPT
    beside = script.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(_SCRIPT.format(variables=variables), "utf-8")
    beside.replace(script)
    if there is None:
        made = create_job("", when, name=NAME, script=SCRIPT, no_agent=True, deliver="local")
    else:
        made = update_job(there["id"], {"schedule": when, "enabled": True, "state": "scheduled"})
    lines = [
        f"A night over {hermes_home().target} in Hermes' cron: {made.get('schedule_display', when)}, next "
        f"{made.get('next_run_at')} (job {made['id']}, script {script}).",
        "It runs while Hermes' gateway runs, or by `hermes cron tick`. A quiet night says nothing.",
    ]
    if dead is not None:
        remove_job(dead["id"])
        lines.append(
            f"Removed the job of hermes-dreaming ({dead['id']}): it sent the words {THEIR_PROMPT!r} to a model."
        )
    return "\n".join(lines)


def job() -> dict[str, Any] | None:
    return next((one for one in _jobs() if one.get("name") == NAME), None)


def their_job() -> dict[str, Any] | None:
    """The job hermes-dreaming 0.3.x put into cron: a prompt that no slash command ever sees."""
    return next(
        (one for one in _jobs() if one.get("name") == THEIRS and str(one.get("prompt")).strip() == THEIR_PROMPT), None
    )


def _jobs() -> list[dict[str, Any]]:
    from cron.jobs import list_jobs

    return list(list_jobs(include_disabled=True))


def _schedule(found: dict[str, Any] | None) -> str:
    return str((found or {}).get("schedule", {}).get("expr") or "")


# ---- from hermes-dreaming 0.3.x --------------------------------------------------------------------------------------


def old_plugin_folder() -> Path | None:
    """The folder of its files, if it was ever used in this home: where it is, or where a night put it aside."""
    folder = hermes_home().dreaming
    for place in (folder, folder / "before-reverie"):
        if (place / _LOCK).exists() or "last_successful_run" in _state(place) or "recent_session_ids" in _state(place):
            return place
    return None


def migrate_old_plugin() -> str:
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
