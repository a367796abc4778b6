"""A night in Hermes' own cron: a job that runs a script and no agent, so it costs no turn of a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .program import hermes_home, reverie_home, settings

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


class BadSchedule(Exception):
    """A schedule that is no time of every day, week or month; says what was expected."""


def install(schedule: str | None = None) -> str:
    """Twice is once; another schedule changes it. The job of hermes-dreaming, which never did anything, goes."""
    from cron.jobs import create_job, remove_job, update_job

    dead, there = their_job(), job()
    when = schedule or str(settings().get("schedule") or "") or _schedule(there) or _schedule(dead) or USUAL
    _check(when)
    script = _write_script()
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


def _check(when: str) -> None:
    from cron.jobs import parse_schedule

    try:
        kind = parse_schedule(when)["kind"]
    except ValueError:
        kind = ""
    if kind != "cron":
        raise BadSchedule(
            f"The schedule is {when!r}. Expected a time as cron writes it, in digits, such as '{USUAL}'. "
            "Give another with --schedule, or mend `dreaming: {schedule: …}` in config.yaml. Nothing was changed."
        )


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


def _write_script() -> Path:
    """Beside, then in its place: cron may be about to run it."""
    home = hermes_home()
    variables = {"HERMES_HOME": str(home.path)} | ({"REVERIE_HOME": at} if (at := reverie_home()) else {})
    folder = home.path / "scripts"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SCRIPT
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(_SCRIPT.format(variables=variables), "utf-8")
    beside.replace(path)
    return path
