"""`reverie uninstall`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json
from reverie.cli.start.install import show_changes


@click.command(name="uninstall")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@common
def command(*, agent: str, dry_run: bool, shell: Shell) -> None:
    """Take Reverie out of AGENT. A file nobody else wrote to since is byte for byte as before; from any other, only
    what `reverie install` put there is taken. What was learnt stays."""
    with shell.opened() as house:
        installing = house.installer(agent)
        changes = installing.to_uninstall() if dry_run else installing.uninstall()
        left = installing.left
    if shell.json:
        files = [str(one.path) for one in changes]
        print_json({"agent": agent, "dry_run": dry_run, "files": files, "notes": list(left)})
        return
    show_changes(changes, dry_run, f"Reverie is not in {installing.installer.title}.")
    for note in left:
        click.echo(f"Note: {note}")
