"""What only Hermes knows: sessions that ended since the last night, and whether its cron has the night."""

from __future__ import annotations

from .cron_job import job
from .finished import waiting
from .migrate import old_plugin_folder
from .program import launch


def hermes_status() -> str:
    ended = len(waiting())
    lines = [f"{ended} session{'' if ended == 1 else 's'} ended since the last night."]
    ours = job()
    if ours is None and launch().get("nights"):
        lines.append(
            "The end of a session begins a night that is due; `hermes dreaming install-cron` keeps to the time."
        )
    elif ours is None:
        lines.append("No night in Hermes' cron: `hermes dreaming install-cron` sets one.")
    else:
        state = "" if ours.get("enabled", True) else ", paused"
        lines.append(f"Hermes' cron: {ours.get('schedule_display')}{state}, next {ours.get('next_run_at')}.")
        if ours.get("last_status"):
            lines.append(f"The last by cron: {ours.get('last_run_at')} {ours['last_status']}.")
    if old_plugin_folder():
        lines.append("hermes-dreaming was used here: `hermes dreaming migrate` takes over from it.")
    return "\n".join(lines)
