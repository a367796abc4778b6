"""`reverie recover`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json


@click.command(name="recover")
@common
def command(*, shell: Shell) -> None:
    """Finish what a crash left, and say what was done. Running it twice does nothing more."""
    with shell.opened() as house:
        noticed = house.review.recover()
    if shell.json:
        print_json({name: [one.id for one in getattr(noticed, name)] for name in ("landed", "dropped", "outside")})
        return
    for change in noticed.landed:
        click.echo(f"Finished {change.id} on {change.subject}.")
    for change in noticed.dropped:
        click.echo(f"Gave up {change.id} on {change.subject}: {change.note}.")
    for change in noticed.outside:
        click.echo(f"Recorded {change.id}: {change.subject} was written from outside.")
    if not (noticed.landed or noticed.dropped or noticed.outside):
        click.echo("Nothing was left over.")
