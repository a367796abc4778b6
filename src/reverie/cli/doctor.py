"""`reverie doctor`."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json


@click.command(name="doctor")
@common
def command(*, shell: Shell) -> None:
    """Print every setting with where it came from, and check what Reverie needs. Changes nothing."""
    from reverie.config import load
    from reverie.home import checkup

    config = load(shell.home, {"database": shell.database})
    found = checkup(config)
    if shell.json:
        values = {name: asdict(value) for name, value in config.shown().items()}
        print_json({"settings": values, "checks": [asdict(check) for check in found]})
    else:
        click.echo("Settings")
        for name, value in config.shown().items():
            click.echo(f"  {name:<10} {value.text}  ({value.came_from})")
        click.echo("Checks")
        for check in found:
            click.echo(f"  {'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}")
    if not all(check.ok for check in found):
        sys.exit(1)
