"""`reverie verify`."""

from __future__ import annotations

import sys

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json


@click.command(name="verify")
@common
def command(*, shell: Shell) -> None:
    """Check that database, files and git agree and that nothing was altered. Changes nothing."""
    with shell.opened() as house:
        found = house.verify()
    if shell.json:
        print_json(found)
    else:
        for check in found:
            click.echo(f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}")
    if not all(check.ok for check in found):
        sys.exit(1)
