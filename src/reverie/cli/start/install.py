"""`reverie install`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json

if TYPE_CHECKING:
    from reverie.system.installation import FileChange


@click.command(name="install")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@click.option("--check/--no-check", default=True, help="Whether to prove the loop on a made-up session afterwards.")
@common
def command(*, agent: str, dry_run: bool, check: bool, shell: Shell) -> None:
    """Put Reverie into AGENT (claude, codex, gemini, hermes, openclaw, opencode): the MCP server, a short skill, and
    where there is one a hook that queues each session for the next night. Twice is once. `reverie uninstall AGENT`
    takes it out again, to the last byte.

    At the end a check proves the loop on a made-up session in a folder that is thrown away: the session ends, a night
    learns from it, and what the next session is given is shown.
    """
    from reverie.integrations.loop_check import Step, check_loop

    with shell.opened() as house:
        installing = house.installer(agent)
        title, notes = installing.installer.title, installing.plan.notes
        changes = installing.to_install() if dry_run else installing.install()
    if not shell.json:
        show_changes(changes, dry_run, f"Reverie is in {title} already.")
        for note in notes:
            click.echo(f"Note: {note}")
    steps = list[Step]()
    for step in check_loop(installing.installer, installing.launch, installing.where) if check and not dry_run else ():
        steps.append(step)
        if not shell.json:
            click.echo(f"  {'ok  ' if step.ok else 'BAD '} {step.said}")
    if shell.json:
        told = {"agent": agent, "dry_run": dry_run, "files": [str(one.path) for one in changes], "notes": list(notes)}
        print_json(told | {"check": steps})
    elif not dry_run:
        click.echo("Next: `reverie cron install` dreams every night, `reverie dream --propose` tries one now.")
    if not all(step.ok for step in steps):
        sys.exit(1)


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
