"""`reverie install`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.harnesses.installers import Installing
    from reverie.system.installation import FileChange


@click.command(name="install")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@click.option(
    "--nights/--no-nights",
    default=True,
    help="Whether a session that ends begins a night that is due, in the background.",
)
@click.option("--check/--no-check", default=True, help="Whether to prove the loop on a made-up session afterwards.")
@common
def command(*, agent: str, dry_run: bool, nights: bool, check: bool, shell: Shell) -> None:
    """Put Reverie into AGENT (claude, codex, gemini, hermes, openclaw, opencode): the MCP server, a short skill, and
    a hook that queues each session for the next night and begins it, in the background, once it is due by `schedule`.
    Twice is once. `reverie uninstall AGENT` takes it out again, to the last byte.

    At the end a check proves the loop on a made-up session in a folder that is thrown away: the session ends, a night
    learns from it, and what the next session is given is shown.
    """
    from reverie.integrations.loop_check import Step, check_loop

    with shell.opened() as house:
        installing = house.installer(agent, nights=nights)
        title, notes = installing.installer.title, installing.plan.notes
        when = _nights(house, installing)
        changes = installing.to_install() if dry_run else installing.install()
    if not shell.json:
        show_changes(changes, dry_run, f"Reverie is in {title} already.")
        for note in notes:
            click.echo(f"Note: {note}")
        click.echo(when)
    steps = list[Step]()
    for step in check_loop(installing.installer, installing.launch, installing.where) if check and not dry_run else ():
        steps.append(step)
        if not shell.json:
            click.echo(f"  {'ok  ' if step.ok else 'BAD '} {step.said}")
    if shell.json:
        told = {"agent": agent, "dry_run": dry_run, "files": [str(one.path) for one in changes], "notes": list(notes)}
        print_json(told | {"nights": when, "check": steps})
    elif not dry_run:
        click.echo(
            "Next: use it as ever; `reverie review` shows what waits, `reverie dream --propose` tries a night now."
        )
    if not all(step.ok for step in steps):
        sys.exit(1)


def _nights(house: Home, installing: Installing) -> str:
    """When nights come."""
    if not installing.launch.nights:
        return "Nights: none by themselves. `reverie cron install` dreams every night, `reverie dream` now."
    limits = house.dreaming_on(installing.installer.target)
    if not limits.enabled:
        return "Nights: none, dreaming is switched off (`enabled`). Once it is on, the end of a session begins them."
    return (
        "Nights: the first begins in the background when the next session ends, then one after each time of `schedule` "
        f"({limits.schedule.text}, {house.config.timezone.key}). `reverie cron install` dreams at that time itself."
    )


def show_changes(changes: list[FileChange], dry_run: bool, nothing: str) -> None:
    if not changes:
        click.echo(nothing)
    for one in changes:
        if dry_run:
            click.echo(one.diff)
        else:
            click.echo(f"{'Removed' if one.then is None else 'Wrote'} {one.path}: {', '.join(one.about)}.")
    if dry_run:
        click.echo("Nothing was changed.")
